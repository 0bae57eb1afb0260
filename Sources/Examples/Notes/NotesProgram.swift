import Glibc
import Lanyard

@main struct NotesProgram {
    private static let usage = """
        Usage: notes [--port PORT] [--socket PATH]
          --port PORT    the port on this machine that serves the page (8090)
          --socket PATH  the control socket of the agent, if it is not found by itself
        """

    static func main() async {
        do {
            let options = try options(Array(CommandLine.arguments.dropFirst()))
            // The schema of notes is set where it is not yet: text merges letter by letter, tags by element.
            let home = try await Lanyard.connect(
                socketPath: options.socket, waiting: .seconds(10), types: Note.self)
            let notebook = try await Notebook(home)
            let server = PageServer(notebook, port: options.port)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await notebook.run() }
                group.addTask {
                    try await server.run {
                        print("Notes are on http://127.0.0.1:\(options.port)/ (Ctrl-C ends this program)")
                        fflush(nil)
                    }
                }
                try await group.next()
                group.cancelAll()
            }
        } catch let error as ControlError {
            end("notes: \(error)", status: error.code == .invalidArgument ? 2 : 1)
        } catch {
            end("notes: \(error)", status: 1)
        }
    }

    private static func options(_ words: [String]) throws(ControlError) -> (port: Int, socket: String?) {
        var (port, socket) = (8090, String?.none)
        var rest = words[...]
        while let word = rest.popFirst() {
            switch (word, rest.popFirst()) {
            case ("--port", let text?) where (1...65_535).contains(Int(text) ?? 0): port = Int(text) ?? port
            case ("--socket", let path?): socket = path
            case _: throw ControlError(.invalidArgument, usage)
            }
        }
        return (port, socket)
    }

    /// Ends the program with a sentence on standard error.
    private static func end(_ sentence: String, status: Int32) -> Never {
        _ = (sentence + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) }
        exit(status)
    }
}
