import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Logging
import NIOPosix
import ServiceLifecycle

/// A directory of mode 0700 that is gone after the test.
struct TemporaryDirectory: ~Copyable {
    let path: String

    init() throws {
        var template = Array("/tmp/lanyard-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A control server with an agent in memory, on a socket of its own for the time of one test.
struct LiveServer: Sendable {
    let agent: MemoryAgent
    let directory: String
    let client: LanyardClient
    private let shutDown: @Sendable () -> Void
    private let ended: Task<Void, any Error>

    var socketPath: String { "\(directory)/control.sock" }

    /// Stops the server and returns when it has stopped.
    func stop() async throws {
        shutDown()
        try await ended.value
    }

    static func with<Value: Sendable>(
        _ agent: MemoryAgent = MemoryAgent(), audience: ControlSocket.Audience = .owner,
        connectionLimit: Int? = nil,
        _ body: (LiveServer) async throws -> Value
    ) async throws -> Value {
        let temporary = try TemporaryDirectory()
        let path = "\(temporary.path)/control.sock"
        let (listening, isListening) = AsyncStream<Void>.makeStream()
        let server = ControlServer(
            agent: agent, socket: ControlSocket(path: path, audience: audience),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: "test"),
            connectionLimit: connectionLimit, onListening: { isListening.finish() })
        let group = ServiceGroup(services: [server], logger: Logger(label: "test"))
        let ended = Task {
            defer { isListening.finish() }
            try await group.run()
        }
        for await _ in listening {}
        let live = LiveServer(
            agent: agent, directory: temporary.path, client: LanyardClient(socketPath: path),
            shutDown: { Task { await group.triggerGracefulShutdown() } }, ended: ended)
        let result: Result<Value, any Error>
        do { result = .success(try await body(live)) } catch { result = .failure(error) }
        try await live.stop()
        return try result.get()
    }
}
