/// An attachment as this node has it: answer of `lanyard attach`, and a row of `lanyard attachments`.
public struct AttachmentEntry: Hashable, Sendable {
    /// The part of its bytes that is stored on this node.
    public enum State: String, Codable, Sendable {
        /// All of them; they are checked again when they are read.
        case present
        /// None: the record came, and the bytes were not fetched, or not yet.
        case missing
        /// A part is stored; fetching goes on where it ended.
        case partial
    }

    /// The fields that never change.
    public var record: AttachmentRecord
    /// The object it is attached to: `COLLECTION/ID`.
    public var owner: String
    /// The part of the bytes that is stored here.
    public var state: State
    /// The fraction of the bytes that is stored here, from 0 to 1.
    public var progress: Double
    /// The name made safe for every file system: no path, nothing that leads elsewhere.
    public var fileName: String
    /// True if it is kept and fetched on this node whatever the policy of its space.
    public var pinned: Bool

    /// All fields.
    public init(
        record: AttachmentRecord, owner: String, state: State, progress: Double, fileName: String, pinned: Bool = false
    ) {
        self.record = record
        self.owner = owner
        self.state = state
        self.progress = progress
        self.fileName = fileName
        self.pinned = pinned
    }
}

extension AttachmentEntry: Codable {
    private enum Key: String, CodingKey {
        case id
        case owner
        case name
        case mediaType
        case size
        case width
        case height
        case hash
        case state
        case progress
        case fileName
        case pinned
    }

    /// Reads one object with the keys of the record among the others; `width` and `height` may be null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let record = AttachmentRecord(
            id: try container.decode(String.self, forKey: .id),
            name: try container.decode(String.self, forKey: .name),
            mediaType: try container.decode(String.self, forKey: .mediaType),
            size: try container.decode(UInt64.self, forKey: .size),
            width: try container.decodeIfPresent(UInt32.self, forKey: .width),
            height: try container.decodeIfPresent(UInt32.self, forKey: .height),
            hash: try container.decode(String.self, forKey: .hash))
        self.init(
            record: record, owner: try container.decode(String.self, forKey: .owner),
            state: try container.decode(State.self, forKey: .state),
            progress: try container.decode(Double.self, forKey: .progress),
            fileName: try container.decode(String.self, forKey: .fileName),
            pinned: try container.decode(Bool.self, forKey: .pinned))
    }

    /// Writes the same: no key is left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(record.id, forKey: .id)
        try container.encode(owner, forKey: .owner)
        try container.encode(record.name, forKey: .name)
        try container.encode(record.mediaType, forKey: .mediaType)
        try container.encode(record.size, forKey: .size)
        try container.encode(record.width, forKey: .width)
        try container.encode(record.height, forKey: .height)
        try container.encode(record.hash, forKey: .hash)
        try container.encode(state, forKey: .state)
        try container.encode(progress, forKey: .progress)
        try container.encode(fileName, forKey: .fileName)
        try container.encode(pinned, forKey: .pinned)
    }
}

/// Answer of `lanyard detach`.
public struct DetachedResponse: Codable, Equatable, Sendable {
    /// False when another write had detached it already; then nothing was written.
    public var detached: Bool

    /// The one field.
    public init(detached: Bool) { self.detached = detached }
}
