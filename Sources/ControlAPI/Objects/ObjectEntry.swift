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

/// A condition of `lanyard list --where FIELD=VALUE`: the field reads as this value.
public struct FieldCondition: Hashable, Sendable {
    /// The field, or a key below it.
    public let path: FieldPath
    /// The value to compare with: `1` and `1.0` differ, the order of an object's keys does not matter.
    public let value: JSONText
    /// True if the field, a set or a list, must contain the value as an element; false if it must equal the value.
    public let isElement: Bool

    /// The field reads as the value. Throws what `ValueRule` does.
    public init(_ path: FieldPath, equals value: JSONText) throws(ControlError) {
        try self.init(path, value, isElement: false)
    }

    /// The field, a set or a list, has the value as an element. Throws what `ValueRule` does.
    public init(_ path: FieldPath, contains value: JSONText) throws(ControlError) {
        try self.init(path, value, isElement: true)
    }

    private init(_ path: FieldPath, _ value: JSONText, isElement: Bool) throws(ControlError) {
        try ValueRule.check(value, level: path.keys.count)
        self.path = path
        self.value = value
        self.isElement = isElement
    }

    /// Reads `FIELD=VALUE` or `FIELD.contains=VALUE`; VALUE is JSON if it parses, else the text itself. Throws `invalid_argument`.
    public init(parsing text: String, valueAsText: Bool = false) throws(ControlError) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), equals != text.startIndex else {
            throw ControlError(
                .invalidArgument, "The condition has no form FIELD=VALUE.", hint: "For example --where done=true.")
        }
        let field = text[..<equals]
        let isElement = field.hasSuffix(Self.elementSuffix) && field.utf8.count > Self.elementSuffix.utf8.count
        let path = try FieldPath(parsing: String(isElement ? field.dropLast(Self.elementSuffix.count) : field))
        let value = try JSONText(typed: String(text[text.utf8.index(after: equals)...]), asText: valueAsText)
        try self.init(path, value, isElement: isElement)
    }

    private static let elementSuffix = ".contains"

    /// The text form that `init(parsing:)` reads.
    public var text: String { "\(path)\(isElement ? Self.elementSuffix : "")=\(value)" }

    /// Throws `too_large` when the conditions together have more than `ControlLimits.conditionBytes`.
    package static func check(_ conditions: [FieldCondition]) throws(ControlError) {
        let count = conditions.reduce(0) { $0 + $1.text.utf8.count }
        guard count <= ControlLimits.conditionBytes else {
            throw ControlError(
                .tooLarge,
                "The conditions have \(count) bytes; at most \(ControlLimits.conditionBytes) are compared at once.",
                hint: "Compare with shorter values, or look through the whole list.")
        }
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
