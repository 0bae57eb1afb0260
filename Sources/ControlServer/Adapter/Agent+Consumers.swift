package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// Durable readers, and those who are told of what comes late.
extension Agent {
    /// The distance a cursor must move to be worth a write without events. A resting cursor costs no write, but a reader that
    /// waits beside a busy space should not scan all arrivals a thousand times.
    private static let worthMovingPositions: Int64 = 1_000

    /// Returns the next events of a consumer, or of a reader without one that follows in canonical order.
    func consumerPage(_ query: EventQuery, limit: Int) async throws(ControlError) -> ControlAPI.EventPage {
        let found: FoundPage
        if let first = try await reading({ () throws(ControlError) in try knownPage(query, limit: limit) }) {
            found = first
        } else {
            let consumer = try await readerTakingOrder(query)
            found = try await reading { () throws(ControlError) in try page(query, for: consumer, limit: limit) }
        }
        if let consumer = found.consumer {
            try await controlled { try await record(found.page, of: consumer, moving: query.after == nil) }
        }
        return ControlAPI.EventPage(
            query, found.page.events, streamExists: found.streamExists, rewind: found.page.rewind,
            newest: found.page.newest
        ) { event in found.page.rewind == nil && found.consumer?.wasHandedOut(event) ?? false }
    }

    /// The results of one read: the page, and the consumer as it was before.
    private struct FoundPage {
        let page: ConsumerPage
        let consumer: Consumer?
        let streamExists: Bool
    }

    /// Nil for a consumer that does not read in this order yet, or is in a restore.
    private func knownPage(_ query: EventQuery, limit: Int) throws(ControlError) -> FoundPage? {
        guard let name = query.consumer else { return try page(query, for: nil, limit: limit) }
        let known = try read { () throws(StoreError) in
            try store.findConsumer(name, stream: query.stream, space: .home)
        }
        guard let known, known.restore == nil, known.cursor.order == ConsumerCursor.Order(query.order) else {
            return nil
        }
        return try page(query, for: known, limit: limit)
    }

    private func page(
        _ query: EventQuery, for consumer: Consumer?, limit: Int
    ) throws(ControlError) -> FoundPage {
        var cursor = consumer?.cursor ?? ConsumerCursor(order: ConsumerCursor.Order(query.order))
        let place = try query.after.map { after throws(ControlError) in try EventPlace(after, query.order) }
        return try read { () throws(StoreError) in
            if let place {
                // A position of a reader who was not told says nothing of when: nothing before it is late then.
                cursor.position = if let known = place.position { known } else { try store.state().lastPosition }
                cursor.key = place.key
            }
            let page = try store.read(
                ConsumerQuery(
                    space: .home, stream: query.stream, cursor: cursor, limit: limit, byteBudget: Self.pageBytes))
            return FoundPage(
                page: page, consumer: consumer, streamExists: try exists(query.stream, holding: page.events))
        }
    }

    /// Returns the consumer of a query, and checks that it reads in the query's order. A consumer that never read takes that
    /// order from now on. Nil if the query names none.
    private func readerTakingOrder(_ query: EventQuery) async throws(ControlError) -> Consumer? {
        guard let name = query.consumer else { return nil }
        let (order, stream) = (ConsumerCursor.Order(query.order), query.stream)
        let consumer = try await controlled {
            try await update { store throws(StoreError) in
                try store.changeConsumer(name, stream: stream, space: .home) { consumer, _ in
                    if consumer.isUnused { consumer.cursor.order = order }
                }
            }
        }
        try check(consumer, reads: order)
        return consumer
    }

    private func check(_ consumer: Consumer, reads order: ConsumerCursor.Order) throws(ControlError) {
        if consumer.restore != nil {
            throw .restoreUnfinished(consumer: consumer.name, stream: consumer.stream)
        }
        guard consumer.cursor.order == order else {
            let word = consumer.cursor.order.word.rawValue
            throw ControlError(
                .consumerBound, "The consumer \"\(consumer.name)\" reads in the order \"\(word)\".",
                hint: "Read with --order \(word), or as another consumer.")
        }
    }

    /// Records durably which events are handed out, and the position up to which all have been, before the page is returned.
    private func record(_ page: ConsumerPage, of consumer: Consumer, moving: Bool) async throws {
        let before = consumer.cursor
        let covered = moving ? page.coveredPosition(before) : nil
        let isWorthIt =
            switch before.order {
            case .arrival: !before.snapshot.isEmpty && covered.map { $0 > before.position } ?? false
            case .canonical: covered.map { $0 > before.position + Self.worthMovingPositions } ?? false
            }
        guard let last = page.events.last.map({ ($0.position, $0.canonicalKey) }) else {
            if isWorthIt { try await change(consumer) { $0.move(to: covered, from: before) } }
            return
        }
        if before.order == .arrival, !isWorthIt, last.0 <= consumer.delivered { return }
        try await change(consumer) { consumer in
            switch before.order {
            case .arrival: consumer.deliver(last.0, newest: page.newest)
            case .canonical:
                if page.rewind == nil {
                    consumer.deliver(upTo: last.1, arrived: page.newest, newest: page.newest)
                } else {
                    consumer.deliverAnew(upTo: last.1, arrived: page.newest)
                }
            }
            if isWorthIt { consumer.move(to: covered, from: before) }
        }
    }

