/// The condition of a write. If it does not hold, the write is refused and nothing is written.
public enum WriteCondition: Hashable, Sendable {
    /// The write is always done.
    case none
    /// The object has this version; else `version_mismatch`, with the current one.
    case version(DotText)
    /// The object must not exist; else `already_exists`.
    case absent
}

/// An object to be put: created if it is not there, else changed by the least edits.
public struct ObjectPut: Hashable, Sendable {
    /// The object's collection.
    public var collection: String
    /// Nil for a fresh one, chosen at random by the agent.
    public var id: String?
    /// A JSON object. Fields that are not named stay as they are; `null` is a value.
    public var fields: JSONText
    /// Fields, and keys below them, that are not named are removed.
    public var replace: Bool
    /// The condition of the write.
    public var condition: WriteCondition

    /// All parts. Throws `invalid_name`, `type_mismatch` (not an object), and what `ValueRule` does.
    public init(
        collection: String, id: String?, fields: JSONText, replace: Bool = false, condition: WriteCondition = .none
    ) throws(ControlError) {
        try NameRule.check(collection, is: .collection)
        if let id { try NameRule.check(id, is: .id) }
        try ValueRule.checkFields(fields)
        self.collection = collection
        self.id = id
        self.fields = fields
        self.replace = replace
        self.condition = condition
    }

    /// Wraps a name and fields that were checked.
    init(collection: String, id: String?, checked fields: JSONText) {
        self.collection = collection
        self.id = id
        self.fields = fields
        replace = false
        condition = .none
    }
}

/// Edits of one object, done together.
public struct ObjectEdit: Hashable, Sendable {
    /// The object to edit.
    public var name: ObjectName
    /// The operations in order; each sees those before it.
    public var operations: [EditOperation]
    /// Create the object if it is not there; else that is `not_found`.
    public var create: Bool
    /// True to refuse an insertion or deletion in a text that would cut one visible character: `inside_character`. Places count
    /// Unicode scalars nevertheless.
    public var wholeCharacters: Bool
    /// The condition of the write.
    public var condition: WriteCondition

    /// All parts. Throws `invalid_argument` for no or too many operations.
    public init(
        _ name: ObjectName, _ operations: [EditOperation], create: Bool = false, wholeCharacters: Bool = false,
        condition: WriteCondition = .none
    ) throws(ControlError) {
        try EditOperation.check(count: operations.count)
        self.name = name
        self.operations = operations
        self.create = create
        self.wholeCharacters = wholeCharacters
        self.condition = condition
    }
}
