package import SyncModel

/// A selection of events of one stream, with an order and a page size.
package struct EventQuery: Sendable, Hashable {
    package enum Order: Sendable, Hashable {
        /// Events by arrival number, greater than `position`.
        case arrival(after: Int64)
        /// Events by (stamp, replica, counter), greater than the key; nil from the start.
        case canonical(after: CanonicalKey?)
    }

    package var space: SpaceID
    package var stream: String
    package var order: Order
    /// The greatest number of events in a page. A page has about `byteBudget` payload bytes at most, but at least one event.
    package var limit: Int
    package var byteBudget: Int

    package init(space: SpaceID, stream: String, order: Order, limit: Int, byteBudget: Int) {
        self.space = space
        self.stream = stream
        self.order = order
        self.limit = limit
        self.byteBudget = byteBudget
    }
}
