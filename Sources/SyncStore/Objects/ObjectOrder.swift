package import SyncModel

/// An order of the objects of one collection other than by id. Objects that are equal in it follow each other by id.
package struct ObjectOrder: Sendable, Hashable {
    package enum Key: Sendable, Hashable {
        case id
        /// The stamp at which the first of the kept lives began: the same on every node.
        case created
        /// The time of the last change, by the author's clock.
        case changed
        /// The value that readers see in a field, or in a key below it: nothing, null, false and true, numbers, texts by
        /// their Unicode scalars, then all else. Only the first 96 bytes of a text count.
        case field([ExactString])
    }

    /// The place of an object in the order.
    package struct Place: Sendable, Hashable {
        /// Compared byte by byte; at most `keyByteLimit`.
        package let key: [UInt8]
        package let id: ExactString

        package init(key: [UInt8], id: ExactString) {
            self.key = key
            self.id = id
        }
    }

    package static let keyByteLimit = 1 + textByteLimit
    private static let textByteLimit = 96

    package var key: Key
    package var isReversed: Bool
    /// The place behind which objects are read; nil from the first.
    package var after: Place?

    package init(_ key: Key, isReversed: Bool = false, after: Place? = nil) {
        self.key = key
        self.isReversed = isReversed
        self.after = after
    }

    /// Returns the place of an object.
    package func place(of object: StoredObject, _ schema: CollectionSchema?) -> Place {
        let bytes: [UInt8] =
            switch key {
            case .id: []
            case .created: Self.bytes(object.state.lives.lives.map(\.key.stamp.rawValue).min() ?? 0)
            case .changed: Self.bytes(Self.ascending(object.changedMilliseconds))
            case .field(let path): Self.bytes(object.value(at: path, schema))
            }
        return Place(key: bytes, id: object.key.id)
    }

    func isBefore(_ left: Place, _ right: Place) -> Bool {
        let (first, second) = isReversed ? (right, left) : (left, right)
        if first.key != second.key { return first.key.lexicographicallyPrecedes(second.key) }
        return first.id < second.id
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8] {
        switch value {
        case nil: [0]
        case .null: [1]
        case .bool(let value): [value ? 3 : 2]
        case .integer(let value): [4] + bytes(ascending(Double(value))) + bytes(ascending(value))
        case .double(let value):
            [4] + bytes(ascending(value)) + bytes(ascending(value < 0x1p63 ? Int64(max(value, -0x1p63)) : .max))
        case .string(let text): [5] + text.string.utf8.prefix(textByteLimit)
        case .array, .object: [6]
        }
    }

    private static func bytes(_ word: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: word)
        return bytes
    }

    /// Maps integers to unsigned ones in the same order.
    private static func ascending(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ 1 << 63 }

    /// Maps numbers to unsigned integers in the same order (IEEE 754: the bits of finite numbers of one sign are in their
    /// order).
    private static func ascending(_ value: Double) -> UInt64 {
        let bits = value.bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }
}

/// Collects places in an order: of all objects that are offered the first ones behind a place.
///
/// Holds at most twice as many as are wanted, and no object.
struct OrderedPlaces {
    private let order: ObjectOrder
    private let limit: Int
    private var found: [ObjectOrder.Place] = []
    /// Once there are enough: nothing behind this one is wanted.
    private var last: ObjectOrder.Place?

    init(_ order: ObjectOrder, limit: Int) {
        self.order = order
        self.limit = max(limit, 0)
    }

    mutating func take(_ place: ObjectOrder.Place) {
        if let after = order.after, !order.isBefore(after, place) { return }
        if let last, !order.isBefore(place, last) { return }
        found.append(place)
        if found.count > limit, found.count - limit >= limit { trim() }
    }

    private mutating func trim() {
        found.sort(by: order.isBefore)
        if found.count > limit { found.removeLast(found.count - limit) }
        if found.count == limit { last = found.last }
    }

    /// The places, in order.
    var places: [ObjectOrder.Place] {
        var ended = self
        ended.trim()
        return ended.found
    }
}
