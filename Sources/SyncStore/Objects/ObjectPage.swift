import SyncModel

/// Collects the objects of one page until its limits are reached.
struct ObjectPage {
    private let query: ObjectQuery
    private var listed: [StoredObject] = []
    /// Where the query has an order of its own.
    private var ordered: OrderedObjects?
    private(set) var isFull = false

    init(_ query: ObjectQuery) {
        self.query = query
        ordered = query.order.map { OrderedObjects($0, limit: query.limit) }
    }

    var objects: [StoredObject] { ordered?.objects ?? listed }

    /// Takes the object if the query wants it.
    /// - Returns: whether there is room for more.
    mutating func take(_ object: StoredObject, _ schema: CollectionSchema?) -> Bool {
        guard !isFull else { return false }
        guard object.meets(query.conditions, schema) else { return true }
        if ordered?.take(object, schema) != nil { return true }
        listed.append(object)
        isFull = listed.count >= query.limit
        return !isFull
    }
}
