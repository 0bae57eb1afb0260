import SyncModel

/// Reads events back in either order.
struct EventRows {
    let log: LogRows
    private var access: SQLiteAccess { log.access }

    init(_ log: LogRows) { self.log = log }

    func events(_ query: EventQuery) throws(StoreError) -> [StoredEvent] {
        guard let stream = try log.findStream(query.stream) else { return [] }
        if try StreamRows(log).isLatestOnly(stream) { return try latest(query, stream) }
        switch query.order {
        case .arrival(let position): return try arrival(query, stream, after: position)
        case .canonical(let key): return try CanonicalReader(log, query, stream: stream).page(after: key)
        }
    }

    /// Every event that is kept, also those beyond a strict end, in the order of arrival.
    func forEach(
        _ stream: Int64, _ name: String, _ body: (StoredEvent) throws(StoreError) -> Void
    ) throws(StoreError) {
        let hidden = HiddenEvents(dropped: try StreamRows(log).dropped(of: stream))
        try access.forEach(
            """
            SELECT replica.replica, segment.first_position, run.places, segment.bytes
            FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
            WHERE run.stream = ? ORDER BY run.last_position
            """, .integer(stream)
        ) { row throws(StoreError) in
            var events: [StoredEvent] = []
            let isSound = try Self.reader(row, stream: name, hidden: hidden).forEach(from: Int64(0)) { event in
                events.append(event)
                return true
            }
            try Self.check(isSound)
            for event in events { try body(event) }
            return true
        }
    }

    /// Returns events of a stream that shows only the greatest event per type.
    private func latest(
        _ query: EventQuery, _ stream: Int64, where isWanted: (RankedEvent) -> Bool = { _ in true }
    ) throws(StoreError) -> [StoredEvent] {
        var page = EventPage(query)
        let name = ExactString(query.stream)
        var found = try StreamRows(log).latestEvents(of: name).filter(isWanted)
        switch query.order {
        case .arrival(let position):
            found = found.filter { $0.position > position }.sorted { $0.position < $1.position }
        case .canonical(let key):
            found = found.filter { event in key.map { event.key > $0 } ?? true }.sorted { $0.key < $1.key }
        }
        for event in found {
            let isMore = page.take(try self.event(at: event.position, stream, query.stream))
            if !isMore { break }
        }
        return page.events
    }

    /// Returns the events at these positions, in the order of the query and at most one page.
    func events(_ query: EventQuery, at positions: Set<Int64>) throws(StoreError) -> [StoredEvent] {
        guard let stream = try log.findStream(query.stream) else { return [] }
        return try latest(query, stream) { positions.contains($0.position) }
    }

    private func event(at position: Int64, _ stream: Int64, _ name: String) throws(StoreError) -> StoredEvent {
        let hidden = try StreamRows(log).hidden(of: stream)
        let found = try access.first(
            """
            SELECT replica.replica, segment.first_position, run.places, segment.bytes
            FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
            WHERE run.stream = ? AND run.last_position >= ? ORDER BY run.last_position LIMIT 1
            """, .integer(stream), .integer(position)
        ) { row throws(StoreError) in
            var found: StoredEvent?
            try Self.check(
                try Self.reader(row, stream: name, hidden: hidden).forEach(from: position) { event in
                    found = event
                    return false
                })
            return found
        }
        guard let event = found ?? nil, event.position == position else {
            throw .corrupt(detail: "a latest event is not in the log")
        }
        return event
    }

    private func arrival(_ query: EventQuery, _ stream: Int64, after position: Int64) throws(StoreError)
        -> [StoredEvent]
    {
        var page = EventPage(query)
        let hidden = try StreamRows(log).hidden(of: stream)
        try access.forEach(
            """
            SELECT replica.replica, segment.first_position, run.places, segment.bytes
            FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
            WHERE run.stream = ? AND run.last_position > ? ORDER BY run.last_position
            """, .integer(stream), .integer(position)
        ) { row throws(StoreError) in
            let reader = try Self.reader(row, stream: query.stream, hidden: hidden)
            try Self.check(reader.forEach(from: position + 1) { page.take($0) })
            return !page.isFull
        }
        return page.events
    }