    private func change(_ consumer: Consumer, _ body: @escaping @Sendable (inout Consumer) -> Void) async throws {
        _ = try await update { store throws(StoreError) in
            try store.changeConsumer(consumer.name, stream: consumer.stream, space: .home) { known, _ in body(&known) }
        }
    }

    // MARK: Cursors

    /// Moves the cursor of (`consumer`, `stream`) to `position`, durably; a position before it changes nothing, except in
    /// canonical order behind a rewind.
    package func acknowledge(
        space: String, consumer: String, stream: String, position: EventPosition
    ) async throws(ControlError) {
        try checkSpace(space)
        let order: EventOrder = if case .arrival = position { .arrival } else { .canonical }
        let place = try EventPlace(position, order)
        let changed = try await controlled {
            try await update { store throws(StoreError) in
                try store.changeConsumer(consumer, stream: stream, space: .home) { known, newest in
                    if known.isUnused { known.cursor.order = place.order }
                    guard known.cursor.order == place.order, known.restore == nil else { return }
                    if let key = place.key {
                        known.acknowledge(key, arrived: place.position ?? known.cursor.position, newest: newest)
                    } else {
                        known.acknowledge(place.position ?? 0, newest: newest)
                    }
                }
            }
        }
        try check(changed, reads: place.order)
    }

    /// Returns the consumers by name, then stream.
    package func consumers(space: String) async throws(ControlError) -> [ConsumerEntry] {
        try checkSpace(space)
        return try await stored { () throws(StoreError) in
            try store.consumers(of: .home).map { consumer throws(StoreError) in try entry(of: consumer) }
        }
    }

    func entry(of consumer: Consumer) throws(StoreError) -> ConsumerEntry {
        let cursor = consumer.cursor
        let place = EventPlace(order: cursor.order, position: cursor.position, key: cursor.key)
        let isAtStart = cursor.order == .arrival ? cursor.position == 0 : cursor.key == nil
        return ConsumerEntry(
            name: consumer.name, stream: consumer.stream, order: cursor.order.word,
            position: isAtStart ? nil : place.text,
            behind: Int(try store.eventCount(stream: consumer.stream, space: .home, beyond: cursor)),
            restoring: consumer.restore != nil)
    }

    /// Moves a cursor to `position`, also backwards; creates the consumer when `stream` is given. Without `stream` the
    /// consumer must read exactly one: `unknown_consumer` for none, `consumer_bound` for several.
    package func setConsumer(
        space: String, name: String, stream: String?, position: EventPosition
    ) async throws(ControlError) -> ConsumerEntry {
        try checkSpace(space)
        let known = try await stored { () throws(StoreError) in
            try store.consumers(of: .home).filter { $0.name == name }
        }
        let target: String
        if let stream {
            target = stream
        } else {
            guard let first = known.first else {
                throw ControlError(
                    .unknownConsumer, "There is no consumer \"\(name)\".",
                    hint: "A consumer begins with `lanyard events STREAM --consumer \(name)`.")
            }
            guard known.count == 1 else {
                throw ControlError(
                    .consumerBound, "The consumer \"\(name)\" reads several streams.", hint: "Say which one.")
            }
            target = first.stream
        }
        // The beginning is one in either order, so the consumer keeps its own.
        var order: EventOrder = if case .canonical = position { .canonical } else { .arrival }
        if position == .arrival(0), let known = known.first(where: { $0.stream == target }) {
            order = known.cursor.order.word
        }
        let place = try EventPlace(position, order)
        let moved = try await controlled {
            try await update { store throws(StoreError) in
                try store.changeConsumer(name, stream: target, space: .home) { consumer, newest in
                    let start = place.order == .canonical && place.key == nil ? 0 : newest
                    let cursor = ConsumerCursor(
                        order: place.order, position: place.position ?? start, key: place.key)
                    consumer.move(to: cursor, newest: newest)
                }
            }
        }
        return try await stored { () throws(StoreError) in try entry(of: moved) }
    }

    /// Forgets a consumer's cursors in all streams. Returns false when there were none.
    package func removeConsumer(space: String, name: String) async throws(ControlError) -> Bool {
        try checkSpace(space)
        return try await controlled {
            try await update { store throws(StoreError) in try store.removeConsumer(name, space: .home) }
        }
    }
}

extension Consumer {
    /// Moves the cursor to `position`, unless it was moved since `before`.
    fileprivate mutating func move(to position: Int64?, from before: ConsumerCursor) {
        guard cursor == before, let position else { return }
        cursor.position = position
    }
}
