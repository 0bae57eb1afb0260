package import SyncModel

extension SQLiteStore {
    package func consumers(of space: SpaceID) throws(StoreError) -> [Consumer] {
        try readLog(space) { rows throws(StoreError) in try rows.consumers() } ?? []
    }

    /// Returns the consumer; nil when it never read the stream.
    package func findConsumer(_ name: String, stream: String, space: SpaceID) throws(StoreError) -> Consumer? {
        try readLog(space) { rows throws(StoreError) in try rows.consumer(name, stream) } ?? nil
    }

    /// Changes a consumer in one transaction, made when it is unknown. `change` is told the newest arrival number; it may be
    /// called twice, and what it leaves as it was costs no write.
    /// - Returns: the consumer as it is now.
    package func changeConsumer(
        _ name: String, stream: String, space: SpaceID, _ change: (inout Consumer, _ newest: Int64) -> Void
    ) throws(StoreError) -> Consumer {
        let known = try readLog(space) { rows throws(StoreError) -> (Consumer?, Int64) in
            (try rows.consumer(name, stream), try rows.lastPosition())
        }
        if case (let consumer?, let newest)? = known {
            var changed = consumer
            change(&changed, newest)
            if changed == consumer { return consumer }
        }
        return try update { access throws(StoreError) in
            guard let rows = try LogRows(access, space: space) else { throw .corrupt(detail: "the space has no row") }
            var changed = try rows.consumer(name, stream) ?? Consumer(name: name, stream: stream)
            change(&changed, try rows.lastPosition())
            try rows.write(changed)
            return changed
        }
    }

    /// Creates the consumer at position 0 when it is unknown.
    package func consumer(_ name: String, stream: String, space: SpaceID) throws(StoreError) -> Consumer {
        if let known = try findConsumer(name, stream: stream, space: space) { return known }
        return try changeConsumer(name, stream: stream, space: space) { _, _ in }
    }

    /// Moves the cursor to where the client acknowledged; never backwards unless `rewinding`.
    package func acknowledge(
        consumer: String, stream: String, space: SpaceID, position: Int64, rewinding: Bool
    ) throws(StoreError) {
        _ = try changeConsumer(consumer, stream: stream, space: space) { known, newest in
            if rewinding {
                known.move(to: ConsumerCursor(position: position), newest: newest)
            } else {
                known.acknowledge(position, newest: newest)
            }
        }
    }

    /// Records how far events were handed out, so that the ones given twice can be marked `redelivered`.
    package func recordDelivered(
        consumer: String, stream: String, space: SpaceID, position: Int64
    ) throws(StoreError) {
        _ = try changeConsumer(consumer, stream: stream, space: space) { $0.deliver(position, newest: $1) }
    }

    /// - Returns: false when there was none.
    package func removeConsumer(_ name: String, space: SpaceID) throws(StoreError) -> Bool {
        let isKnown = try consumers(of: space).contains { Name.Bytes($0.name) == Name.Bytes(name) }
        guard isKnown else { return false }
        try update { access throws(StoreError) in
            guard let rows = try LogRows(access, space: space) else { return }
            for table in ["consumer", "consumer_restore"] {
                try access.run(
                    "DELETE FROM \(table) WHERE space = ? AND name = ?", .integer(rows.spaceRow), .text(name))
            }
        }
        return true
    }

    /// The next events that a reader's state does not hold. What a snapshot covers as a whole is passed over unread.
    package func read(_ query: ConsumerQuery) throws(StoreError) -> ConsumerPage {
        try readLog(query.space) { rows throws(StoreError) in try ConsumerRows(rows, query.cursor).page(query) }
            ?? ConsumerPage()
    }

    /// Returns the number of the stream's events that the cursor does not hold.
    package func eventCount(
        stream: String, space: SpaceID, beyond cursor: ConsumerCursor
    ) throws(StoreError) -> Int64 {
        try readLog(space) { rows throws(StoreError) in try ConsumerRows(rows, cursor).count(of: stream) } ?? 0
    }

    /// Exactly the stream's events that the state holds, as a vector: of each replica all up to the last one held. Events that
    /// are kept and not shown (of a `latestOnly` stream) count, because elsewhere they may be shown yet.
    package func vector(
        of cursor: ConsumerCursor, stream: String, space: SpaceID
    ) throws(StoreError) -> VersionVector {
        try readLog(space) { rows throws(StoreError) in try ConsumerRows(rows, cursor).vector(of: stream) }
            ?? cursor.snapshot
    }
}

