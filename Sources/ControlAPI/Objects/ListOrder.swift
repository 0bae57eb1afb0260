/// The order in which the objects of a collection are listed.
///
/// Any order but the one by id takes a look at every object of the collection.
public struct ListOrder: Hashable, Sendable {
    /// The key that objects are sorted by.
    public enum Key: Hashable, Sendable {
        /// The id, in the order of its UTF-8 bytes.
        case id
        /// The creation, by stamps: the same on every device.
        case created
        /// The time of the last change, by the clock of the device that made it.
        case changed
        /// The value of a field, or of a key below it: absent, null, false and true, numbers, texts by their Unicode scalars,
        /// then all else. The first 96 bytes of a text count.
        case field(FieldPath)
    }

    /// Objects that are equal by it follow each other by id.
    public var key: Key
    /// True if listed from the last to the first.
    public var reverse: Bool

    /// Sorts by id unless another key is given.
    public init(_ key: Key = .id, reverse: Bool = false) {
        self.key = key
        self.reverse = reverse
    }

    /// Reads `created`, `changed` or a field; nil is by id. Throws `invalid_argument`.
    public init(parsing text: String?, reverse: Bool = false) throws(ControlError) {
        switch text {
        case nil: key = .id
        case "":
            throw ControlError(
                .invalidArgument, "The order names no field.", hint: "Give a field, or created, or changed.")
        case "created": key = .created
        case "changed": key = .changed
        case let field?: key = .field(try FieldPath(parsing: field))
        }
        self.reverse = reverse
    }

    /// The text form that `init(parsing:)` reads.
    package var text: String? {
        switch key {
        case .id: nil
        case .created: "created"
        case .changed: "changed"
        case .field(let path): path.description
        }
    }
}
