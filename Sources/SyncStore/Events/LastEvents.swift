/// A request for the place where the last events of a stream begin, in order of arrival.
package struct LastEvents: Sendable, Hashable {
    package var stream: String
    /// The number of events, at least 1.
    package var count: Int
    /// The position below which events count; nil for all.
    package var before: Int64?
    /// The type of the events that count; nil for all.
    package var type: String?

    package init(stream: String, count: Int, before: Int64? = nil, type: String? = nil) {
        self.stream = stream
        self.count = count
        self.before = before
        self.type = type
    }

    /// The place where the events begin, and their number.
    package struct Place: Sendable, Hashable {
        /// The arrival number behind which they come; of none, one behind which nothing comes.
        package let after: Int64
        package let count: Int
    }

    func takes(_ event: StoredEvent) -> Bool {
        (before.map { event.position < $0 } ?? true) && (type.map { event.type == $0 } ?? true)
    }
}

/// Walks back through runs until enough events were seen.
struct LastEventsWalk {
    private let query: LastEvents
    private var missing: Int
    /// The position of the earliest event counted.
    private(set) var start: Int64?

    init(_ query: LastEvents) {
        self.query = query
        missing = query.count
    }

    var isDone: Bool { missing <= 0 }

    var found: LastEvents.Place {
        LastEvents.Place(after: start.map { $0 - 1 } ?? .max, count: query.count - missing)
    }

    /// Counts the events of a run, ascending by position.
    mutating func take(_ events: [StoredEvent]) {
        for event in events.reversed() where !isDone && query.takes(event) {
            start = event.position
            missing -= 1
        }
    }
}
