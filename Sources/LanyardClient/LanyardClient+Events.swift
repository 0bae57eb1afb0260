public import ControlAPI

/// A query for events of a stream.
public struct EventReadRequest: Sendable {
    /// The space of the stream.
    public var space: String
    /// The stream.
    public var stream: String
    /// The order of reading: `arrival`, or `canonical`, in which a late event leads to a rewind for a consumer or a follower.
    public var order: EventOrder
    /// The position to begin after; nil for the consumer's cursor, or for the beginning without a consumer.
    public var after: EventPosition?
    /// A durable reader whose cursor moves with every acknowledgement.
    public var consumer: String?
    /// True to go on with later events as they come.
    public var follow: Bool
    /// The number of last events to read, in the order of arrival; with `follow`, later events come after them.
    public var last: Int?
    /// The position before which the last events arrived; then `last` is 1,000 unless given.
    public var before: EventPosition?
    /// The type of events to read; nil for all.
    public var type: String?

    /// A request to read `stream` once from the beginning, unless told otherwise.
    public init(
        space: String = "home", stream: String, order: EventOrder = .arrival, after: EventPosition? = nil,
        consumer: String? = nil, follow: Bool = false, last: Int? = nil, before: EventPosition? = nil,
        type: String? = nil
    ) {
        self.space = space
        self.stream = stream
        self.order = order
        self.after = after
        self.consumer = consumer
        self.follow = follow
        self.last = last
        self.before = before
        self.type = type
    }

    var request: ClientRequest {
        var request = ClientRequest(.GET, "v1", "spaces", .name(space), "streams", .name(stream), "events")
        request.query = [
            ("after", after?.text), ("order", order == .arrival ? nil : order.rawValue), ("consumer", consumer),
            ("follow", follow ? "true" : nil), ("last", last.map(String.init)), ("before", before?.text),
            ("type", type),
        ]
        request.accept = ContentType.lines
        return request
    }
}

extension LanyardClient {
    // MARK: Writing

    /// Writes one event; returns when it is durable.
    public func emit(
        _ payload: JSONText, type: String? = nil, to stream: String, space: String = "home"
    ) async throws(ControlError) -> EmitResponse {
        try await value(
            ClientRequest(.POST, "v1", "spaces", .name(space), "streams", .name(stream), "events"),
            body: EmitRequest(type: type, payload: payload))
    }

