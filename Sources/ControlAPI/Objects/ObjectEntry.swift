/// An object as a reader sees it: answer of `lanyard put`, `get` and `edit`, and a row of `lanyard list`.
public struct ObjectEntry: Hashable, Sendable {
    /// The object's id within the collection.
    public var id: String
    /// The object's collection.
    public var collection: String
    /// A JSON object: the value of each field.
    public var fields: JSONText
    /// Changes with every change of the object; to be given as `--if-version`. Local to the node.
    public var version: DotText
    /// The attachments, newest first, if one object is read; nil in lists, and when it has none, so that a listed object can be
    /// put again.
    public var attachments: [AttachmentEntry]?

    /// All fields.
    public init(
        id: String, collection: String, fields: JSONText, version: DotText, attachments: [AttachmentEntry]? = nil
    ) {
        self.id = id
        self.collection = collection
        self.fields = fields
        self.version = version
        self.attachments = attachments
    }

    /// Appends the same text as encoding it, at the speed of a bulk read.
    package func write(to writer: inout JSONWriter) {
        writer.raw("{\"id\":")
        writer.string(id)
        writer.raw(",\"collection\":")
        writer.string(collection)
        writer.raw(",\"fields\":")
        writer.raw(fields.bytes)
        writer.raw(",\"version\":\"")
        writer.stringContent(version.replica)
        writer.byte(UInt8(ascii: ":"))
        writer.integer(version.counter)
        writer.byte(UInt8(ascii: "\""))
        if let attachments {
            writer.raw(",\"attachments\":")
            writer.raw(JSONEncoding.bytes(attachments))
        }
        writer.byte(UInt8(ascii: "}"))
    }
}

extension ObjectEntry: Codable {
    private enum Key: String, CodingKey {
        case id
        case collection
        case fields
        case version
        case attachments
    }

    /// Reads an object; `attachments` may be absent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            id: try container.decode(String.self, forKey: .id),
            collection: try container.decode(String.self, forKey: .collection),
            fields: try container.decode(JSONText.self, forKey: .fields),
            version: try container.decode(DotText.self, forKey: .version),
            attachments: container.contains(.attachments)
                ? try container.decodeIfPresent([AttachmentEntry].self, forKey: .attachments) : nil)
    }

    /// Writes the same: `attachments` is left out where there are none.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encode(collection, forKey: .collection)
        try container.encode(fields, forKey: .fields)
        try container.encode(version, forKey: .version)
        if let attachments { try container.encode(attachments, forKey: .attachments) }
    }
}

/// The answer to an edit by a caller that does not want the object back. For a long text every keystroke would return all of
/// it.
public struct ObjectVersion: Codable, Hashable, Sendable {
    /// The object's id within the collection.
    public var id: String
    /// The object's collection.
    public var collection: String
    /// The version, as in `ObjectEntry`.
    public var version: DotText

    /// All fields.
    public init(id: String, collection: String, version: DotText) {
        self.id = id
        self.collection = collection
        self.version = version
    }
}

/// The number of objects of a collection for which a condition holds, or of a list, and what it took to find them.
public struct ObjectCount: Codable, Hashable, Sendable {
    /// The number of objects.
    public var count: Int
    /// The indexed field that was looked up; nil if none was.
    public var index: String?
    /// The indexed field in whose order the objects of a list were found; nil if they had to be sorted. Without it and
    /// `index` every object of the collection was looked at.
    public var order: String?
    /// The number of objects that were read and compared; 0 if the index alone gave the answer.
    public var examined: Int

    /// All fields.
    public init(count: Int, index: String?, order: String? = nil, examined: Int) {
        self.count = count
        self.index = index
        self.order = order
        self.examined = examined
    }
}

/// A row of `lanyard deleted`: an object that was deleted, as long as the node keeps the record of it.
public struct DeletedEntry: Codable, Hashable, Sendable {
    /// The object's id within the collection.
    public var id: String
    /// The object's collection.
    public var collection: String
    /// The id of the device that deleted it.
    public var device: String
    /// The time of the deletion, by that device's wall clock.
    public var time: Timestamp
    /// The policy that governs the deletion.
    public var policy: SchemaEntry.DeletePolicy

    /// All fields.
    public init(id: String, collection: String, device: String, time: Timestamp, policy: SchemaEntry.DeletePolicy) {
        self.id = id
        self.collection = collection
        self.device = device
        self.time = time
        self.policy = policy
    }
}

/// Answer of `lanyard delete`.
public struct DeletedResponse: Codable, Equatable, Sendable {
    /// False when there was nothing to delete; then nothing was written.
    public var deleted: Bool

    /// The one field.
    public init(deleted: Bool) { self.deleted = deleted }
}
