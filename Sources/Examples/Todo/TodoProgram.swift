import Glibc
import Lanyard

@main struct TodoProgram {
    static let usage = """
        Usage: todo add TITLE | todo done TITLE | todo open TITLE | todo list | todo watch
               todo move TITLE first | todo move TITLE after OTHER
        """

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch (words.first, words.count) {
            case ("add", 2): try await TodoList().add(words[1])
            case ("done", 2): try await TodoList().setDone(words[1], true)
            case ("open", 2): try await TodoList().setDone(words[1], false)
            case ("move", 3) where words[2] == "first": try await TodoList().move(words[1], after: nil)
            case ("move", 4) where words[2] == "after": try await TodoList().move(words[1], after: words[3])
            case ("list", 1): show(try await TodoList().todos())
            case ("watch", 1): try await TodoList().watch { show($0) }
            case _: end(usage, status: 2)
            }
        } catch let error as ControlError {
            end("todo: \(error.message) \(error.hint)", status: 1)
        } catch {
            end("todo: \(error)", status: 1)
        }
    }

    static func show(_ todos: [Todo]) {
        for todo in todos { print("[\(todo.done ? "x" : " ")] \(todo.title)") }
        // An empty line ends each list of `todo watch`. Print keeps lines back when it writes into a pipe.
        print()
        fflush(nil)
    }

    /// Ends the program with a sentence on standard error.
    static func end(_ sentence: String, status: Int32) -> Never {
        _ = (sentence + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) }
        exit(status)
    }
}