    /// Writes each line of `chunks` as an event of its own, in groups as they come. The chunks may end anywhere.
    ///
    /// Returns when all are durable. On a line that is not JSON or too large it stops; the error has its number (`line`)
    /// and how many were written before it (`written`), which stay. With `envelope` a line is an `EmitRequest`, whose `id` lets
    /// it be written once however often it is sent.
    public func emitLines<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, type: String? = nil, envelope: Bool = false, to stream: String, space: String = "home"
    ) async throws -> EmitResponse where Chunks.Element == [UInt8] {
        var request = ClientRequest(.POST, "v1", "spaces", .name(space), "streams", .name(stream), "events")
        request.query = [("type", type), ("envelope", envelope ? "true" : nil)]
        request.contentType = ContentType.lines
        return try await withCaller { connection in
            try await connection.check(try await connection.send(try keyed(request), chunks: chunks))
            return try JSONDecoding.value(
                EmitResponse.self, from: try await connection.collect(), unknownKeys: .ignore)
        }
    }

    // MARK: Reading

    /// Calls `body` with batches of events in order. With a consumer, a batch is acknowledged after `body` returned; if it
    /// throws, or this process dies, the batch comes again, marked `redelivered`. A slow `body` slows down the agent's
    /// reading, nothing piles up. Returns false when nothing was ever emitted to the stream.
    ///
    /// In canonical order an event may come late. Then `rewinding` is called first: everything that was handed over from behind
    /// its position is undone, and comes again with the event in its place. A caller without `rewinding` gets an error
    /// (`unknown_operation`), since going on would give a state that no other node has.
    ///
    /// - Parameter started: is called once the agent has begun to answer, also while there are no events.
    @discardableResult
    public func readEvents(
        _ reading: EventReadRequest, started: () -> Void = {},
        rewinding: (RewindLine) async throws -> Void = { _ in throw ControlError.cannotRewind },
        _ body: ([EventLine]) async throws -> Void
    ) async throws -> Bool {
        try await readEventLines(reading, started: started) { block in
            var events: [EventLine] = []
            for line in block.split(separator: 0x0A) {
                if line.starts(with: RewindLine.prefix) {
                    if !events.isEmpty { try await body(events) }
                    events = []
                    try await rewinding(
                        try JSONDecoding.value(RewindLine.self, from: Array(line), unknownKeys: .ignore))
                } else {
                    events.append(try JSONDecoding.value(EventLine.self, from: Array(line), unknownKeys: .ignore))
                }
            }
            if !events.isEmpty { try await body(events) }
        }
    }

    /// The same with the lines as they came: each block ends in a line break.
    @discardableResult
    package func readEventLines(
        _ reading: EventReadRequest, started: () -> Void = {}, _ body: ([UInt8]) async throws -> Void
    ) async throws -> Bool {
        try await withCaller { connection in
            let head = try await connection.send(reading.request)
            try await connection.check(head)
            started()
            if let consumer = reading.consumer {
                // Acknowledgements go over a second connection that stays open: one round trip per batch.
                var acknowledgements = Acknowledgements(client: self, consumer: consumer, reading: reading)
                defer { acknowledgements.end() }
                try await Self.forward(&connection) { block, lastLine in
                    try await ClientConnection.handing { try await body(block) }
                    let position = try Self.position(of: Array(block[lastLine...]))
                    try await acknowledgements.acknowledge(position)
                }
            } else {
                try await Self.forward(&connection) { block, _ in
                    try await ClientConnection.handing { try await body(block) }
                }
            }
            return head.first(name: ControlHeader.streamExists) != "false"
        }
    }

    /// Moves a consumer behind an event that it has handled; what came before it is handled, too. `readEvents` does the same behind
    /// each batch.
    public func acknowledge(
        _ position: EventPosition, of stream: String, by consumer: String, space: String = "home"
    ) async throws(ControlError) {
        var request = ClientRequest(
            .POST, "v1", "spaces", .name(space), "consumers", .name(consumer), "acknowledge")
        request.body = JSONEncoding.bytes(ConsumerPosition(stream: stream, position: position))
        let sent = request
        try await withConnection { connection in
            try await connection.check(try await connection.send(sent))
            _ = try await connection.collect()
        }
    }

    private static func forward(
        _ connection: inout ClientConnection, _ body: ([UInt8], Int) async throws -> Void
    ) async throws {
        var lines = LineBuffer()
        while let chunk = try await connection.nextChunk() {
            guard let (block, lastLine) = try lines.appendBlock(chunk) else { continue }
            try await body(block, lastLine)
        }
    }

    private struct PositionOnly: Decodable { let position: EventPosition }

    private static func position(of line: [UInt8]) throws(ControlError) -> EventPosition {
        try JSONDecoding.value(PositionOnly.self, from: line, unknownKeys: .ignore).position
    }

    // MARK: Streams and consumers

    /// All streams of a space.
    public func streams(space: String = "home") async throws(ControlError) -> [StreamEntry] {
        try await value(ClientRequest(.GET, "v1", "spaces", .name(space), "streams"))
    }

    /// All consumers of a space.
    public func consumers(space: String = "home") async throws(ControlError) -> [ConsumerEntry] {
        try await value(ClientRequest(.GET, "v1", "spaces", .name(space), "consumers"))
    }

    /// Moves a consumer's cursor, also backwards. `stream` may be nil when the consumer reads only one.
    public func setConsumer(
        _ name: String, stream: String? = nil, position: EventPosition, space: String = "home"
    ) async throws(ControlError) -> ConsumerEntry {
        try await value(
            ClientRequest(.PUT, "v1", "spaces", .name(space), "consumers", .name(name)),
            body: ConsumerPosition(stream: stream, position: position))
    }

    /// Forgets a consumer; false when there was none.
    public func removeConsumer(_ name: String, space: String = "home") async throws(ControlError) -> Bool {
        let answer: RemovedResponse = try await value(
            ClientRequest(.DELETE, "v1", "spaces", .name(space), "consumers", .name(name)))
        return answer.removed
    }
}

extension ControlError {
    /// The error for a rewind when the caller gave no `rewinding`.
    public static let cannotRewind = ControlError(
        .unknownOperation, "An event came late, and this reader cannot undo what it did since.",
        hint: "Compute the state anew, from a snapshot or from nothing; or read in the order of arrival.")
}

/// The connection over which a consumer's batches are acknowledged.
private struct Acknowledgements {
    let client: LanyardClient
    let consumer: String
    let reading: EventReadRequest
    private var connection: ClientConnection?

    init(client: LanyardClient, consumer: String, reading: EventReadRequest) {
        self.client = client
        self.consumer = consumer
        self.reading = reading
    }

    /// Acknowledges everything up to `position`. An agent closes a connection that was idle for some minutes, so what is lost is
    /// sent once more over another one: acknowledging twice is acknowledging once.
    mutating func acknowledge(_ position: EventPosition) async throws {
        if connection != nil {
            do { return try await send(position) } catch let error as ControlError where error != ClientConnection.lost
            {
                throw error
            } catch {
                end()
            }
        }
        connection = try client.openConnection()
        try await send(position)
    }

    private mutating func send(_ position: EventPosition) async throws {
        var request = ClientRequest(
            .POST, "v1", "spaces", .name(reading.space), "consumers", .name(consumer), "acknowledge")
        request.body = JSONEncoding.bytes(ConsumerPosition(stream: reading.stream, position: position))
        guard var open = connection else { throw ClientConnection.lost }
        defer { connection = open }
        let shutDown = open.shutDown
        try await withTaskCancellationHandler {
            try await open.check(try await open.send(request))
            _ = try await open.collect()
        } onCancel: {
            shutDown()
        }
    }

    mutating func end() {
        connection?.shutDown()
        connection = nil
    }
}