    /// Runs of one stream do not overlap: backwards from the one that holds the bound.
    func start(of last: LastEvents) throws(StoreError) -> LastEvents.Place {
        guard let stream = try log.findStream(last.stream) else { return LastEvents.Place(after: .max, count: 0) }
        var walk = LastEventsWalk(last)
        if try StreamRows(log).isLatestOnly(stream) {
            let shown = try StreamRows(log).latestEvents(of: ExactString(last.stream))
            for event in shown.sorted(by: { $0.position > $1.position }) where !walk.isDone {
                walk.take([try self.event(at: event.position, stream, last.stream)])
            }
            return walk.found
        }
        let hidden = try StreamRows(log).hidden(of: stream)
        try access.forEach(
            """
            SELECT replica.replica, segment.first_position, run.places, segment.bytes
            FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
            WHERE run.stream = ?1 AND run.last_position <= coalesce(
                (SELECT last_position FROM run WHERE stream = ?1 AND last_position >= ?2 ORDER BY last_position LIMIT 1), ?2)
            ORDER BY run.last_position DESC
            """, .integer(stream), .integer(last.before ?? .max)
        ) { row throws(StoreError) in
            var events: [StoredEvent] = []
            let reader = try Self.reader(row, stream: last.stream, hidden: hidden)
            try Self.check(
                reader.forEach(from: Int64(0)) { event in
                    events.append(event)
                    return true
                })
            walk.take(events)
            return !walk.isDone
        }
        return walk.found
    }

    /// Returns the number of events that arrived after `position`: those of the run it falls into, and the runs behind by
    /// their totals.
    func count(stream name: String, after position: Int64) throws(StoreError) -> Int64 {
        guard let stream = try log.findStream(name) else { return 0 }
        if try StreamRows(log).isLatestOnly(stream) {
            return Int64(try StreamRows(log).latestEvents(of: ExactString(name)).count { $0.position > position })
        }
        var count: Int64 = 0
        let hidden = try StreamRows(log).hidden(of: stream)
        try access.forEach(
            """
            SELECT replica.replica, segment.first_position, run.places, segment.bytes,
                (SELECT total FROM run WHERE stream = ?1 ORDER BY last_position DESC LIMIT 1) - run.total
            FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
            WHERE run.stream = ?1 AND run.last_position > ?2 ORDER BY run.last_position LIMIT 1
            """, .integer(stream), .integer(position)
        ) { row throws(StoreError) in
            count = row.integer(4)
            let reader = try Self.reader(row, stream: name, hidden: hidden)
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
    static func reader(
        _ row: SQLRow, stream: String, hidden: HiddenEvents
    ) throws(StoreError) -> RunReader {
        guard let replica = ReplicaID(bytes: row.blob(0)), let places = EventPlaces.decoded(row.blob(2)) else {
            throw .corrupt(detail: "a run's row does not read back")
        }
        return RunReader(
            replica: replica, stream: stream, firstPosition: row.integer(1), places: places, bytes: row.blob(3),
            hidden: hidden)
    }

    static func check(_ isSound: Bool) throws(StoreError) {
        if !isSound { throw .corrupt(detail: "the places of a stream do not fit its segment") }
    }

    /// Returns the position of the last event that is not void; 0 if there is none.
    ///
    /// - Parameter summary: a row of `streams`.
    private func lastPosition(
        _ summary: SQLRow, _ name: String, _ strictEnds: [ReplicaID: UInt64]
    ) throws(StoreError) -> Int64 {
        if strictEnds.isEmpty || summary.isNull(2) { return summary.isNull(2) ? 0 : summary.integer(2) }
        let hidden = try StreamRows(log).hidden(of: summary.integer(3))
        var last: Int64 = 0
        try access.forEach(
            """
            SELECT replica.replica, segment.first_position, run.places, segment.bytes
            FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
            WHERE run.stream = ? ORDER BY run.last_position DESC
            """, .integer(summary.integer(3))
        ) { row throws(StoreError) in
            try Self.check(
                try Self.reader(row, stream: name, hidden: hidden).forEach(from: Int64(0)) { event in
                    last = event.position
                    return true
                })
            return last == 0
        }
        return last
    }

    func streams() throws(StoreError) -> [StreamSummary] {
        var streams: [StreamSummary] = []
        var settings: [ExactString: SyncModel.Operation.StreamSetting] = [:]
        for kept in try StreamRows(log).settings() { settings[kept.setting.stream] = kept.setting }
        let dropped = try StreamRows(log).dropped().streams
        let ends = try log.strictEnds()
        try access.forEach(
            """
            SELECT stream.name, run.total, run.last_position, stream.id 
            FROM stream LEFT JOIN run ON run.stream = stream.id
                AND run.last_position = (SELECT max(last_position) FROM run WHERE run.stream = stream.id)
            WHERE stream.space = ? ORDER BY stream.name
            """, .integer(log.spaceRow)
        ) { row throws(StoreError) in
            let name = row.text(0)
            let kept = settings[ExactString(name)]
            // A row that neither has: its open events were folded away, its setting was taken back, or all of it is void.
            if row.isNull(1) || row.integer(1) == 0, kept == nil { return true }
            let events =
                kept?.latestOnly ?? false
                ? Int64(try StreamRows(log).latestEvents(of: ExactString(name)).count)
                : row.isNull(1) ? 0 : row.integer(1)
            streams.append(
                StreamSummary(
                    name: name, events: events, lastPosition: try lastPosition(row, name, ends), setting: kept,
                    hasDropped: dropped[ExactString(name)] != nil))
            return true
        }
        return streams
    }
}
