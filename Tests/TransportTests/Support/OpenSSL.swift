import Foundation
import SyncTransport

/// Another implementation of TLS and X.509: Debian's package openssl.
enum OpenSSL {
    struct Failure: Error { let output: String }

    /// Runs `openssl` to its end and returns what it prints, errors included. Throws when it reports a failure.
    @discardableResult
    static func run(_ arguments: [String]) throws -> String {
        let pipe = Pipe()
        let process = process(arguments, output: pipe)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(output: output) }
        return output
    }

    fileprivate static func process(_ arguments: [String], output: Pipe) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardOutput = output
        process.standardError = output
        return process
    }

    /// `openssl s_client` with this agent's protocol.
    final class Client: Sendable {
        private let process: Process
        private let standardOutput = Pipe()
        private let standardInput = Pipe()

        init(_ address: HostPort, _ arguments: [String]) throws {
            process = OpenSSL.process(
                ["s_client", "-connect", "\(address)", "-tls1_3", "-alpn", "lanyard/1", "-ign_eof"] + arguments,
                output: standardOutput)
            // Stays open: at its end the client would leave before the server had answered.
            process.standardInput = standardInput
            try process.run()
        }

        /// Waits for the client's end and returns all that it printed.
        func output() async throws -> String {
            try await bounded("openssl to end") { [standardOutput] in
                try await withCheckedThrowingContinuation { continuation in
                    Thread.detachNewThread {
                        let data = standardOutput.fileHandleForReading.readDataToEndOfFile()
                        continuation.resume(returning: String(decoding: data, as: UTF8.self))
                    }
                }
            }
        }

        deinit { if process.isRunning { process.terminate() } }
    }
}
