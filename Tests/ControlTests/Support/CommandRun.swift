import Foundation

/// What a command printed and returned.
struct CommandRun: Sendable {
    let exitCode: Int32
    let output: String
    let errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    func json() throws -> Any { try JSONSerialization.jsonObject(with: Data(output.utf8), options: .fragmentsAllowed) }

    /// Runs the `lanyard` that was built with these tests, in an environment without other agents.
    static func lanyard(
        _ arguments: [String], socket: String? = nil, input: String = "", environment: [String: String] = [:]
    ) async throws -> CommandRun {
        var environment = environment
        environment["HOME"] = environment["HOME"] ?? "/nonexistent"
        environment["TZ"] = environment["TZ"] ?? "UTC0"
        if let socket { environment["LANYARD_SOCKET"] = socket }
        return try await program(lanyardPath, arguments, input: input, environment: environment)
    }

    /// The same at a terminal, with `typed` already waiting there; "\u{4}" ends the input. Errors are what the terminal showed.
    static func lanyardAtTerminal(
        _ arguments: [String], socket: String? = nil, typed: String, columns: UInt16 = 80
    ) async throws -> CommandRun {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // ptmx(4): TIOCSPTLCK unlocks the other side, TIOCGPTN tells its number; not in the headers Swift imports.
        var (locked, number): (Int32, UInt32) = (0, 0)
        guard terminal >= 0, ioctl(terminal, 0x4004_5431, &locked) == 0, ioctl(terminal, 0x8004_5430, &number) == 0
        else { throw CocoaError(.fileReadUnknown) }
        defer { close(terminal) }
        // Another test's child that inherited it would keep it open.
        let line = FileHandle(
            fileDescriptor: open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC), closeOnDealloc: true)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
        _ = Array(typed.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
        let environment = ["HOME": "/nonexistent", "TERM": "dumb", "TZ": "UTC0"].merging(
            socket.map { ["LANYARD_SOCKET": $0] } ?? [:]
        ) { $1 }
        let output = try ChildProcess.pipe()
        // A thread of its own: the agent of this process needs the cooperative ones.
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let process = try ChildProcess(
                            lanyardPath, arguments, environment: environment, input: line,
                            output: output.fileHandleForWriting, errors: line)
                        try output.fileHandleForWriting.close()
                        let printed = output.fileHandleForReading.readDataToEndOfFile()
                        let exitCode = process.waitUntilExit()
                        try line.close()
                        return CommandRun(
                            exitCode: exitCode, output: String(decoding: printed, as: UTF8.self),
                            errors: shown(at: terminal))
                    })
            }
        }
    }

    /// Returns what a terminal showed whose other side is closed: it may come in several pieces, and the last of them is followed
    /// by an error.
    private static func shown(at terminal: Int32) -> String {
        var shown: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = piece.withUnsafeMutableBytes({ read(terminal, $0.baseAddress, $0.count) }), count > 0 {
            shown += piece.prefix(count)
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Beside the test bundle.
    static var lanyardPath: String {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0])
        return bundle.deletingLastPathComponent().appendingPathComponent("lanyard").path
    }

    static func program(
        _ path: String, _ arguments: [String], input: String = "", environment: [String: String]? = nil
    ) async throws -> CommandRun {
        let environment = environment ?? ProcessInfo.processInfo.environment
        let (stdin, stdout, stderr) = (try ChildProcess.pipe(), try ChildProcess.pipe(), try ChildProcess.pipe())
        return try await withCheckedThrowingContinuation { continuation in
            // Threads of their own: the server under test runs on the threads that tests, and dispatch queues, run on.
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let process = try ChildProcess(
                            path, arguments, environment: environment, input: stdin.fileHandleForReading,
                            output: stdout.fileHandleForWriting, errors: stderr.fileHandleForWriting)
                        return try communicate(process, stdin, stdout, stderr, input)
                    })
            }
        }
    }

    private static func communicate(
        _ process: ChildProcess, _ stdin: Pipe, _ stdout: Pipe, _ stderr: Pipe, _ input: String
    ) throws -> CommandRun {
        signal(SIGPIPE, SIG_IGN)
        for end in [stdin.fileHandleForReading, stdout.fileHandleForWriting, stderr.fileHandleForWriting] {
            try end.close()
        }
        Thread.detachNewThread {
            try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try? stdin.fileHandleForWriting.close()
        }
        let errors = Thread.result { stderr.fileHandleForReading.readDataToEndOfFile() }
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        return CommandRun(
            exitCode: process.waitUntilExit(), output: String(decoding: output, as: UTF8.self),
            errors: String(decoding: errors(), as: UTF8.self))
    }
}

extension Thread {
    /// Begins `work` at once; the function returned waits for its result.
    fileprivate static func result(_ work: @escaping @Sendable () -> Data) -> () -> Data {
        final class Box: @unchecked Sendable { var data = Data() }
        let (box, done) = (Box(), DispatchSemaphore(value: 0))
        detachNewThread {
            box.data = work()
            done.signal()
        }
        return {
            done.wait()
            return box.data
        }
    }
}
