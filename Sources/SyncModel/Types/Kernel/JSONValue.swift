/// One JSON value, with integers and other numbers kept distinct.
///
/// Invariants: `double` is finite and not −0; an object's members are sorted by key and each key occurs once. Use
/// `JSONValue.number(_:)` and `JSONValue.members(_:)` to make them.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(ExactString)
    case array([JSONValue])
    case object([Member])

    /// One member of an object.
    public struct Member: Hashable, Sendable {
        /// Once in its object.
        public let key: ExactString
        /// What stands under the key.
        public let value: JSONValue

        /// Both parts.
        public init(key: ExactString, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }
}
