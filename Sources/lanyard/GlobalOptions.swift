import ArgumentParser
import ControlAPI
import LanyardClient

/// The options of every command.
struct GlobalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The space to work in.", valueName: "name"), completion: Completions.spaces)
    var space = "home"

    @Flag(help: "Print JSON, for programs; errors too.")
    var json = false

    @Flag(name: [.short, .long], help: "Print nothing but what was asked for.")
    var quiet = false

    @Flag(name: .customLong("no-color"), help: "Print without colours (also: NO_COLOR).")
    var noColor = false

    @Option(help: ArgumentHelp("The agent's control socket (also: LANYARD_SOCKET).", valueName: "path"))
    var socket: String?

    @Option(
        name: .customLong("data-dir"),
        help: ArgumentHelp("The agent's data directory (also: LANYARD_DATA_DIR).", valueName: "path"))
    var dataDirectory: String?

    /// The flags among them, as they are written.
    static let flags = ["--json", "-q", "--quiet", "--no-color"]
    static let options = ["--space", "--socket", "--data-dir"]
    static var names: [String] { flags + options }

    var location: SocketLocation { SocketLocation(socket: socket, dataDirectory: dataDirectory) }

    func client() throws(ControlError) -> LanyardClient {
        try NameRule.check(space, is: .space)
        return try LanyardClient.find(location)
    }

    var style: Style { Style(usesColor: !noColor && !json) }

    /// Prints `value` as JSON, or `text` for people.
    func print(_ value: some Encodable, text: (Style) throws -> String) throws {
        if json {
            try StandardOutput.write(json: JSONEncoding.bytes(value) + [0x0A])
        } else {
            try StandardOutput.write(text(style))
        }
    }

    /// A remark for people, on standard error; silent with `-q` and `--json`.
    func note(_ text: String) {
        if !quiet, !json { StandardError.write(Prose.wrapped(text, width: StandardError.width) + "\n") }
    }
}

/// `lanyard --json status` means `lanyard status --json`: global options may stand before the command.
enum LeadingOptions {
    private static let flags = GlobalOptions.flags
    private static let options = GlobalOptions.options

    static func hoist(_ arguments: [String]) -> [String] {
        var rest = arguments[...]
        var leading: [String] = []
        while let word = rest.first {
            if flags.contains(word) || options.contains(where: { word.hasPrefix($0 + "=") }) {
                leading.append(rest.removeFirst())
            } else if options.contains(word), rest.count > 1 {
                leading += [rest.removeFirst(), rest.removeFirst()]
            } else {
                break
            }
        }
        guard !leading.isEmpty, !rest.isEmpty else { return arguments }
        let count = max(1, CommandWords.count(in: rest))
        return rest.prefix(count) + leading + rest.dropFirst(count)
    }
}
