/// The order in which JSON values leave a process: by type (null, booleans, integers, other numbers, strings, arrays,
/// objects), then by value. It is also the order of the canonical bytes.
extension JSONValue: Comparable {
    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer: 2
        case .double: 3
        case .string: 4
        case .array: 5
        case .object: 6
        }
    }

    /// The order in which they leave a process.
    public static func < (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.bool(let left), .bool(let right)): !left && right
        case (.integer(let left), .integer(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.string(let left), .string(let right)): left < right
        case (.array(let left), .array(let right)): left.lexicographicallyPrecedes(right)
        case (.object(let left), .object(let right)): left.lexicographicallyPrecedes(right)
        case _: left.rank < right.rank
        }
    }
}

extension JSONValue.Member: Comparable {
    /// The order in which they leave a process.
    public static func < (left: Self, right: Self) -> Bool {
        left.key == right.key ? left.value < right.value : left.key < right.key
    }
}
