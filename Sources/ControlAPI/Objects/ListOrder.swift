/// In which order the objects of a collection are listed.
///
/// Any order but the one by id looks at every object of the collection for each page.
public struct ListOrder: Hashable, Sendable {
    /// By what.
    public enum Key: Hashable, Sendable {
        /// By id, in the order of its UTF-8 bytes.
        case id
        /// By when they were created, by stamps: the same on every device.
        case created
        /// By when they were changed last, by the clock of the device that did it.
        case changed
        /// By what a field, or a key below it, reads as: nothing, null, false and true, numbers, texts by their Unicode
        /// scalars, then all else. Of texts the first 96 bytes count.
        case field(FieldPath)
    }

    /// Objects that are equal by it follow each other by id.
    public var key: Key
    /// From the last to the first.
    public var reverse: Bool

    /// By id, unless it says otherwise.
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

    /// What `init(parsing:)` reads.
    package var text: String? {
        switch key {
        case .id: nil
        case .created: "created"
        case .changed: "changed"
        case .field(let path): path.description
        }
    }
}
