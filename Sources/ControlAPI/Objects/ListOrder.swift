/// The order in which the objects of a collection are listed.
///
/// Any order but the one by id takes a look at every object of the collection.
public struct ListOrder: Hashable, Sendable {
    /// A key that objects are sorted by.
    public enum Key: Hashable, Sendable {
        /// The creation, by stamps: the same on every device.
        case created
        /// The time of the last change, by the clock of the device that made it.
        case changed
        /// The value of a field, or of a key below it: absent, null, false and true, numbers, texts by their Unicode scalars,
        /// then all else. Of a text the first 96 bytes count, shared equally by the keys of one order.
        case field(FieldPath)
    }

    /// A key and its direction.
    public struct Step: Hashable, Sendable {
        /// The value that is compared.
        public var key: Key
        /// True if the greatest comes first.
        public var isDescending: Bool

        /// Ascending unless told otherwise.
        public init(_ key: Key, isDescending: Bool = false) {
            self.key = key
            self.isDescending = isDescending
        }

        /// Reads `created`, `changed` or a field, with ` desc` behind it if the greatest comes first. Throws
        /// `invalid_argument`.
        public init(parsing text: String) throws(ControlError) {
            isDescending = text.hasSuffix(Self.descending)
            switch isDescending ? String(text.dropLast(Self.descending.count)) : text {
            case "":
                throw ControlError(
                    .invalidArgument, "The order names no field.", hint: "Give a field, or created, or changed.")
            case "created": key = .created
            case "changed": key = .changed
            case let field: key = .field(try FieldPath(parsing: field))
            }
        }

        private static let descending = " desc"

        /// The text form that `init(parsing:)` reads.
        package var text: String {
            let name =
                switch key {
                case .created: "created"
                case .changed: "changed"
                case .field(let path): path.description
                }
            return isDescending ? name + Self.descending : name
        }
    }

    /// Objects that are equal by one step are compared by the next, and in the end by id, in the order of its UTF-8 bytes.
    /// Empty: by id.
    public var steps: [Step]
    /// True if listed from the last to the first.
    public var reverse: Bool

    /// Sorts by id unless steps are given.
    public init(_ steps: [Step] = [], reverse: Bool = false) {
        self.steps = steps
        self.reverse = reverse
    }

    /// Reads one text for each step. Throws `invalid_argument`, also for more than `ControlLimits.sortKeys`.
    public init(parsing texts: [String], reverse: Bool = false) throws(ControlError) {
        guard texts.count <= ControlLimits.sortKeys else {
            throw ControlError(
                .invalidArgument,
                "The order has \(texts.count) fields; at most \(ControlLimits.sortKeys) are compared.",
                hint: "Sort by fewer fields.")
        }
        steps = []
        for text in texts { steps.append(try Step(parsing: text)) }
        self.reverse = reverse
    }
}
