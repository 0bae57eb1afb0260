package import SyncModel

/// The result of a query over one collection, kept up to date from change to change: the places of its objects, in order,
/// without their contents.
///
/// A result with a limit keeps more places than it shows, so that an object that leaves can be replaced without a search.
/// Invariant: `places` is sorted, and holds every object that meets the condition up to its last place; all of them if
/// `isWhole`.
package struct LiveResult: Sendable {
    /// The objects that a result without a limit may hold; a place takes some 150 bytes.
    package static let maximumObjects = 100_000
    private static let sparePlaces = 1_000

    /// Has an order, and no place to begin behind.
    package let query: ObjectQuery
    /// The schema by which objects were read: with another one the result is searched anew.
    package let schema: CollectionSchema?
    /// The position up to which changes are part of the result.
    package internal(set) var position: Int64
    private let order: ObjectOrder
    private var places: [ObjectOrder.Place]
    private var keys: [ExactString: [UInt8]] = [:]
    private var isWhole: Bool
    /// The places that were shown before the changes of this step; nil without a limit.
    private var shownBefore: [ObjectOrder.Place]?
    /// The objects that changed in this step, with their keys before it; nil for one that was not part of the result.
    private var touched: [ExactString: [UInt8]?] = [:]

    /// - Parameter places: sorted, as many as `capacity` if there are more.
    init(
        _ query: ObjectQuery, _ order: ObjectOrder, schema: CollectionSchema?, position: Int64,
        places: [ObjectOrder.Place]
    ) {
        self.query = query
        self.order = order
        self.schema = schema
        self.position = position
        self.places = places
        isWhole = places.count < Self.capacity(query)
        for place in places { keys[place.id] = place.key }
    }

    /// The number of places that a result of the query keeps.
    static func capacity(_ query: ObjectQuery) -> Int {
        query.limit == .max ? maximumObjects + 1 : query.limit + max(query.limit, sparePlaces)
    }

    /// The number of places that may be kept without a further search.
    package var reservedCount: Int { query.limit == .max ? places.count : Self.capacity(query) }

    package var isEmpty: Bool { places.isEmpty }

    /// True if a result without a limit has outgrown its bound.
    package var isTooLarge: Bool { query.limit == .max && places.count > Self.maximumObjects }

    /// The ids of the objects that the result shows, in order.
    package var ids: [ExactString] { ids(0..<query.limit) }

    /// Returns the ids at some indices, as far as there are any.
    package func ids(_ indices: Range<Int>) -> [ExactString] {
        places[min(indices.lowerBound, places.count)..<min(indices.upperBound, query.limit, places.count)].map(\.id)
    }

    var touchedCount: Int { touched.count }

    func hasTouched(_ id: ExactString) -> Bool { touched[id] != nil }

    /// Returns the index at which an object is shown; nil if it is not.
    func index(of id: ExactString) -> Int? {
        guard let key = keys[id] else { return nil }
        let index = index(ObjectOrder.Place(key: key, id: id))
        return index < query.limit ? index : nil
    }

    /// Takes over an object as it is behind a change. Costs nothing that grows with the result if the object is and was not
    /// part of it.
    mutating func take(_ values: FieldValues) {
        let object = values.object
        guard object.position > position else { return }
        let id = object.key.id
        let before = keys[id]
        let isMet = object.summary.standing == .live && (query.condition?.holds(values.value) ?? true)
        guard before != nil || isMet else { return }
        let place = isMet ? order.place(of: values) : nil
        // What lies behind the last place that is kept is found by the next search.
        if before == nil, let place, !isWhole, isBehindAll(place) { return }
        rememberShown()
        if touched[id] == nil { touched.updateValue(before, forKey: id) }
        remove(id)
        if let place, isWhole || !isBehindAll(place) { insert(place) }
    }

    private mutating func rememberShown() {
        if shownBefore == nil, query.limit != .max { shownBefore = Array(places.prefix(query.limit)) }
    }

    private func isBehindAll(_ place: ObjectOrder.Place) -> Bool {
        places.last.map { order.isBefore($0, place) } ?? true
    }

    /// Forgets an object that a reader was never shown.
    package mutating func remove(_ id: ExactString) {
        guard let key = keys.removeValue(forKey: id) else { return }
        places.remove(at: index(ObjectOrder.Place(key: key, id: id)))
    }

    private mutating func insert(_ place: ObjectOrder.Place) {
        places.insert(place, at: index(place))
        keys[place.id] = place.key
        let capacity = Self.capacity(query)
        guard places.count > capacity else { return }
        for place in places[capacity...] { keys[place.id] = nil }
        places.removeLast(places.count - capacity)
        isWhole = false
    }

    /// Returns the index of the first place that is not before this one.
    private func index(_ place: ObjectOrder.Place) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if order.isBefore(places[middle], place) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Steps

    /// The search for more places, if fewer are left than are shown; nil if there are enough.
    var refilling: ObjectQuery? {
        guard !isWhole, places.count < query.limit else { return nil }
        var query = query
        query.order = order
        query.order?.after = places.last
        query.limit = Self.capacity(query) - places.count
        return query
    }

    /// Adds the places that `refilling` found.
    mutating func refill(_ found: [ObjectOrder.Place]) {
        rememberShown()
        isWhole = places.count + found.count < Self.capacity(query)
        // An order may have changed without a change of the object; it keeps the place that it has.
        for place in found where keys[place.id] == nil {
            places.append(place)
            keys[place.id] = place.key
        }
    }

    /// Ends the step at a position, and returns what it changed of what is shown; nil for nothing.
    mutating func endStep(at position: Int64) -> LiveDifference? {
        self.position = position
        defer { (touched, shownBefore) = ([:], nil) }
        guard !touched.isEmpty || shownBefore != nil else { return nil }
        var difference = LiveDifference()
        if let shownBefore {
            let before = Dictionary(uniqueKeysWithValues: shownBefore.map { ($0.id, $0.key) })
            let shown = places.prefix(query.limit)
            let now = Set(shown.map(\.id))
            difference.removed = shownBefore.map(\.id).filter { !now.contains($0) }
            for (index, place) in shown.enumerated() {
                guard let key = before[place.id] else {
                    difference.placed.append(.init(kind: .inserted, index: index, id: place.id))
                    continue
                }
                guard touched[place.id] != nil else { continue }
                difference.placed.append(.init(kind: key == place.key ? .changed : .moved, index: index, id: place.id))
            }
        } else {
            for (id, before) in touched {
                guard let key = keys[id], let index = index(of: id) else {
                    if before != nil { difference.removed.append(id) }
                    continue
                }
                let kind: LiveDifference.Kind = before == nil ? .inserted : before == key ? .changed : .moved
                difference.placed.append(.init(kind: kind, index: index, id: id))
            }
            difference.removed.sort()
            difference.placed.sort { $0.index < $1.index }
        }
        return difference.isEmpty ? nil : difference
    }
}

/// The difference between two moments of a `LiveResult`.
///
/// A reader takes out every object that is named, then inserts those that are placed, in order, each at its index.
package struct LiveDifference: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The reader has not been shown it, or had it taken out.
        case inserted
        /// Its fields changed, and its place in the order stayed.
        case changed
        /// Its place in the order changed.
        case moved
    }

    package struct Placed: Sendable, Hashable {
        package let kind: Kind
        /// The index in the result behind the step.
        package let index: Int
        package let id: ExactString
    }

    package var removed: [ExactString] = []
    /// By ascending index.
    package var placed: [Placed] = []

    package var isEmpty: Bool { removed.isEmpty && placed.isEmpty }
}
