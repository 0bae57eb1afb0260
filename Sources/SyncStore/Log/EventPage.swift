package import SyncModel

extension StoredEvent {
    package var canonicalKey: CanonicalKey { CanonicalKey(stamp: stamp, dot: dot) }
}

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

extension Consumer {
    /// The cursor after an acknowledgement. Beyond the newest event there is nothing to acknowledge: a cursor put there
    /// would skip events that are still to come.
    func acknowledging(_ position: Int64, newest: Int64, rewinding: Bool) -> Consumer {
        let bounded = min(max(position, 0), newest)
        let moved = rewinding ? bounded : max(bounded, self.position)
        return Consumer(name: name, stream: stream, position: moved, delivered: max(delivered, moved))
    }

    func delivering(_ position: Int64, newest: Int64) -> Consumer {
        Consumer(
            name: name, stream: stream, position: self.position, delivered: max(delivered, min(position, newest)))
    }
}
