import SyncModel

/// Reads events back in either order.
struct EventRows {
    let log: LogRows
    private var access: SQLiteAccess { log.access }

    init(_ log: LogRows) { self.log = log }

    func events(_ query: EventQuery) throws(StoreError) -> [StoredEvent] {
        guard let stream = try log.findStream(query.stream) else { return [] }
        switch query.order {
        case .arrival(let position): return try arrival(query, stream, after: position)
        case .canonical(let key): return try CanonicalReader(log, query, stream: stream).page(after: key)
        }
    }

    private func arrival(_ query: EventQuery, _ stream: Int64, after position: Int64) throws(StoreError)
        -> [StoredEvent]
    {
        var page = EventPage(query)
        try access.forEach(
            """
            SELECT replica.replica, segment.first_position, run.places, segment.bytes
            FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
            WHERE run.stream = ? AND run.last_position > ? ORDER BY run.last_position
            """, .integer(stream), .integer(position)
        ) { row throws(StoreError) in
            let reader = try Self.reader(row, stream: query.stream)
            try Self.check(reader.forEach(from: position + 1) { page.take($0) })
            return !page.isFull
        }
        return page.events
    }

    /// How many events arrived after `position`: those of the run it falls into, and the runs behind by their totals.
    func count(stream name: String, after position: Int64) throws(StoreError) -> Int64 {
        guard let stream = try log.findStream(name) else { return 0 }
        var count: Int64 = 0
        try access.forEach(
            """
            SELECT replica.replica, segment.first_position, run.places, segment.bytes,
                (SELECT total FROM run WHERE stream = ?1 ORDER BY last_position DESC LIMIT 1) - run.total
            FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
            WHERE run.stream = ?1 AND run.last_position > ?2 ORDER BY run.last_position LIMIT 1
            """, .integer(stream), .integer(position)
        ) { row throws(StoreError) in
            count = row.integer(4)
            let reader = try Self.reader(row, stream: name)
            try Self.check(
                reader.forEach(from: position + 1) { _ in
                    count += 1
                    return true
                })
            return false
        }
        return count
    }

    /// Columns: replica, first position, places, bytes.
    static func reader(_ row: SQLRow, stream: String) throws(StoreError) -> RunReader {
        guard let replica = ReplicaID(bytes: row.blob(0)), let places = EventPlaces.decoded(row.blob(2)) else {
            throw .corrupt(detail: "a run's row does not read back")
        }
        return RunReader(
            replica: replica, stream: stream, firstPosition: row.integer(1), places: places, bytes: row.blob(3))
    }

    static func check(_ isSound: Bool) throws(StoreError) {
        if !isSound { throw .corrupt(detail: "the places of a stream do not fit its segment") }
    }

    func streams() throws(StoreError) -> [StreamSummary] {
        var streams: [StreamSummary] = []
        try access.forEach(
            """
            SELECT stream.name, run.total, run.last_position FROM stream JOIN run ON run.stream = stream.id
                AND run.last_position = (SELECT max(last_position) FROM run WHERE run.stream = stream.id)
            WHERE stream.space = ? ORDER BY stream.name
            """, .integer(log.spaceRow)
        ) { row throws(StoreError) in
            streams.append(StreamSummary(name: row.text(0), events: row.integer(1), lastPosition: row.integer(2)))
            return true
        }
        return streams
    }
}
