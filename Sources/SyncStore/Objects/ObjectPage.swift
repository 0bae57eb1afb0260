import SyncModel

/// Collects the objects of one page until its limits are reached.
struct ObjectPage {
    private let query: ObjectQuery
    private(set) var objects: [StoredObject] = []
    private(set) var isFull = false

    init(_ query: ObjectQuery) { self.query = query }

    /// Takes the object if the query wants it.
    /// - Returns: whether there is room for more.
    mutating func take(_ object: StoredObject, _ schema: CollectionSchema?) -> Bool {
        guard !isFull else { return false }
        if object.meets(query.conditions, schema) { objects.append(object) }
        isFull = objects.count >= query.limit
        return !isFull
    }
}
