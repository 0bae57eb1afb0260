/// A step of an edit of a text: delete the text at an offset, then insert.
public struct TextChange: Codable, Hashable, Sendable {
    /// The offset in Unicode scalars, in the text as the earlier steps left it.
    public var offset: Int
    /// The text that was deleted.
    public var deleted: String
    /// The text that was inserted in its place.
    public var inserted: String

    /// All fields.
    public init(offset: Int, deleted: String, inserted: String) {
        self.offset = offset
        self.deleted = deleted
        self.inserted = inserted
    }
}

/// Lines of a text that stand in one version and not in the other, at one place.
public struct LineChange: Codable, Hashable, Sendable {
    /// The number of the first line in the old text, from 1.
    public var line: Int
    /// The number of the first line in the new text, from 1.
    public var newLine: Int
    /// Lines of the old text, without their breaks.
    public var deleted: [String]
    /// Lines of the new text, without their breaks.
    public var inserted: [String]

    /// All fields.
    public init(line: Int, newLine: Int, deleted: [String], inserted: [String]) {
        self.line = line
        self.newLine = newLine
        self.deleted = deleted
        self.inserted = inserted
    }
}

/// The author of a part of a field's value. A part of a text is a run of scalars that one change wrote; otherwise it is an
/// element or the value. A counter has a part for each replica that counted, with the amount it added.
public struct BlameEntry: Hashable, Sendable {
    /// The content that was written.
    public enum Part: Hashable, Sendable {
        /// A stretch of a text; the offset counts Unicode scalars.
        case text(offset: Int, String)
        /// Any other part.
        case value(JSONText)
    }

    /// The field, or a path below it: the key or index of the element.
    public var field: FieldPath
    /// The content that was written.
    public var part: Part
    /// The id of the device that wrote it.
    public var device: String
    /// The time, by the wall clock of that device; nil when the change is not kept here any more.
    public var time: Timestamp?
    /// The object's version behind the change that wrote it.
    public var version: DotText

    /// All fields.
    public init(field: FieldPath, part: Part, device: String, time: Timestamp?, version: DotText) {
        self.field = field
        self.part = part
        self.device = device
        self.time = time
        self.version = version
    }
}

extension BlameEntry: Codable {
    private enum Key: String, CodingKey {
        case field
        case offset
        case text
        case value
        case device
        case time
        case version
    }

    /// Reads an object with `offset` and `text`, or with `value`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let part: Part
        if let text = try container.decodeIfPresent(String.self, forKey: .text) {
            part = .text(offset: try container.decode(Int.self, forKey: .offset), text)
        } else {
            part = .value(try container.decode(JSONText.self, forKey: .value))
        }
        self.init(
            field: try container.decode(FieldPath.self, forKey: .field), part: part,
            device: try container.decode(String.self, forKey: .device),
            time: try container.decodeIfPresent(Timestamp.self, forKey: .time),
            version: try container.decode(DotText.self, forKey: .version))
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(field, forKey: .field)
        switch part {
        case .text(let offset, let text):
            try container.encode(offset, forKey: .offset)
            try container.encode(text, forKey: .text)
        case .value(let value): try container.encode(value, forKey: .value)
        }
        try container.encode(device, forKey: .device)
        try container.encodeIfPresent(time, forKey: .time)
        try container.encode(version, forKey: .version)
    }
}

/// The difference of a field between two versions.
public struct DifferenceEntry: Hashable, Sendable {
    /// The kind of difference and its values.
    public enum Content: Hashable, Sendable {
        /// The value at each version; nil: the field had none.
        case value(old: JSONText?, new: JSONText?)
        /// A text at both versions: scalar by scalar, to be done in this order; and line by line.
        case text(edits: [TextChange], lines: [LineChange])
    }

    /// The field, or the path below it that was asked for.
    public var field: FieldPath
    /// The kind of difference and its values.
    public var content: Content

    /// Both fields.
    public init(field: FieldPath, content: Content) {
        self.field = field
        self.content = content
    }
}

extension DifferenceEntry: Codable {
    private enum Key: String, CodingKey {
        case field
        case old
        case new
        case edits
        case lines
    }

    /// Reads an object with `edits` and `lines`, or with `old` and `new`, which may be left out: `null` is a value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func value(_ key: Key) throws -> JSONText? {
            container.contains(key) ? try container.decode(JSONText.self, forKey: key) : nil
        }
        let content: Content
        if let edits = try container.decodeIfPresent([TextChange].self, forKey: .edits) {
            content = .text(edits: edits, lines: try container.decode([LineChange].self, forKey: .lines))
        } else {
            content = .value(old: try value(.old), new: try value(.new))
        }
        self.init(field: try container.decode(FieldPath.self, forKey: .field), content: content)
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(field, forKey: .field)
        switch content {
        case .value(let old, let new):
            if let old { try container.encode(old, forKey: .old) }
            if let new { try container.encode(new, forKey: .new) }
        case .text(let edits, let lines):
            try container.encode(edits, forKey: .edits)
            try container.encode(lines, forKey: .lines)
        }
    }
}
