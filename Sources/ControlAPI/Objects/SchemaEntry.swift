/// The types of a collection's fields and its rules; replicated, and additive: what is not named when it is set stays.
public struct SchemaEntry: Hashable, Sendable {
    /// A key and a value this version does not know; kept and shown.
    public struct Other: Hashable, Sendable {
        /// The key.
        public let key: String
        /// The member's value.
        public let value: JSONText

        /// Both parts.
        public init(key: String, value: JSONText) {
            self.key = key
            self.value = value
        }
    }

    /// The schema of one field.
    public struct Field: Hashable, Sendable {
        /// The field's name.
        public var name: String
        /// The field's type.
        public var type: FieldType
        /// The collection that the values are ids in, if they are references; ids of objects that are not live are left out
        /// when reading.
        public var refers: String?
        /// Members that a newer agent wrote about it.
        public var others: [Other]

        /// All parts.
        public init(name: String, type: FieldType, refers: String? = nil, others: [Other] = []) {
            self.name = name
            self.type = type
            self.refers = refers
            self.others = others
        }
    }

    /// The collection that the schema describes.
    public var collection: String
    /// The fields by name, in the order of UTF-8 bytes when an agent answers.
    public var fields: [Field]
    /// Nil where it was never set; then `deleteWins` holds.
    public var deletePolicy: DeletePolicy?
    /// Fields that `list --where` finds without looking at every object. Set as a whole; nil leaves it as it is.
    public var indexed: [String]?
    /// False: `put` creates only with `--if-absent`, and never recreates. Nil where it was never set; then true holds.
    public var upsert: Bool?
    /// Members that a newer agent wrote.
    public var others: [Other]

    /// All parts.
    public init(
        collection: String, fields: [Field] = [], deletePolicy: DeletePolicy? = nil, indexed: [String]? = nil,
        upsert: Bool? = nil, others: [Other] = []
    ) {
        self.collection = collection
        self.fields = fields
        self.deletePolicy = deletePolicy
        self.indexed = indexed
        self.upsert = upsert
        self.others = others
    }
}

extension SchemaEntry {
    /// The type of a field: how concurrent edits of it come together.
    ///
    /// Not an enumeration: a newer agent may know more of them, and what it wrote is shown here as it is.
    public struct FieldType: RawRepresentable, Codable, Hashable, Sendable {
        /// The word in the schema.
        public let rawValue: String

        /// A type with any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A single value; a write replaces those its author had seen.
        public static let register = FieldType(rawValue: "register")
        /// A value set at creation, never again.
        public static let constant = FieldType(rawValue: "constant")
        /// Increments add up.
        public static let counter = FieldType(rawValue: "counter")
        /// Elements come and go; an addition survives a concurrent removal.
        public static let set = FieldType(rawValue: "set")
        /// Elements come and stay.
        public static let addOnlySet = FieldType(rawValue: "addOnlySet")
        /// Ordered elements with an identity of their own.
        public static let list = FieldType(rawValue: "list")
        /// A list in which each value appears once.
        public static let orderedSet = FieldType(rawValue: "orderedSet")
        /// Unicode text that is edited in several places at once.
        public static let text = FieldType(rawValue: "text")
        /// Keys with values of any of these types.
        public static let dictionary = FieldType(rawValue: "dictionary")
        /// A value that stays on this node and is never shipped.
        public static let local = FieldType(rawValue: "local")

        /// The types this version knows, in the order in which one is shown if nodes disagree; `local` last.
        public static let known: [FieldType] = [
            .register, .constant, .counter, .set, .addOnlySet, .list, .orderedSet, .text, .dictionary, .local,
        ]

        /// True if its values are scalars that can name other objects, alone or in a container.
        var canRefer: Bool {
            [.register, .constant, .set, .addOnlySet, .list, .orderedSet].contains(self)
        }
    }

    /// The fate of edits made without knowledge of a deletion. Not an enumeration, like `FieldType`.
    public struct DeletePolicy: RawRepresentable, Codable, Hashable, Sendable {
        /// The word in the schema.
        public let rawValue: String

        /// A policy with any word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The edits are dropped, and listed as conflicts.
        public static let deleteWins = DeletePolicy(rawValue: "deleteWins")
        /// The edits keep the whole object.
        public static let updateWins = DeletePolicy(rawValue: "updateWins")
        /// The later of edit and deletion decides.
        public static let lastWriterWins = DeletePolicy(rawValue: "lastWriterWins")
        /// A user decides; until then the object is hidden.
        public static let ask = DeletePolicy(rawValue: "ask")

        /// The policies this version knows.
        public static let known: [DeletePolicy] = [.deleteWins, .updateWins, .lastWriterWins, .ask]
    }
}

/// A collection that something was ever put into: a row of `GET /v1/spaces/{space}/collections`.
public struct CollectionEntry: Codable, Equatable, Sendable {
    /// The collection's name.
    public var name: String

    /// The one field.
    public init(name: String) { self.name = name }
}
