import SyncModel

/// A walk through the index of a field in the order of a query that is sorted by it, group by group: objects with the same first
/// sort key, then those with the next one.
///
/// The index has an entry for each live object, sorted by canonical bytes. Results have the same order but for three things.
/// Integers and doubles lie apart in the index, so two lanes are merged. Of long texts only the beginning counts, and arrays and
/// objects are all equal, so many values are one group. Further sort keys and the id decide inside of a group.
///
/// Invariant: the groups come in the order of their keys, and an object of a later group comes behind all of an earlier one.
struct IndexWalk {
    /// The objects whose first sort key is the same.
    struct Group {
        /// As `ObjectOrder.ascendingKey` makes it.
        let key: [UInt8]
        /// The values in the index that have this key; sorted by id, their objects are not in the order of these.
        let ranges: [IndexRange]
    }

    /// Values that the index and the order sort alike.
    private struct Lane {
        /// Ascending, and apart from each other.
        var ranges: [IndexRange]
        /// The value at which the walk goes on; nil before it was looked up.
        var next: (value: [UInt8], key: [UInt8])?
    }

    let field: ExactString
    let isAscending: Bool
    /// The values among which the walk finds its groups.
    let ranges: [IndexRange]
    private let order: ObjectOrder
    /// The lanes that are left, those merged with each other together, in the order of the walk.
    private var bands: [[Lane]]

    /// - Parameters:
    ///   - field: the first sort key of the order.
    ///   - within: the values that are wanted, ascending and apart from each other; nil for all.
    init(_ order: ObjectOrder, by field: ExactString, within: [IndexRange]?) {
        self.field = field
        self.order = order
        let isDescending = order.steps.first?.isDescending ?? false
        let isAscending = isDescending == order.isReversed
        self.isAscending = isAscending
        ranges = within ?? [.all]
        var bands: [[Lane]] = IndexRange.bands.map { [ranges] lanes in
            lanes.map { lane in Lane(ranges: ranges.compactMap(lane.intersection)) }
        }
        let start = order.after.flatMap { Self.firstKey(of: $0, isDescending: isDescending) }.flatMap {
            IndexRange.places(of: $0, textLimit: order.textLimit)
        }
        if let start {
            for (lane, place) in start.places.enumerated() {
                bands[start.band][lane].ranges = bands[start.band][lane].ranges.compactMap {
                    $0.intersection(isAscending ? place.andAllBehind : place.andAllBefore)
                }
            }
            bands = isAscending ? Array(bands[start.band...]) : Array(bands[...start.band])
        }
        self.bands = isAscending ? bands : bands.reversed()
    }

    /// Returns the bytes of the first step of a place's key as if the step were ascending; nil if they are not such.
    private static func firstKey(of place: ObjectOrder.Place, isDescending: Bool) -> [UInt8]? {
        let bytes = isDescending ? place.key.map { ~$0 } : place.key
        let count: Int?
        switch bytes.first {
        case 0, 1, 2, 3, 6: count = 1
        case 4: count = 17
        case 5: count = bytes.firstIndex(of: 0).map { $0 + 1 }
        default: count = nil
        }
        guard let count, count <= bytes.count else { return nil }
        return Array(bytes.prefix(count))
    }

    /// Returns the next group; nil behind the last one.
    ///
    /// - Parameter nearest: returns the value of the index that comes first in a range, in the direction of the walk.
    mutating func next(
        _ nearest: (IndexRange) throws(StoreError) -> [UInt8]?
    ) throws(StoreError) -> Group? {
        while !bands.isEmpty {
            for lane in bands[0].indices { try lookUp(lane, nearest) }
            let keys = bands[0].compactMap(\.next?.key)
            let first = keys.min { left, right in
                isAscending ? left.lexicographicallyPrecedes(right) : right.lexicographicallyPrecedes(left)
            }
            if let first { return try take(first) }
            bands.removeFirst()
        }
        return nil
    }

    private mutating func lookUp(
        _ lane: Int, _ nearest: (IndexRange) throws(StoreError) -> [UInt8]?
    ) throws(StoreError) {
        while bands[0][lane].next == nil {
            let ranges = bands[0][lane].ranges
            guard let range = isAscending ? ranges.first : ranges.last else { return }
            if let value = try nearest(range) {
                bands[0][lane].next = (value, try key(of: value))
            } else if isAscending {
                bands[0][lane].ranges.removeFirst()
            } else {
                bands[0][lane].ranges.removeLast()
            }
        }
    }

