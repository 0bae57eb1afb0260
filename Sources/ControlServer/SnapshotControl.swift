package import ControlAPI

/// The interface of an agent for snapshots of streams; the rules of `AgentControl` hold here too.
package protocol SnapshotControl: Sendable {
    /// Returns snapshots, newest first; of all streams and all schema versions if none is given.
    func snapshots(space: String, stream: String?, schema: Int64?) async throws(ControlError) -> [SnapshotEntry]

    /// Begins a snapshot of the events that the consumer has acknowledged at this moment: its bytes are to follow. Throws
    /// `unknown_consumer`, `restore_unfinished`, and the errors of an attachment.
    func beginSnapshot(_ draft: SnapshotDraft) async throws(ControlError) -> any SnapshotReceiving

    /// Chooses a snapshot, brings its bytes here, and puts the consumer aside until `finishRestoring`. What fails before
    /// that leaves the consumer as it was. Throws `unknown_snapshot`, `snapshot_schema`, `snapshot_foreign`, `catching_up`,
    /// `version_mismatch`, `damaged`, `nobody_has`, and as a fetch does.
    func beginRestoring(
        space: String, consumer: String, _ request: RestoreRequest, progress: @escaping @Sendable (ByteProgress) -> Void
    ) async throws(ControlError) -> RestoredSnapshot

    /// The application holds the state of the snapshot: from now on the consumer is given the events that it does not cover.
    /// It may be said again. Throws `restore_unfinished` where another restore was begun meanwhile, or none was.
    func finishRestoring(
        space: String, consumer: String, _ request: RestoredRequest
    ) async throws(ControlError) -> ConsumerEntry
}

/// The bytes of a snapshot on their way in; as `AttachmentReceiving`.
package protocol SnapshotReceiving: BytesReceiving {
    /// Finishes the snapshot, durably, and deletes older ones as the draft says.
    func finish() async throws(ControlError) -> SavedSnapshot
}

/// A snapshot to be saved.
package struct SnapshotDraft: Sendable, Equatable {
    package var space: String
    package var stream: String
    package var consumer: String
    package var schema: Int64
    /// The position up to which the state holds acknowledged events; nil: all of them.
    package var position: EventPosition?
    /// The number of newest snapshots to keep. Older ones are deleted, unless they hold what no newer one does; nil: none is.
    package var keepMostRecent: Int?
    /// The size of the whole in bytes; nil if unknown before the end.
    package var size: UInt64?

    package init(
        space: String, stream: String, consumer: String, schema: Int64, position: EventPosition? = nil,
        keepMostRecent: Int? = nil, size: UInt64? = nil
    ) {
        self.space = space
        self.stream = stream
        self.consumer = consumer
        self.schema = schema
        self.position = position
        self.keepMostRecent = keepMostRecent
        self.size = size
    }
}