extension LogRows {
    private static let consumerRows =
        """
        SELECT consumer.name, consumer.stream, position, delivered, consumer.is_canonical, consumer.key, delivered_key,
            consumer.snapshot, consumer_restore.id, consumer_restore.is_canonical, consumer_restore.key,
            consumer_restore.snapshot
        FROM consumer LEFT JOIN consumer_restore ON consumer_restore.space = consumer.space
            AND consumer_restore.name = consumer.name AND consumer_restore.stream = consumer.stream
        WHERE consumer.space = ?
        """

    fileprivate func consumers() throws(StoreError) -> [Consumer] {
        var consumers: [Consumer] = []
        try access.forEach(
            "\(Self.consumerRows) ORDER BY consumer.name, consumer.stream", .integer(spaceRow)
        ) { row throws(StoreError) in
            consumers.append(try Self.consumer(row))
            return true
        }
        return consumers
    }

    fileprivate func consumer(_ name: String, _ stream: String) throws(StoreError) -> Consumer? {
        try access.first(
            "\(Self.consumerRows) AND consumer.name = ? AND consumer.stream = ?", .integer(spaceRow), .text(name),
            .text(stream)
        ) { row throws(StoreError) in try Self.consumer(row) }
    }

    private static func consumer(_ row: SQLRow) throws(StoreError) -> Consumer {
        var consumer = Consumer(
            name: row.text(0), stream: row.text(1), position: row.integer(2), delivered: row.integer(3))
        consumer.cursor = try cursor(row, 4, position: row.integer(2))
        consumer.deliveredKey = try key(row, 6)
        if !row.isNull(8) {
            let cursor = ConsumerCursor(
                order: row.integer(9) == 1 ? .canonical : .arrival, key: try key(row, 10),
                snapshot: try vector(row, 11))
            consumer.restore = Consumer.Restore(snapshot: row.text(8), cursor: cursor)
        }
        return consumer
    }

    private static func cursor(
        _ row: SQLRow, _ column: Int32, position: Int64
    ) throws(StoreError) -> ConsumerCursor {
        ConsumerCursor(
            order: row.integer(column) == 1 ? .canonical : .arrival, position: position,
            key: try key(row, column + 1), snapshot: try vector(row, column + 3))
    }

    private static func key(_ row: SQLRow, _ column: Int32) throws(StoreError) -> CanonicalKey? {
        if row.isNull(column) { return nil }
        guard let key = CanonicalKey(bytes: row.blob(column)) else { throw .corrupt(detail: "a consumer's key") }
        return key
    }

    private static func vector(_ row: SQLRow, _ column: Int32) throws(StoreError) -> VersionVector {
        if row.isNull(column) { return VersionVector() }
        guard let vector = VectorColumn.decoded(row.blob(column)) else {
            throw .corrupt(detail: "a consumer's vector does not read back")
        }
        return vector
    }

    fileprivate func write(_ consumer: Consumer) throws(StoreError) {
        let cursor = consumer.cursor
        let snapshot = cursor.snapshot.isEmpty ? nil : VectorColumn.encoded(cursor.snapshot)
        try access.run(
            """
            INSERT OR REPLACE INTO consumer
                (space, name, stream, position, delivered, is_canonical, key, delivered_key, snapshot)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .integer(spaceRow), .text(consumer.name), .text(consumer.stream), .integer(cursor.position),
            .integer(consumer.delivered), .integer(cursor.order == .canonical ? 1 : 0), .blob(cursor.key?.bytes),
            .blob(consumer.deliveredKey?.bytes), .blob(snapshot))
        guard let restore = consumer.restore else {
            try access.run(
                "DELETE FROM consumer_restore WHERE space = ? AND name = ? AND stream = ?", .integer(spaceRow),
                .text(consumer.name), .text(consumer.stream))
            return
        }
        try access.run(
            """
            INSERT OR REPLACE INTO consumer_restore (space, name, stream, id, is_canonical, key, snapshot)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, .integer(spaceRow), .text(consumer.name), .text(consumer.stream), .text(restore.snapshot),
            .integer(restore.cursor.order == .canonical ? 1 : 0), .blob(restore.cursor.key?.bytes),
            .blob(VectorColumn.encoded(restore.cursor.snapshot)))
    }
}
