import Foundation
import Testing

/// A command that runs on a node while a test reads what it shows and types into it.
///
/// With `isTeletype` it has a pseudo-terminal of its own (`script`), as at a keyboard.
final class Terminal {
    private let process: Process
    private let keyboard: Pipe
    private let folder: URL
    let node: Node

    init(_ node: Node, _ command: [String], isTeletype: Bool = false) throws {
        self.node = node
        folder = try Shell.temporaryFolder()
        keyboard = Pipe()
        process = Process()
        let words = ["deploy/rig", "exec", "\(node.number)", "--"] + command
        process.executableURL = URL(filePath: "/usr/bin/env")
        // A shell that starts the tests in the background has them ignore Ctrl-C; a command at a keyboard does not.
        let asAtKeyboard = [
            "script", "--quiet", "--flush", "--return", "--command", words.joined(separator: " "), "/dev/null",
        ]
        process.arguments = ["--default-signal=INT"] + (isTeletype ? asAtKeyboard : words)
        process.environment = ProcessInfo.processInfo.environment.merging(Rig.environment) { _, new in new }
        process.currentDirectoryURL = Shell.root
        for name in ["output", "errors"] { try Data().write(to: folder.appending(path: name)) }
        process.standardInput = keyboard
        process.standardOutput = try FileHandle(forWritingTo: folder.appending(path: "output"))
        process.standardError = try FileHandle(forWritingTo: folder.appending(path: "errors"))
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    var output: String { (try? Shell.text(of: folder.appending(path: "output"))) ?? "" }
    var errors: String { (try? Shell.text(of: folder.appending(path: "errors"))) ?? "" }

    func type(_ line: String) throws { try keyboard.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Ctrl-C.
    func interrupt() { kill(process.processIdentifier, SIGINT) }

    /// Waits for the end and returns what the command did.
    func end(within bound: Duration, sourceLocation: SourceLocation = #_sourceLocation) throws -> Outcome {
        try eventually(within: bound, "the command on \(node.name) ends", sourceLocation: sourceLocation) {
            !process.isRunning
        }
        return Outcome(status: process.terminationStatus, output: output, errors: errors)
    }
}
