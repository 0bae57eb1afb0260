import SyncModel

/// Collects the objects of one page until its limits are reached.
struct ObjectPage {
    private var query: ObjectQuery
    /// The objects; empty if the query has an order of its own.
    private(set) var objects: [StoredObject] = []
    private var ordered: OrderedPlaces?
    private(set) var isFull = false
    /// The number of objects that were offered.
    private(set) var examined = 0
    /// The way on which they were found; nil before the first.
    private(set) var plan: QueryPlan?

    init(_ query: ObjectQuery) {
        self.query = query
        ordered = query.order.map { OrderedPlaces($0, limit: query.limit) }
    }

    /// The places in the query's own order.
    var places: [ObjectOrder.Place] { ordered?.places ?? [] }

    /// The greatest number of objects.
    var limit: Int { query.limit }

    /// True if as many places were found as are wanted. Those of objects offered later may come before them.
    var hasEnoughPlaces: Bool { ordered?.isFull ?? false }

    /// Begins a page of a query with an order.
    ///
    /// - Parameter sortedLimit: of more places than the query's limit, if all objects are read to find one.
    mutating func begin(_ plan: QueryPlan, sortedLimit: Int) {
        self.plan = plan
        if case .walk = plan { return }
        query.limit = max(query.limit, sortedLimit)
        ordered = query.order.map { OrderedPlaces($0, limit: query.limit) }
    }

    /// Takes the place of an object that the query wants.
    mutating func take(_ place: ObjectOrder.Place) { ordered?.take(place) }

    /// Takes the object if the query wants it.
    /// - Returns: whether there is room for more.
    mutating func take(_ object: StoredObject, _ schema: CollectionSchema?) -> Bool {
        guard !isFull else { return false }
        examined += 1
        guard object.meets(query.condition, schema) else { return true }
        if let order = query.order {
            ordered?.take(order.place(of: object, schema))
            return true
        }
        objects.append(object)
        isFull = objects.count >= query.limit
        return !isFull
    }
}
