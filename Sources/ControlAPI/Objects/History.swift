/// A step of an object's history: the effect of one change on a field, on an attachment, or on the object as a whole.
public struct HistoryEntry: Hashable, Sendable {
    /// The kind of step.
    public enum Kind: String, Codable, CaseIterable, Sendable {
        /// The object was created; one entry per field it was created with.
        case created
        /// A field was changed.
        case edited
        /// The object was deleted.
        case deleted
        /// A user decided to keep the object against a deletion.
        case kept
        /// A file was attached.
        case attached
        /// A file was taken away.
        case detached
        /// Earlier history is not kept here: one entry for each field and attachment that the object had by then.
        case begins
    }

    /// The object's version after the change: given as `--at` it shows the object as the author left it.
    public var version: DotText
    /// The time of the step, by the wall clock of the device that did it.
    public var time: Timestamp
    /// The id of that device.
    public var device: String
    /// The kind of step.
    public var kind: Kind
    /// The field, or a path below it; nil when it is about the object as a whole or an attachment.
    public var field: FieldPath?
    /// The field's value before; nil if it had none, and when `edits` describes the change.
    public var old: JSONText?
    /// The field's value afterwards; nil if it has none, and when `edits` describes the change.
    public var new: JSONText?
    /// The steps of an edit of a text; else nil.
    public var edits: [TextChange]?
    /// The attachment that was attached or detached; else nil.
    public var attachment: AttachmentRecord?

    /// All fields.
    public init(
        version: DotText, time: Timestamp, device: String, kind: Kind, field: FieldPath? = nil, old: JSONText? = nil,
        new: JSONText? = nil, edits: [TextChange]? = nil, attachment: AttachmentRecord? = nil
    ) {
        self.version = version
        self.time = time
        self.device = device
        self.kind = kind
        self.field = field
        self.old = old
        self.new = new
        self.edits = edits
        self.attachment = attachment
    }
}

extension HistoryEntry: Codable {
    private enum Key: String, CodingKey {
        case version
        case time
        case device
        case kind
        case field
        case old
        case new
        case edits
        case attachment
    }

    /// Reads an object in which `old`, `new`, `edits` and `attachment` may be left out: `null` is a value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func value(_ key: Key) throws -> JSONText? {
            container.contains(key) ? try container.decode(JSONText.self, forKey: key) : nil
        }
        self.init(
            version: try container.decode(DotText.self, forKey: .version),
            time: try container.decode(Timestamp.self, forKey: .time),
            device: try container.decode(String.self, forKey: .device),
            kind: try container.decode(Kind.self, forKey: .kind),
            field: try container.decodeIfPresent(FieldPath.self, forKey: .field), old: try value(.old),
            new: try value(.new), edits: try container.decodeIfPresent([TextChange].self, forKey: .edits),
            attachment: try container.decodeIfPresent(AttachmentRecord.self, forKey: .attachment))
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(version, forKey: .version)
        try container.encode(time, forKey: .time)
        try container.encode(device, forKey: .device)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(field, forKey: .field)
        if let old { try container.encode(old, forKey: .old) }
        if let new { try container.encode(new, forKey: .new) }
        if let edits { try container.encode(edits, forKey: .edits) }
        if let attachment { try container.encode(attachment, forKey: .attachment) }
    }
}

/// A line of `lanyard watch`: an object that changed, as it is now.
public struct ObjectChange: Codable, Hashable, Sendable {
    /// The position to give as `--after`; local to the node.
    public var position: UInt64
    /// The object's id within the collection.
    public var id: String
    /// The object's collection.
    public var collection: String
    /// True if the object was deleted; then `fields` and `version` are null.
    public var deleted: Bool
    /// A JSON object: the value of each field.
    public var fields: JSONText?
    /// The object's version.
    public var version: DotText?

    /// An object that is there.
    public init(position: UInt64, _ object: ObjectEntry) {
        self.position = position
        id = object.id
        collection = object.collection
        deleted = false
        fields = object.fields
        version = object.version
    }

    /// An object that is not there any more.
    public init(position: UInt64, deleted name: ObjectName) {
        self.position = position
        id = name.id
        collection = name.collection
        deleted = true
    }
}