    private func key(of value: [UInt8]) throws(StoreError) -> [UInt8] {
        if value.isEmpty { return order.ascendingKey(of: nil) }
        let shown: JSONValue = try ObjectRows.value(value, "a value of an index does not read back")
        return order.ascendingKey(of: shown)
    }

    /// Takes a group out of the lanes that have it next.
    private mutating func take(_ key: [UInt8]) throws(StoreError) -> Group {
        let places = IndexRange.places(of: key, textLimit: order.textLimit)?.places ?? []
        guard places.count == bands[0].count else {
            throw .corrupt(detail: "a value of an index has no place in an order")
        }
        var found: [IndexRange] = []
        for (lane, place) in places.enumerated() where bands[0][lane].next?.key == key {
            found += bands[0][lane].ranges.compactMap(place.intersection)
            let rest = isAscending ? place.allBehind : place.allBefore
            bands[0][lane].ranges = bands[0][lane].ranges.compactMap { range in rest.flatMap(range.intersection) }
            bands[0][lane].next = nil
        }
        return Group(key: key, ranges: found)
    }
}

extension IndexRange {
    /// Behind all values: no tag is 255.
    private static let end: [UInt8] = [255]
    private static let double = tag(.double(0))
    private static let text = tag(.string(""))
    private static let array = tag(.array([]))
    private static let integer: [UInt8] = [JSONValue.integer(.min).canonicalBytes[0]]

    private static func tag(_ value: JSONValue) -> [UInt8] { [value.canonicalBytes[0]] }

    /// Every entry of an index; also those of objects that show nothing in the field.
    static let all = made([], end)

    /// The values that an order compares with each other, ascending; each divided into lanes in which the index has the
    /// same order. Nothing, null, false and true; integers and doubles; texts; arrays and objects.
    static let bands: [[IndexRange]] = [
        [made([], integer)], [made(integer, double), made(double, text)], [made(text, array)], [made(array, end)],
    ]

    /// Returns the values that have a first sort key, in each lane of its band; nil if it is no key of a value. A lane of
    /// numbers has a place for it even if no value there has this key.
    ///
    /// - Parameter key: as `ObjectOrder.ascendingKey` makes it, or what a client made of it.
    static func places(of key: [UInt8], textLimit: Int) -> (band: Int, places: [IndexRange])? {
        switch key.first {
        case 0: return (0, [made([], [0])])
        case 1: return (0, [one(.null)])
        case 2: return (0, [one(.bool(false))])
        case 3: return (0, [one(.bool(true))])
        case 4:
            guard let number = ObjectOrder.number(key.dropFirst()) else { return nil }
            return (1, [one(.integer(number.integer)), one(.double(number.double))])
        case 5:
            // The bytes of a text are the same in both, up to the limit.
            let bytes = key.dropFirst().dropLast()
            guard key.last == 0, bytes.count <= textLimit, !bytes.contains(where: { $0 == 0 || $0 == 255 }) else {
                return nil
            }
            let start = text + bytes
            guard bytes.count == textLimit else { return (2, [made(start + [0], start + [0, 0])]) }
            return (2, [made(start, start.dropLast() + [start[start.count - 1] + 1])])
        case 6: return (3, [made(array, end)])
        default: return nil
        }
    }

    private static func one(_ value: JSONValue) -> IndexRange {
        made(value.canonicalBytes, value.canonicalBytes + [0])
    }

    private static func made(_ lower: [UInt8], _ upper: [UInt8]) -> IndexRange {
        guard let range = IndexRange(lower, upper) else { preconditionFailure("a range from \(lower) to \(upper)") }
        return range
    }

    var andAllBehind: IndexRange { Self.made(lower, Self.end) }
    var andAllBefore: IndexRange { Self.made([], upper) }
    /// Nil if no value is behind.
    var allBehind: IndexRange? { IndexRange(upper, Self.end) }
    /// Nil if no value is before.
    var allBefore: IndexRange? { IndexRange([], lower) }
}
