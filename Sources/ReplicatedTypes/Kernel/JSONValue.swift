/// A JSON value, with integers and other numbers kept distinct.
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

    /// A member of an object.
    public struct Member: Hashable, Sendable {
        /// Exact: two keys that only look alike are two members.
        public let key: ExactString
        /// The value under the key.
        public let value: JSONValue

        /// A member of an object that is yet to be made; see `JSONValue.members(_:)`.
        public init(key: ExactString, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// Containers inside each other, in texts and in bytes.
    public static let maximumDepth = 64
}

/// The reason why a text or value is no JSON value, or none that every node would read alike.
public enum JSONValueError: Error, Hashable, Sendable {
    /// The text is not JSON (RFC 8259), at this byte.
    case syntax(offset: Int)
    /// The value has more than `JSONValue.maximumDepth` containers inside each other.
    case tooDeep
    /// An integer beyond 64 bits, or a number that is infinite or none.
    case numberOutOfRange
    /// An object names a key twice.
    case repeatedKey(String)
}

extension JSONValue {
    /// An integer.
    public static func number(_ value: Int64) -> JSONValue { .integer(value) }

    /// Any other number; −0 becomes 0. Throws `numberOutOfRange` for infinities and NaN, which JSON cannot hold.
    public static func number(_ value: Double) throws(JSONValueError) -> JSONValue {
        guard value.isFinite else { throw .numberOutOfRange }
        return .double(value == 0 ? 0 : value)
    }

    /// A string.
    public static func text(_ value: String) -> JSONValue { .string(ExactString(value)) }

    /// An object with these members, in any order. Throws `repeatedKey` when a key comes twice.
    public static func members(_ members: some Sequence<Member>) throws(JSONValueError) -> JSONValue {
        let sorted = members.sorted { $0.key < $1.key }
        for (one, next) in zip(sorted, sorted.dropFirst()) where one.key == next.key {
            throw .repeatedKey(one.key.string)
        }
        return .object(sorted)
    }

    /// The value of an object under `key`; nil for everything else.
    public subscript(key: ExactString) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        var low = 0
        var high = members.count
        while low < high {
            let middle = (low + high) / 2
            if members[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low < members.count && members[low].key == key ? members[low].value : nil
    }

    /// Containers inside each other: 0 for a scalar.
    public var depth: Int {
        switch self {
        case .null, .bool, .integer, .double, .string: 0
        case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.lazy.map(\.value.depth).max() ?? 0)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .text(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}
