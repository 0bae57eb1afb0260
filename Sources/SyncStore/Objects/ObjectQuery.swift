package import SyncModel

/// A selection of objects to read.
package struct ObjectQuery: Sendable, Hashable {
    package enum Selection: Sendable, Hashable {
        case standing(ObjectStanding)
        /// A person should look at it.
        case conflicted
    }

    package var space: SpaceID
    /// Nil: of every collection.
    package var collection: ExactString?
    package var selection: Selection
    /// Nil: every object. Fields that the schema indexes are looked up where the condition allows it.
    package var condition: Condition?
    /// Objects behind this one, in the order of (collection, id); nil from the first.
    package var after: ObjectKey?
    /// The order for `SQLiteStore.places`, an order of one collection that contains its own starting place. Nil: by
    /// (collection, id).
    package var order: ObjectOrder?
    /// The greatest number of objects.
    package var limit: Int

    package init(
        space: SpaceID, collection: ExactString?, selection: Selection, condition: Condition? = nil,
        after: ObjectKey? = nil, order: ObjectOrder? = nil, limit: Int
    ) {
        precondition(order == nil || collection != nil && after == nil, "an order is of one collection")
        self.space = space
        self.collection = collection
        self.selection = selection
        self.condition = condition
        self.after = after
        self.order = order
        self.limit = limit
    }
}
