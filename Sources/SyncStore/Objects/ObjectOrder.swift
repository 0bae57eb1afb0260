package import SyncModel

/// An order of the objects of one collection. Objects that are equal in it follow each other by id.
package struct ObjectOrder: Sendable, Hashable {
    package enum Key: Sendable, Hashable {
        /// The stamp at which the first of the shown lives began: the same on every node.
        case created
        /// The time of the last change, by the author's clock.
        case changed
        /// The value that readers see in a field, or in a key below it: nothing, null, false and true, numbers, texts by
        /// their Unicode scalars, then all else. Of a text the first bytes count, up to 96 of all keys of the order together.
        case field([ExactString])
    }

    package struct Step: Sendable, Hashable {
        package let key: Key
        package let isDescending: Bool

        package init(_ key: Key, isDescending: Bool = false) {
            self.key = key
            self.isDescending = isDescending
        }
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

    package static let maximumSteps = 4
    /// A text has a tag before it and a byte behind it.
    package static let keyByteLimit = textBytes + 2 * maximumSteps
    private static let textBytes = 96

    /// Each decides between objects that are equal by those before it. Empty: by id.
    package var steps: [Step]
    package var isReversed: Bool
    /// The place behind which objects are read; nil from the first.
    package var after: Place?

    package init(_ steps: [Step], isReversed: Bool = false, after: Place? = nil) {
        precondition(steps.count <= Self.maximumSteps, "an order has \(steps.count) steps")
        self.steps = steps
        self.isReversed = isReversed
        self.after = after
    }

    /// Returns the place of an object.
    package func place(of object: StoredObject, _ schema: CollectionSchema?) -> Place {
        place(of: FieldValues(object, schema))
    }

    func place(of values: FieldValues) -> Place {
        let object = values.object
        var bytes: [UInt8] = []
        for step in steps {
            let start = bytes.count
            switch step.key {
            case .created: bytes.append(bigEndian: object.state.created?.rawValue ?? 0)
            case .changed: bytes.append(bigEndian: Self.ascending(object.changedMilliseconds))
            case .field(let path):
                Self.append(values.value(at: path), textLimit: textLimit, to: &bytes)
            }
            if step.isDescending { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }
        }
        return Place(key: bytes, id: object.key.id)
    }

    /// The number of bytes of a text that count, those that stand before others of a text included.
    var textLimit: Int { Self.textBytes / max(steps.count, 1) }

    /// Returns the bytes of a value in an ascending step.
    func ascendingKey(of value: JSONValue?) -> [UInt8] {
        var bytes: [UInt8] = []
        Self.append(value, textLimit: textLimit, to: &bytes)
        return bytes
    }

    func isBefore(_ left: Place, _ right: Place) -> Bool {
        let (first, second) = isReversed ? (right, left) : (left, right)
        if first.key != second.key { return first.key.lexicographicallyPrecedes(second.key) }
        return first.id < second.id
    }

    /// No bytes of one value are the beginning of those of another, so that those of several values can follow each other.
    private static func append(_ value: JSONValue?, textLimit: Int, to bytes: inout [UInt8]) {
        switch value {
        case nil: bytes.append(0)
        case .null: bytes.append(1)
        case .bool(let value): bytes.append(value ? 3 : 2)
        case .integer(let value): append(Double(value), value, to: &bytes)
        case .double(let value): append(value, Self.integer(of: value), to: &bytes)
        case .string(let text):
            bytes.append(5)
            let end = bytes.count + textLimit
            for byte in text.string.utf8 {
                guard bytes.count < end else { break }
                if byte < 2 { bytes.append(1) }
                bytes.append(byte < 2 ? byte + 1 : byte)
            }
            if bytes.count > end { bytes.removeLast() }
            bytes.append(0)
        case .array, .object: bytes.append(6)
        }
    }

    /// Appends a number: as a double, and for those that are one double but several integers as an integer.
    private static func append(_ double: Double, _ integer: Int64, to bytes: inout [UInt8]) {
        bytes.append(4)
        bytes.append(bigEndian: ascending(double))
        bytes.append(bigEndian: ascending(integer))
    }

    /// Returns the integer that a double has beside it in a key: itself without its fraction, or the nearest there is.
    static func integer(of value: Double) -> Int64 { value < 0x1p63 ? Int64(max(value, -0x1p63)) : .max }

    /// Returns the number of which `append` made the first bytes behind the tag; nil if it made them of none.
    static func number(_ bytes: ArraySlice<UInt8>) -> (double: Double, integer: Int64)? {
        guard bytes.count == 16 else { return nil }
        let words = [bytes.prefix(8), bytes.suffix(8)].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        let double = Double(bitPattern: words[0] >> 63 == 1 ? words[0] & ~(1 << 63) : ~words[0])
        let integer = Int64(bitPattern: words[1] ^ 1 << 63)
        let isOne = double.isFinite && (double != 0 || double.sign == .plus)
        return isOne && (Double(integer) == double || Self.integer(of: double) == integer) ? (double, integer) : nil
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

    /// True if as many were found as are wanted.
    var isFull: Bool { found.count >= limit }

    /// The places, in order.
    var places: [ObjectOrder.Place] {
        var ended = self
        ended.trim()
        return ended.found
    }
}
