public import ControlAPI

/// A state that is to be saved, and of which events.
public struct SnapshotSaveRequest: Sendable {
    /// The space of the stream.
    public var space: String
    /// The stream whose events the state was computed from.
    public var stream: String
    /// The consumer that read them: the state holds exactly what it has acknowledged when this begins.
    public var consumer: String
    /// The version of the state's form; count it up when a state of before does not hold what the application needs now.
    public var schema: Int64
    /// The position up to which the state holds acknowledged events; nil: all of them.
    public var position: EventPosition?
    /// Deletes all of this stream and schema version but so many newest ones, and those that hold events that no kept one
    /// holds; nil: none.
    public var keepMostRecent: Int?
    /// The size in bytes; nil if unknown before the end.
    public var size: UInt64?

    /// A request to save the state that `consumer` has come to.
    public init(
        of stream: String, consumer: String, schema: Int64, space: String = "home", position: EventPosition? = nil,
        keepMostRecent: Int? = nil, size: UInt64? = nil
    ) {
        self.stream = stream
        self.consumer = consumer
        self.schema = schema
        self.space = space
        self.position = position
        self.keepMostRecent = keepMostRecent
        self.size = size
    }

    fileprivate var request: ClientRequest {
        var request = ClientRequest(.POST, "v1", "spaces", .name(space), "streams", .name(stream), "snapshots")
        request.query = [
            ("consumer", consumer), ("schema", String(schema)), ("position", position?.text),
            ("keepMostRecent", keepMostRecent.map(String.init)),
        ]
        request.contentType = "application/octet-stream"
        request.streamedBytes = size
        request.awaitsAdmission = true
        return request
    }
}

extension LanyardClient {
    // MARK: Snapshots

    /// Saves `chunks` as the state that a consumer has come to. Durable on return, and on its way to the other devices.
    public func saveSnapshot<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, _ saving: SnapshotSaveRequest
    ) async throws -> SavedSnapshot where Chunks.Element == [UInt8] {
        if let size = saving.size, size > ControlLimits.attachmentBytes { throw ControlError.attachmentTooLarge }
        return try await withCaller { connection in
            try await connection.check(try await connection.send(try keyed(saving.request), chunks: chunks))
            return try JSONDecoding.value(
                SavedSnapshot.self, from: try await connection.collect(), unknownKeys: .ignore)
        }
    }

    /// The snapshots of a stream, or of all, newest first.
    public func snapshots(
        of stream: String? = nil, schema: Int64? = nil, space: String = "home"
    ) async throws(ControlError) -> [SnapshotEntry] {
        var request = ClientRequest(.GET, "v1", "spaces", .name(space), "snapshots")
        if let stream {
            request = ClientRequest(.GET, "v1", "spaces", .name(space), "streams", .name(stream), "snapshots")
        }
        request.query = [("schema", schema.map(String.init))]
        return try await value(request)
    }

    /// Begins a consumer with the best snapshot of a schema version: hands its bytes to `body` in order, calls `keep` when all
    /// were handed over, and has the consumer given the events outside of the snapshot from then on.
    ///
    /// Make the state durable in `keep`. Whatever ends this before its end, the consumer is left as it was, or reads nothing
    /// (`restore_unfinished`) until a restore succeeds or it is moved: never with a state that does not fit. Throws
    /// `unknown_snapshot` (none: begin from nothing), `snapshot_schema` (only of other versions), `nobody_has`,
    /// `snapshot_foreign`, `catching_up` (what it holds is still arriving), `version_mismatch` (a newer Lanyard saved it),
    /// `damaged` (then again: the bytes are fetched anew), and what the closures throw.
    public func restoreSnapshot(
        _ restoring: RestoreRequest, consumer: String, space: String = "home",
        progress: (ByteProgress) async throws -> Void = { _ in }, _ body: ([UInt8]) async throws -> Void,
        keep: () async throws -> Void = {}
    ) async throws -> RestoredSnapshot {
        let begun = try await beginRestoring(restoring, consumer: consumer, space: space, progress: progress)
        try await readAttachment(begun.snapshot.id, space: space, body)
        try await keep()
        try await finishRestoring(begun.snapshot, consumer: consumer, space: space)
        return begun
    }

    /// The first half of a restore: from here on the consumer reads nothing. The bytes are those of the attachment.
    public func beginRestoring(
        _ restoring: RestoreRequest, consumer: String, space: String = "home",
        progress: (ByteProgress) async throws -> Void = { _ in }
    ) async throws -> RestoredSnapshot {
        var request = ClientRequest(.POST, "v1", "spaces", .name(space), "consumers", .name(consumer), "restore")
        request.body = JSONEncoding.bytes(restoring)
        return try await result(of: request, progress)
    }

    /// The second half: the application holds the state now.
    @discardableResult
    public func finishRestoring(
        _ snapshot: SnapshotEntry, consumer: String, space: String = "home"
    ) async throws(ControlError) -> ConsumerEntry {
        try await value(
            ClientRequest(.POST, "v1", "spaces", .name(space), "consumers", .name(consumer), "restored"),
            body: RestoredRequest(stream: snapshot.stream, snapshot: snapshot.id))
    }
}
