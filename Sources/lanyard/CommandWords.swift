import ArgumentParser
import ControlAPI

/// The words of a command line that name a command. They are looked at before the parser sees them: it would blame what
/// stands beside a word that it does not know.
enum CommandWords {
    private typealias Command = any ParsableCommand.Type

    /// Returns the fault of the words that should name a command; nil if there is none.
    static func fault(in arguments: [String]) -> ControlError? {
        guard let word = arguments.first else { return nil }
        if word.hasPrefix("-") {
            return GlobalOptions.names.contains(word)
                ? ControlError(.invalidArgument, "There is no command.", hint: "See: lanyard --help") : nil
        }
        // "help" is a command of the parser's own; "undelete" is answered elsewhere.
        guard word != "help", word != "undelete" else { return nil }
        guard let command = subcommand(word, of: Lanyard.self) else {
            return unknown(word, suggestion(for: word, of: Lanyard.self), help: "lanyard --help")
        }
        guard arguments.count > 1, !arguments[1].hasPrefix("-"), needsSubcommand(command),
            subcommand(arguments[1], of: command) == nil
        else { return nil }
        let name = command._commandName
        let suggested = suggestion(for: arguments[1], of: command).map { "\(name) \($0)" }
        return unknown("\(name) \(arguments[1])", suggested, help: "lanyard \(name) --help")
    }

    private static func unknown(_ words: String, _ suggestion: String?, help: String) -> ControlError {
        ControlError(
            .invalidArgument, "Unknown command \"\(words)\".",
            hint: suggestion.map { "Did you mean \"\($0)\"?" } ?? "See: \(help)")
    }

    /// Returns the number of words at the beginning that name a command: one, or more for a command below another.
    static func count(in words: ArraySlice<String>) -> Int {
        var (command, count): (Command, Int) = (Lanyard.self, 0)
        for word in words {
            guard let below = subcommand(word, of: command) else { break }
            (command, count) = (below, count + 1)
        }
        return count
    }

    /// The help of the command that is meant.
    static func helpCommand(_ arguments: [String]) -> String {
        var (command, names): (Command, [String]) = (Lanyard.self, ["lanyard"])
        for word in arguments {
            guard let below = subcommand(word, of: command) else { break }
            command = below
            names.append(below._commandName)
        }
        return (names + ["--help"]).joined(separator: " ")
    }

    private static func names(of command: Command) -> [String] {
        [command._commandName] + command.configuration.aliases
    }

    private static func subcommand(_ word: String, of command: Command) -> Command? {
        command.configuration.subcommands.first { names(of: $0).contains(word) }
    }

    /// Commands that group others, and those that take no words themselves.
    private static func needsSubcommand(_ command: Command) -> Bool {
        !command.configuration.subcommands.isEmpty && command.configuration.defaultSubcommand == nil
    }

    private static func suggestion(for word: String, of command: Command) -> String? {
        command.configuration.subcommands.flatMap(names).map { ($0, EditDistance.between(word, $0)) }
            .filter { $0.1 <= max(1, word.count / 3) }.min { $0.1 < $1.1 }?.0
    }
}

/// The distance between two words: the number of letters to insert, leave out, change or swap with their neighbour (optimal
/// string alignment).
enum EditDistance {
    static func between(_ first: String, _ second: String) -> Int {
        let (left, right) = (Array(first), Array(second))
        var rows = [Array(0...right.count)]
        for row in 0..<left.count {
            var next = [row + 1]
            for column in 0..<right.count {
                let change = rows[row][column] + (left[row] == right[column] ? 0 : 1)
                var least = min(rows[row][column + 1] + 1, next[column] + 1, change)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    least = min(least, rows[row - 1][column - 1] + 1)
                }
                next.append(least)
            }
            rows.append(next)
        }
        return rows[left.count][right.count]
    }
}
