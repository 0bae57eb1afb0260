import ControlAPI
import ControlServer
import LanyardClient
import Logging
import NIOPosix
import ServiceLifecycle

/// A real agent and its control server, on a socket of its own for the time of one test.
struct LiveServer: Sendable {
    let live: LiveAgent
    /// The directory of the socket; the agent's data is in another one.
    let directory: String
    let client: LanyardClient
    /// The dashboard and the metrics over TCP, where the configuration has them.
    let servers: ConfiguredServers
    private let shutDown: @Sendable () -> Void
    private let ended: Task<Void, any Error>

    var socketPath: String { "\(directory)/control.sock" }

    /// Stops the server and returns when it has stopped. The agent goes on.
    func stop() async throws {
        shutDown()
        try await ended.value
    }

    /// Runs an agent and its server for as long as `body`; the server ends before the agent.
    ///
    /// - Parameters:
    ///   - dashboard: the browsers of a dashboard elsewhere; nil: those of the one that the configuration has.
    ///   - place: the directory for the data and the socket, which may be those of an earlier run; nil: fresh ones that are
    ///     gone afterwards.
    ///   - listen: the address at which the agent listens, as a flag gives it; nil: the file has it.
    ///   - pairingMilliseconds: the time that a pairing has; nil: the usual one.
    static func with<Value: Sendable>(
        named name: String = "desk", audience: ControlSocket.Audience = .owner, connectionLimit: Int? = nil,
        dashboard: DashboardAccess? = nil, in place: String? = nil, file: String? = nil,
        listen: String? = "127.0.0.1:0", pairingMilliseconds: Int64? = nil,
        _ body: (LiveServer) async throws -> Value
    ) async throws -> Value {
        try await LiveAgent.with(
            named: name, in: place.map { "\($0)/data" }, file: file, listen: listen,
            pairingMilliseconds: pairingMilliseconds
        ) { live async throws in
            let temporary = try TemporaryDirectory()
            let path = "\(place ?? temporary.path)/control.sock"
            let (listening, isListening) = AsyncStream<Void>.makeStream()
            let servers = ConfiguredServers(
                agent: live.agent, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: "test"))
            let server = ControlServer(
                agent: live.agent, socket: ControlSocket(path: path, audience: audience),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: "test"),
                connectionLimit: connectionLimit,
                dashboard: { if let dashboard { dashboard } else { await servers.dashboard } },
                onListening: { isListening.finish() })
            let group = ServiceGroup(services: [server, servers], logger: Logger(label: "test"))
            let ended = Task {
                defer { isListening.finish() }
                try await group.run()
            }
            for await _ in listening {}
            let running = LiveServer(
                live: live, directory: place ?? temporary.path, client: LanyardClient(socketPath: path),
                servers: servers, shutDown: { Task { await group.triggerGracefulShutdown() } }, ended: ended)
            let result: Result<Value, any Error>
            do { result = .success(try await body(running)) } catch { result = .failure(error) }
            try await running.stop()
            return try result.get()
        }
    }
}
