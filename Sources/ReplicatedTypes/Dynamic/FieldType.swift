/// The replicated types a field of an object can have; in the order in which one is shown when nodes disagree.
public enum FieldType: String, Hashable, Sendable, Codable, CaseIterable {
    /// A single value that a write replaces.
    case register
    /// A single value, set once.
    case constant
    /// A number that increments add up in.
    case counter
    /// Elements that come and go.
    case set
    /// Elements that only come.
    case addOnlySet
    /// Values in an order.
    case list
    /// Elements in an order, each once.
    case orderedSet
    /// Unicode scalars.
    case text
    /// Values under keys.
    case dictionary
}

extension FieldType: Comparable {
    /// The type's number in canonical bytes.
    public var rank: UInt8 {
        switch self {
        case .register: 0
        case .constant: 1
        case .counter: 2
        case .set: 3
        case .addOnlySet: 4
        case .list: 5
        case .orderedSet: 6
        case .text: 7
        case .dictionary: 8
        }
    }

    /// Nil for a number no type has.
    public init?(rank: UInt8) {
        guard rank < Self.allCases.count else { return nil }
        self = Self.allCases[Int(rank)]
    }

    /// The order in which they leave a process.
    public static func < (left: FieldType, right: FieldType) -> Bool { left.rank < right.rank }
}
