package import SyncModel

/// The events of a stream that a reader's state holds.
///
/// In the order of arrival it holds all up to a position. In canonical order all up to a key, of what had arrived up to a
/// position: what arrives later with a smaller key is *late*. In either, also what a snapshot covers that it began with,
/// whether or not that is here yet.
package struct ConsumerCursor: Sendable, Hashable {
    package enum Order: Sendable, Hashable {
        case arrival
        case canonical
    }

    package var order: Order
    /// An arrival number, 0 before the first.
    package var position: Int64
    /// Canonical order only; nil before the first.
    package var key: CanonicalKey?
    /// The changes that the reader's first snapshot covers. In canonical order none of its events stands behind `key`.
    package var snapshot: VersionVector

    package init(
        order: Order = .arrival, position: Int64 = 0, key: CanonicalKey? = nil,
        snapshot: VersionVector = VersionVector()
    ) {
        self.order = order
        self.position = position
        self.key = key
        self.snapshot = snapshot
    }

    package func holds(_ key: CanonicalKey, at position: Int64) -> Bool {
        switch order {
        case .arrival: position <= self.position || snapshot.covers(key.dot)
        case .canonical:
            self.key.map { key <= $0 } ?? false && (position <= self.position || snapshot.covers(key.dot))
        }
    }

    package func holds(_ event: StoredEvent) -> Bool { holds(event.canonicalKey, at: event.position) }

    /// True if the event is not held and stands at or before the reader's key, in canonical order.
    func isLate(_ key: CanonicalKey, at position: Int64) -> Bool {
        order == .canonical && self.key.map { key <= $0 } ?? false && !holds(key, at: position)
    }
}

/// A durable cursor in a stream.
package struct Consumer: Sendable, Hashable {
    package let name: String
    package let stream: String
    /// The acknowledged position.
    package var cursor: ConsumerCursor
    /// Everything up to here was handed out at least once; in canonical order, of what stands up to `deliveredKey`.
    package var delivered: Int64
    package var deliveredKey: CanonicalKey?
    /// A restore that has begun: the cursor that the consumer has once its state is written down. Until then the consumer
    /// reads nothing, since its state is unknown.
    package var restore: Restore?

    package struct Restore: Sendable, Hashable {
        /// Names the snapshot.
        package let snapshot: String
        package let cursor: ConsumerCursor

        package init(snapshot: String, cursor: ConsumerCursor) {
            self.snapshot = snapshot
            self.cursor = cursor
        }
    }

    package var position: Int64 { cursor.position }

    package init(name: String, stream: String, position: Int64 = 0, delivered: Int64 = 0) {
        self.name = name
        self.stream = stream
        self.delivered = delivered
        cursor = ConsumerCursor(position: position)
    }
}

extension Consumer {
    /// True if nothing was read or restored: the consumer may still choose its order.
    package var isUnused: Bool {
        cursor == ConsumerCursor(order: cursor.order) && delivered == 0 && deliveredKey == nil && restore == nil
    }

    /// The cursor after an acknowledgement in the order of arrival. Beyond the newest event there is nothing to
    /// acknowledge: a cursor put there would skip events that are still to come.
    package mutating func acknowledge(_ position: Int64, newest: Int64) {
        cursor.position = max(cursor.position, min(max(position, 0), newest))
        delivered = max(delivered, cursor.position)
    }

    /// The same in canonical order: of what had arrived up to `position`, all up to `key` is handled.
    ///
    /// It goes back where the reader was told to rewind: then `position` is greater than before. An older answer that comes
    /// late may put it where it was; then it is told to rewind once more.
    package mutating func acknowledge(_ key: CanonicalKey, arrived position: Int64, newest: Int64) {
        let position = min(max(position, 0), newest)
        let isAhead = cursor.key.map { key > $0 } ?? true
        guard isAhead || position > cursor.position else { return }
        // What a snapshot held beyond it is undone; what of it is not here yet will come as any other event.
        if let known = cursor.key, key < known { cursor.snapshot = VersionVector() }
        cursor.key = key
        cursor.position = position
        deliver(upTo: key, arrived: position, newest: newest)
    }

    /// Notes what was handed out.
    package mutating func deliver(_ position: Int64, newest: Int64) {
        delivered = max(delivered, min(position, newest))
    }

    package mutating func deliver(upTo key: CanonicalKey, arrived position: Int64, newest: Int64) {
        delivered = max(delivered, min(position, newest))
        deliveredKey = max(deliveredKey ?? key, key)
    }

    /// After a rewind nothing behind it counts as handed out, but what comes with it.
    package mutating func deliverAnew(upTo key: CanonicalKey, arrived position: Int64) {
        delivered = position
        deliveredKey = key
    }

    /// Goes to a place that a person chose, also back: from here on its state is what they say it is.
    package mutating func move(to cursor: ConsumerCursor, newest: Int64) {
        self.cursor = ConsumerCursor(
            order: cursor.order, position: min(max(cursor.position, 0), newest), key: cursor.key)
        delivered = max(delivered, self.cursor.position)
        restore = nil
    }

    /// The state of the snapshot is written down: it holds that, and nothing else.
    /// - Returns: false when another restore was begun meanwhile, or none was.
    package mutating func finishRestore(of snapshot: String) -> Bool {
        guard let restore, restore.snapshot == snapshot else { return false }
        cursor = restore.cursor
        delivered = 0
        deliveredKey = nil
        self.restore = nil
        return true
    }

    package func wasHandedOut(_ event: StoredEvent) -> Bool {
        switch cursor.order {
        case .arrival: event.position <= delivered
        case .canonical:
            event.position <= delivered && (deliveredKey.map { event.canonicalKey <= $0 } ?? false)
        }
    }
}
