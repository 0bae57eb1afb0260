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
        if let socket { environment["LANYARD_SOCKET"] = socket }
        return try await program(lanyardPath, arguments, input: input, environment: environment)
    }

    /// Beside the test bundle.
    static var lanyardPath: String {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0])
        return bundle.deletingLastPathComponent().appendingPathComponent("lanyard").path
    }

    static func program(
        _ path: String, _ arguments: [String], input: String = "", environment: [String: String]? = nil
    ) async throws -> CommandRun {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        if let environment { process.environment = environment }
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, stderr)
        return try await withCheckedThrowingContinuation { continuation in
            // Threads of their own: the server under test runs on the threads that tests, and dispatch queues, run on.
            Thread.detachNewThread {
                continuation.resume(with: Result { try run(process, stdin, stdout, stderr, input) })
            }
        }
    }

    private static func run(
        _ process: Process, _ stdin: Pipe, _ stdout: Pipe, _ stderr: Pipe, _ input: String
    ) throws -> CommandRun {
        signal(SIGPIPE, SIG_IGN)
        try process.run()
        Thread.detachNewThread {
            try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try? stdin.fileHandleForWriting.close()
        }
        let errors = Thread.result { stderr.fileHandleForReading.readDataToEndOfFile() }
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return CommandRun(
            exitCode: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            output: String(decoding: output, as: UTF8.self), errors: String(decoding: errors(), as: UTF8.self))
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
