package import SyncModel

/// A selection of objects to read.
package struct ObjectQuery: Sendable, Hashable {
    /// A field, or a key below it, reads as this value, or has it as an element.
    package struct Condition: Sendable, Hashable {
        /// The path of the field; not empty.
        package let path: [ExactString]
        package let value: JSONValue
        package let isElement: Bool

        package init(path: [ExactString], value: JSONValue, isElement: Bool = false) {
            self.path = path
            self.value = value
            self.isElement = isElement
        }
    }

    package enum Selection: Sendable, Hashable {
        case standing(ObjectStanding)
        /// A person should look at it.
        case conflicted
    }

    package var space: SpaceID
    /// Nil: of every collection.
    package var collection: ExactString?
    package var selection: Selection
    /// Fields that show these values; a field the schema indexes is looked up, another is compared object by object.
    package var conditions: [Condition]
    /// Objects behind this one, in the order of (collection, id); nil from the first.
    package var after: ObjectKey?
    /// The order for `SQLiteStore.places`, an order of one collection that contains its own starting place. Nil: by
    /// (collection, id).
    package var order: ObjectOrder?
    /// The greatest number of objects.
    package var limit: Int

    package init(
        space: SpaceID, collection: ExactString?, selection: Selection, conditions: [Condition] = [],
        after: ObjectKey? = nil, order: ObjectOrder? = nil, limit: Int
    ) {
        precondition(order == nil || collection != nil && after == nil, "an order is of one collection")
        self.space = space
        self.collection = collection
        self.selection = selection
        self.conditions = conditions
        self.after = after
        self.order = order
        self.limit = limit
    }
}
