public import ControlAPI
import NIOHTTP1
public import NIOCore
public import NIOPosix

/// Speaks to the agent on this machine over its control socket.
///
/// A value without state: each call opens a connection of its own (about 0.1 ms on a Unix socket), so calls may run at
/// once and a lost agent is found again by the next call. All errors are `ControlError`s with a code, a sentence and a hint.
public struct LanyardClient: Sendable {
    /// The socket it speaks to.
    public let socketPath: String
    private let location: SocketLocation
    private let group: any EventLoopGroup

    /// A client of the agent that answers on `socketPath`. Nothing is opened yet.
    public init(
        socketPath: String, eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) {
        self.init(
            socketPath: socketPath, location: SocketLocation(socket: socketPath), eventLoopGroup: eventLoopGroup)
    }

    private init(socketPath: String, location: SocketLocation, eventLoopGroup: any EventLoopGroup) {
        self.socketPath = socketPath
        self.location = location
        group = eventLoopGroup
    }

    /// A client of the first agent that answers at `location`. Throws `agent_not_running` when none does.
    public static func find(
        _ location: SocketLocation = SocketLocation(),
        eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws(ControlError) -> LanyardClient {
        // One candidate is tried by the first call itself; only a choice needs a look beforehand.
        guard location.candidates.count > 1 else {
            return LanyardClient(
                socketPath: location.candidates[0], location: location, eventLoopGroup: eventLoopGroup)
        }
        for candidate in location.candidates where SocketProbe.answers(candidate) {
            return LanyardClient(socketPath: candidate, location: location, eventLoopGroup: eventLoopGroup)
        }
        throw location.notRunning
    }

    // MARK: Exchanges

    func withConnection<Value: Sendable>(
        _ body: (inout ClientConnection) async throws -> Value
    ) async throws(ControlError) -> Value {
        do throws(ControlError) {
            return try await ClientConnection.with(socketPath, on: group, body)
        } catch {
            guard error.code == .agentNotRunning else { throw error }
            throw location.notRunning
        }
    }

    /// The answer's body as it came.
    func bytes(_ request: ClientRequest) async throws(ControlError) -> [UInt8] {
        try await withConnection { connection in
            let head = try await connection.send(request)
            try await connection.check(head)
            return try await connection.collect()
        }
    }

    func value<T: Decodable & Sendable>(_ request: ClientRequest) async throws(ControlError) -> T {
        try JSONDecoding.value(T.self, from: try await bytes(request), unknownKeys: .ignore)
    }

    func value<T: Decodable & Sendable>(
        _ request: ClientRequest, body: some Encodable
    ) async throws(ControlError) -> T {
        var request = request
        request.body = JSONEncoding.bytes(body)
        return try await value(request)
    }
}
