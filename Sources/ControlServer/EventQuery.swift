package import ControlAPI

/// The place where reading begins, and the number of events from there.
package struct EventStart: Sendable, Equatable {
    package var after: EventPosition
    package var count: Int

    package init(after: EventPosition, count: Int) {
        self.after = after
        self.count = count
    }
}

/// A query for events of a stream.
package struct EventQuery: Sendable, Equatable {
    package var space: String
    package var stream: String
    package var order: EventOrder
    /// The position to read after. Nil: from the consumer's cursor, or from the beginning without a consumer.
    package var after: EventPosition?
    /// Events handed out for a consumer are remembered, durably, before the page is returned: what is handed out again
    /// without having been acknowledged has `redelivered` set, also after a crash of either side.
    package var consumer: String?
    /// The type of events to read; nil for all. The server leaves the others out of the pages that it is given.
    package var type: String?
    /// True to report late events in canonical order, as for a consumer.
    package var rewinds = false

    package init(
        space: String, stream: String, order: EventOrder = .arrival, after: EventPosition? = nil,
        consumer: String? = nil
    ) {
        self.space = space
        self.stream = stream
        self.order = order
        self.after = after
        self.consumer = consumer
    }
}
