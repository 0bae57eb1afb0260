/// A row of `lanyard conflicts list`: something that a person should look at.
public struct ConflictEntry: Codable, Hashable, Sendable {
    /// The kind of conflict.
    public enum Kind: String, Codable, CaseIterable, Sendable {
        /// A value was set apart on several devices; the first of `values` is shown.
        case concurrentValues
        /// A field was given several types; the first of `values` is shown.
        case types
        /// Edits were dropped: the object was deleted elsewhere, or this device was away and what it edited, moved or removed then
        /// is not there, or not as it was. Without `deletions` the deletion is forgotten, or there was none.
        case editedWhileDeleted
        /// The object was deleted on this device while other devices, which had retired this one, changed it: it stays.
        /// `authors` deleted it.
        case deletedWhileEdited
        /// The object was edited while it was deleted elsewhere, and is hidden until the conflict is resolved.
        case undecided
        /// An entry of the collection's schema (`field` says which) was set apart; `id` is empty.
        case schema
    }

    /// A device that wrote one of the values, edited the object, or deleted it.
    public struct Author: Codable, Hashable, Sendable {
        /// The id of the device.
        public var device: String
        /// The time of its last write, by its wall clock.
        public var time: Timestamp
        /// The number of operations for `editedWhileDeleted`; else 1.
        public var count: Int

        /// All fields.
        public init(device: String, time: Timestamp, count: Int = 1) {
            self.device = device
            self.time = time
            self.count = count
        }
    }

    /// The object's id within the collection; empty for a conflict about the schema.
    public var id: String
    /// The object's collection.
    public var collection: String
    /// The field, or a path below it; null when the conflict is about the object as a whole.
    public var field: FieldPath?
    /// The kind of conflict.
    public var kind: Kind
    /// All values there are, that which is shown first; empty when the conflict is about the object as a whole.
    public var values: [JSONText]
    /// The author of each of `values`, of `types` the last one; for the object as a whole the devices that edited it, and when last.
    public var authors: [Author]
    /// The other side of a conflict about the object as a whole: who deleted it. Empty for the other kinds, and where the
    /// deletion is forgotten already.
    public var deletions: [Author]

    /// All fields.
    public init(
        id: String, collection: String, field: FieldPath?, kind: Kind, values: [JSONText] = [], authors: [Author] = [],
        deletions: [Author] = []
    ) {
        self.id = id
        self.collection = collection
        self.field = field
        self.kind = kind
        self.values = values
        self.authors = authors
        self.deletions = deletions
    }
}

/// A user's decision about the conflicts of an object.
public enum Resolution: Hashable, Sendable {
    /// The object stays, against the deletions seen so far (`undecided`).
    case keep
    /// The object goes (`undecided`).
    case delete
    /// Hides the conflict on this node without a change.
    case dismiss
    /// The field has this value, instead of all those seen so far.
    case set(FieldPath, JSONText)

    /// Reads `keep`, `delete`, `dismiss` or `FIELD=VALUE`. Throws `invalid_argument`, and what values throw.
    public init(parsing text: String, valueAsText: Bool = false) throws(ControlError) {
        switch text {
        case "keep": self = .keep
        case "delete": self = .delete
        case "dismiss": self = .dismiss
        case _:
            guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), equals != text.startIndex else {
                throw ControlError(
                    .invalidArgument, "This is no way to resolve a conflict.",
                    hint: "Say keep, delete, dismiss or FIELD=VALUE.")
            }
            let path = try FieldPath(parsing: String(text[..<equals]))
            let value = String(text[text.utf8.index(after: equals)...])
            self = .set(path, try JSONText(typed: value, asText: valueAsText, level: path.keys.count))
        }
    }
}

extension Resolution: Codable {
    private enum Key: String, CodingKey {
        case decision
        case field
        case value
    }

    /// Reads `{"decision":"keep"|"delete"|"dismiss"}` or `{"field","value"}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let decision = try container.decodeIfPresent(String.self, forKey: .decision)
        switch (decision, container.contains(.field) || container.contains(.value)) {
        case (nil, _):
            let path = try container.decode(FieldPath.self, forKey: .field)
            let value = try container.decode(JSONText.self, forKey: .value)
            try ValueRule.check(value, level: path.keys.count)
            self = .set(path, value)
        case ("keep", false): self = .keep
        case ("delete", false): self = .delete
        case ("dismiss", false): self = .dismiss
        case (_?, _):
            throw ControlError(
                .invalidArgument, "This is no way to resolve a conflict.",
                hint: #"Send {"decision":"keep"}, "delete" or "dismiss", or {"field":…,"value":…}."#)
        }
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .keep: try container.encode("keep", forKey: .decision)
        case .delete: try container.encode("delete", forKey: .decision)
        case .dismiss: try container.encode("dismiss", forKey: .decision)
        case .set(let path, let value):
            try container.encode(path, forKey: .field)
            try container.encode(value, forKey: .value)
        }
    }
}

/// Answer of `lanyard conflicts resolve`.
public struct ResolveResponse: Codable, Equatable, Sendable {
    /// False when there was no such conflict; then nothing was written.
    public var resolved: Bool

    /// The one field.
    public init(resolved: Bool) { self.resolved = resolved }
}
