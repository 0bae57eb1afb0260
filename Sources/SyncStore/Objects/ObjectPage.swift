import SyncModel

/// Collects the objects of one page until its limits are reached.
struct ObjectPage {
    private let query: ObjectQuery
    /// The objects; empty if the query has an order of its own.
    private(set) var objects: [StoredObject] = []
    private var ordered: OrderedPlaces?
    private(set) var isFull = false

    init(_ query: ObjectQuery) {
        self.query = query
        ordered = query.order.map { OrderedPlaces($0, limit: query.limit) }
    }

    /// The places in the query's own order.
    var places: [ObjectOrder.Place] { ordered?.places ?? [] }

    /// Takes the object if the query wants it.
    /// - Returns: whether there is room for more.
    mutating func take(_ object: StoredObject, _ schema: CollectionSchema?) -> Bool {
        guard !isFull else { return false }
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
