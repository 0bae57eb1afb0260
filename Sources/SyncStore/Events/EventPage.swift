/// The answer to one query as it fills: at most `limit` events and about `byteBudget` payload bytes, but at least one.
package struct EventPage: Sendable {
    private let limit: Int
    private var bytesLeft: Int
    package private(set) var events: [StoredEvent] = []

    package init(_ query: EventQuery) {
        limit = max(1, query.limit)
        bytesLeft = query.byteBudget
    }

    package var isFull: Bool { events.count >= limit || (bytesLeft <= 0 && !events.isEmpty) }

    /// - Returns: whether it can take another.
    package mutating func take(_ event: StoredEvent) -> Bool {
        guard !isFull else { return false }
        events.append(event)
        bytesLeft -= event.payload.count
        return !isFull
    }
}
