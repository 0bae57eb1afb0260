/// The state that an application computed from the events of a stream, kept as an attachment: a row of `lanyard snapshot list`.
public struct SnapshotEntry: Codable, Equatable, Sendable {
    /// The id of the attachment; the first few characters are enough if no other id begins so.
    public var id: String
    /// The stream whose events the state holds.
    public var stream: String
    /// The version of the state's form, which the application counts.
    public var schema: Int64
    /// The consumer whose acknowledged events the state holds.
    public var consumer: String
    /// The order in which the state was computed.
    public var order: EventOrder
    /// The time at which it was saved, by its author's wall clock.
    public var time: Timestamp
    /// The id of the device that saved it.
    public var device: String
    /// The size in bytes.
    public var size: UInt64
    /// The hash of the bytes; 64 hexadecimal digits.
    public var hash: String
    /// The part of the bytes that is stored on this node.
    public var state: AttachmentEntry.State
    /// The events of the stream that the state holds: for each replica all before the number.
    public var versionVector: VersionVectorText
    /// The code with which a restore of it would be refused; null: it would not.
    public var problem: String?
    /// The object that holds it: deleting that deletes it.
    public var owner: String

    /// All fields.
    public init(
        id: String, stream: String, schema: Int64, consumer: String, order: EventOrder, time: Timestamp,
        device: String, size: UInt64, hash: String, state: AttachmentEntry.State, versionVector: VersionVectorText,
        problem: String? = nil, owner: String
    ) {
        self.id = id
        self.stream = stream
        self.schema = schema
        self.consumer = consumer
        self.order = order
        self.time = time
        self.device = device
        self.size = size
        self.hash = hash
        self.state = state
        self.versionVector = versionVector
        self.problem = problem
        self.owner = owner
    }
}

/// Answer of `lanyard snapshot save`.
public struct SavedSnapshot: Codable, Equatable, Sendable {
    /// The snapshot that was saved.
    public var snapshot: SnapshotEntry
    /// The ids of those that were deleted, because only the newest are kept.
    public var removed: [String]

    /// Both fields.
    public init(snapshot: SnapshotEntry, removed: [String] = []) {
        self.snapshot = snapshot
        self.removed = removed
    }
}

/// Request of `POST …/consumers/{name}/restore`: which snapshot a consumer is to begin with.
public struct RestoreRequest: Codable, Equatable, Sendable {
    /// The stream that the consumer reads.
    public var stream: String
    /// The application's own version: snapshots of no other one are taken.
    public var schema: Int64
    /// The id of a snapshot, or a beginning of it; null or absent: the best there is.
    public var snapshot: String?

    /// All fields.
    public init(stream: String, schema: Int64, snapshot: String? = nil) {
        self.stream = stream
        self.schema = schema
        self.snapshot = snapshot
    }
}

/// Answer of `lanyard snapshot restore`.
public struct RestoredSnapshot: Codable, Equatable, Sendable {
    /// The snapshot that the consumer begins with.
    public var snapshot: SnapshotEntry
    /// The ids of better ones whose bytes no connected device has.
    public var skipped: [String]

    /// Both fields.
    public init(snapshot: SnapshotEntry, skipped: [String] = []) {
        self.snapshot = snapshot
        self.skipped = skipped
    }
}

/// Request of `POST …/consumers/{name}/restored`: the application has written down the state of the snapshot.
public struct RestoredRequest: Codable, Equatable, Sendable {
    /// The stream that the consumer reads.
    public var stream: String
    /// The id that the restore was answered with.
    public var snapshot: String

    /// Both fields.
    public init(stream: String, snapshot: String) {
        self.stream = stream
        self.snapshot = snapshot
    }
}
