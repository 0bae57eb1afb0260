public import ControlAPI

/// A client of the agent on this machine, over its control socket.
///
/// A value without state: each call opens a connection of its own (about 0.1 ms on a Unix socket), so calls may run at
/// once and a lost agent is found again by the next call. A write whose connection ends before the answer, because the agent
/// stopped or was killed, is sent again for a few seconds, under a key that lets it be done only once. Errors are
/// `ControlError`s with a code, a sentence and a hint, and what closures and sequences of the caller's throw, as it is.
public struct LanyardClient: Sendable {
    /// The socket it speaks to.
    public let socketPath: String
    private let location: SocketLocation
    /// The key given by the application; nil: a fresh one for each write.
    private var key: String?

    /// A client of the agent that answers on `socketPath`. Nothing is opened yet.
    public init(socketPath: String) {
        self.init(socketPath: socketPath, location: SocketLocation(socket: socketPath))
    }

    private init(socketPath: String, location: SocketLocation) {
        self.socketPath = socketPath
        self.location = location
    }

    /// A client of the agent that is meant by `location`. Throws `agent_not_running` where none was named and none answers.
    public static func find(_ location: SocketLocation = SocketLocation()) throws(ControlError) -> LanyardClient {
        guard location.isFound else { throw location.notRunning }
        return LanyardClient(socketPath: location.socketPath, location: location)
    }

    /// A client whose write is done once, however often it is asked for with the same `key` and the same content within a day,
    /// also by another process of the application or after a restart of either side: the first answer comes again. Another
    /// write under the key throws `idempotency_mismatch`. Of an upload of lines, each line counts by itself.
    ///
    /// - Parameter key: 1 to 255 printable ASCII characters without spaces, for one write.
    public func once(_ key: String) -> LanyardClient {
        var client = self
        client.key = key
        return client
    }

    // MARK: Exchanges

    /// The milliseconds before each further try of a request whose answer was lost: time for an agent to be started again. A read
    /// is tried once more.
    private static let pauses: [Int64] = [50, 250, 1_000, 2_000]

    /// Runs an exchange that calls code of the caller's, by `ClientConnection.handing`.
    func withCaller<Value: Sendable>(
        _ body: (inout ClientConnection) async throws -> Value
    ) async throws -> Value {
        try await ClientConnection.with(socketPath, notRunning: { location.notRunning }, body)
    }

    /// Opens a connection for several exchanges, one after the other.
    func openConnection() throws(ControlError) -> ClientConnection {
        try ClientConnection.opened(socketPath, notRunning: { location.notRunning })
    }

    /// Runs an exchange that calls no code of the caller's.
    func withConnection<Value: Sendable>(
        _ body: (inout ClientConnection) async throws -> Value
    ) async throws(ControlError) -> Value {
        do { return try await withCaller(body) } catch let error as ControlError { throw error } catch {
            throw ClientConnection.lost
        }
    }

    /// The request with the key that the application gave.
    ///
    /// Throws `invalid_argument` for one that does not fit a header's line.
    func keyed(_ request: ClientRequest) throws(ControlError) -> ClientRequest {
        var request = request
        guard request.method != .GET, let key else { return request }
        try ControlHeader.check(idempotencyKey: key)
        request.key = key
        return request
    }

    /// The answer's body as it came.
    func bytes(_ request: ClientRequest) async throws(ControlError) -> [UInt8] {
        var request = try keyed(request)
        guard request.isRepeatable else { return try await answer(to: request) }
        let isRead = request.method == .GET
        if !isRead { request.key = request.key ?? Self.freshKey() }
        let lost: ControlError
        do throws(ControlError) { return try await answer(to: request) } catch {
            guard error.code == .connectionLost else { throw error }
            lost = error
        }
        // An agent whose connections are all taken ends an idle one, which may be one whose first request is on its way.
        for pause in isRead ? Self.pauses.prefix(1) : Self.pauses[...] {
            do { try await Task.sleep(for: .milliseconds(pause)) } catch { throw lost }
            do throws(ControlError) { return try await answer(to: request) } catch {
                // Whether the first try was written is not known before the agent answers.
                guard error.code == .connectionLost || error.code == .agentNotRunning else { throw error }
            }
        }
        throw lost
    }

    private static func freshKey() -> String {
        (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined(separator: "-")
    }

    private func answer(to request: ClientRequest) async throws(ControlError) -> [UInt8] {
        try await withConnection { connection in
            let head = try await connection.send(request)
            try await connection.check(head)
            return try await connection.collect()
        }
    }

    /// Reads an answer of JSON lines. `body` is given the lines that came together, without line breaks.
    ///
    /// - Returns: the first value that `body` returns; nil if it returned none before the answer ended.
    @discardableResult
    func readLines<Value: Sendable>(
        of request: ClientRequest, _ body: ([[UInt8]]) async throws -> Value?
    ) async throws -> Value? {
        var request = request
        request.accept = ContentType.lines
        return try await withCaller { connection in
            try await connection.check(try await connection.send(request))
            var lines = LineBuffer()
            while let chunk = try await connection.nextChunk() {
                if let value = try await body(try lines.append(chunk)) { return value }
            }
            return nil
        }
    }

    /// Calls `body` with each line of an answer: a list as it is now, and again after every change.
    func watch<List: Decodable & Sendable>(
        _ request: ClientRequest, _ body: (List) async throws -> Void
    ) async throws {
        try await readLines(of: request) { lines -> Never? in
            for line in lines {
                let list = try JSONDecoding.value(List.self, from: line, unknownKeys: .ignore)
                try await ClientConnection.handing { try await body(list) }
            }
            return nil
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
