package import SyncModel

/// A request for the events that a reader lacks of a stream, a bounded number at a time.
package struct ConsumerQuery: Sendable, Hashable {
    package var space: SpaceID
    package var stream: String
    package var cursor: ConsumerCursor
    /// The greatest number of events in a page. A page has about `byteBudget` payload bytes at most, but at least one event.
    package var limit: Int
    package var byteBudget: Int

    package init(space: SpaceID, stream: String, cursor: ConsumerCursor, limit: Int, byteBudget: Int) {
        self.space = space
        self.stream = stream
        self.cursor = cursor
        self.limit = limit
        self.byteBudget = byteBudget
    }
}

/// The next events that a reader's state does not hold, in its order.
package struct ConsumerPage: Sendable, Equatable {
    package var events: [StoredEvent] = []
    /// Canonical order: something arrived late. Everything behind this key is undone, and `events` begin behind it.
    package var rewind: CanonicalKey?
    /// The arrival number of the newest event of the space, of the moment at which this was read.
    package var newest: Int64 = 0

    package init() {}

    /// Returns the arrival number up to which the reader's state holds all events of the stream. The reader may move there,
    /// and need not look through what a snapshot covers a second time. Nil if there is no such number.
    package func coveredPosition(_ cursor: ConsumerCursor) -> Int64? {
        switch cursor.order {
        case .arrival: max(cursor.position, events.first.map { $0.position - 1 } ?? newest)
        case .canonical: rewind == nil && cursor.key != nil ? max(cursor.position, newest) : nil
        }
    }
}

extension ConsumerQuery {
    /// The page of what is shown of a stream, in the order of arrival: short, obvious, and as slow as the stream is long.
    func page(of shown: [StoredEvent], newest: Int64) -> ConsumerPage {
        var page = ConsumerPage()
        page.newest = newest
        var filling = EventPage(
            EventQuery(
                space: space, stream: stream, order: .arrival(after: 0), limit: limit, byteBudget: byteBudget))
        switch cursor.order {
        case .arrival:
            for event in shown where !cursor.holds(event) && !filling.take(event) { break }
        case .canonical:
            let late = shown.filter { cursor.isLate($0.canonicalKey, at: $0.position) }.map(\.canonicalKey).min()
            page.rewind = late?.predecessor
            let start = page.rewind ?? cursor.key
            for event in shown.sorted(by: { $0.canonicalKey < $1.canonicalKey })
            where start.map({ event.canonicalKey > $0 }) ?? true {
                if !filling.take(event) { break }
            }
        }
        page.events = filling.events
        return page
    }
}
