import SyncModel

/// Reads what a consumer's state does not hold. A run that it holds as a whole is told by its row and its segment's end, without a
/// look at the events: what a snapshot covers costs a row for each segment, once (`ConsumerPage.coveredPosition`).
struct ConsumerRows {
    private let log: LogRows
    private let cursor: ConsumerCursor
    private var access: SQLiteAccess { log.access }

    init(_ log: LogRows, _ cursor: ConsumerCursor) {
        self.log = log
        self.cursor = cursor
    }

    func page(_ query: ConsumerQuery) throws(StoreError) -> ConsumerPage {
        var page = ConsumerPage()
        page.newest = try log.lastPosition()
        guard let stream = try log.findStream(query.stream) else { return page }
        if try StreamRows(log).isLatestOnly(stream) {
            let shown = try StreamRows(log).latestEvents(of: ExactString(query.stream))
            return try latestPage(query, shown.sorted { $0.position < $1.position }, newest: page.newest)
        }
        switch cursor.order {
        case .arrival: page.events = try arrival(query, stream)
        case .canonical:
            page.rewind = try late(query.stream, stream)?.predecessor
            page.events = try CanonicalReader(log, plain(query, .canonical(after: nil)), stream: stream)
                .page(after: page.rewind ?? cursor.key)
        }
        return page
    }

    private func plain(_ query: ConsumerQuery, _ order: EventQuery.Order) -> EventQuery {
        EventQuery(
            space: query.space, stream: query.stream, order: order, limit: query.limit, byteBudget: query.byteBudget)
    }

    // Streams that show only the greatest event per type: they have few events.

    private func latestPage(
        _ query: ConsumerQuery, _ shown: [RankedEvent], newest: Int64
    ) throws(StoreError) -> ConsumerPage {
        var wanted: Set<Int64> = []
        var rewind: CanonicalKey?
        switch cursor.order {
        case .arrival: wanted = Set(shown.filter { !cursor.holds($0.key, at: $0.position) }.map(\.position))
        case .canonical:
            rewind = shown.filter { cursor.isLate($0.key, at: $0.position) }.map(\.key).min()?.predecessor
            let start = rewind ?? cursor.key
            wanted = Set(shown.filter { event in start.map { event.key > $0 } ?? true }.map(\.position))
        }
        let events = try EventRows(log).events(
            plain(query, cursor.order == .arrival ? .arrival(after: 0) : .canonical(after: nil)), at: wanted)
        var page = ConsumerPage()
        page.newest = newest
        page.rewind = rewind
        page.events = events
        return page
    }

    // By runs.

    /// The events of one stream in one segment.
    private struct Run {
        let row: SQLRow
        let replica: ReplicaID
        let firstStamp: Stamp
        let lastStamp: Stamp
        let lastPosition: Int64
        let start: UInt64
        let end: UInt64

        /// Columns: replica, first position of the segment, places, bytes (read only when it is asked for), stamps, last
        /// position, start and end of the segment.
        static let columns =
            """
            replica.replica, segment.first_position, run.places, segment.bytes, run.first_stamp, run.last_stamp,
                run.last_position, segment.start, segment.end
            FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
            """

        init(_ row: SQLRow) throws(StoreError) {
            guard let replica = ReplicaID(bytes: row.blob(0)) else {
                throw .corrupt(detail: "a replica's row does not read back")
            }
            self.row = row
            self.replica = replica
            firstStamp = LogRows.stamp(row.integer(4))
            lastStamp = LogRows.stamp(row.integer(5))
            lastPosition = row.integer(6)
            start = UInt64(clamping: row.integer(7))
            end = UInt64(clamping: row.integer(8))
        }

        func forEach(
            of stream: String, but hidden: HiddenEvents, from position: Int64 = 0, _ body: (StoredEvent) -> Bool
        ) throws(StoreError) {
            let reader = try EventRows.reader(row, stream: stream, hidden: hidden)
            try EventRows.check(reader.forEach(from: position, body))
        }
    }

    private func arrival(_ query: ConsumerQuery, _ stream: Int64) throws(StoreError) -> [StoredEvent] {
        var page = EventPage(plain(query, .arrival(after: cursor.position)))
        let hidden = try StreamRows(log).hidden(of: stream)
        try access.forEach(
            "SELECT \(Run.columns) WHERE run.stream = ? AND run.last_position > ? ORDER BY run.last_position",
            .integer(stream), .integer(cursor.position)
        ) { row throws(StoreError) in
            let run = try Run(row)
            if cursor.snapshot.next(of: run.replica) >= run.end { return true }
            try run.forEach(of: query.stream, but: hidden, from: cursor.position + 1) { event in
                cursor.holds(event) || page.take(event)
            }
            return !page.isFull
        }
        return page.events
    }

    /// The least key of what arrived late: only what came since is looked at.
    private func late(_ name: String, _ stream: Int64) throws(StoreError) -> CanonicalKey? {
        guard let key = cursor.key else { return nil }
        var least: CanonicalKey?
        let hidden = try StreamRows(log).hidden(of: stream)
        try access.forEach(
            """
            SELECT \(Run.columns) WHERE run.stream = ? AND run.last_position > ? AND run.first_stamp <= ?
            ORDER BY run.last_position
            """, .integer(stream), .integer(cursor.position), .integer(LogRows.column(key.stamp))
        ) { row throws(StoreError) in
            let run = try Run(row)
            if cursor.snapshot.next(of: run.replica) >= run.end { return true }
            if let least, run.firstStamp > least.stamp { return true }
            try run.forEach(of: name, but: hidden, from: cursor.position + 1) { event in
                guard cursor.isLate(event.canonicalKey, at: event.position) else { return event.canonicalKey <= key }
                least = min(least ?? event.canonicalKey, event.canonicalKey)
                return false
            }
            return true
        }
        return least
    }

    func count(of name: String) throws(StoreError) -> Int64 {
        if cursor.order == .arrival, cursor.snapshot.isEmpty {
            return try EventRows(log).count(stream: name, after: cursor.position)
        }
        guard let stream = try log.findStream(name) else { return 0 }
        if try StreamRows(log).isLatestOnly(stream) {
            let shown = try StreamRows(log).latestEvents(of: ExactString(name))
            return Int64(shown.count { !cursor.holds($0.key, at: $0.position) })
        }
        var count: Int64 = 0
        let hidden = try StreamRows(log).hidden(of: stream)
        try access.forEach("SELECT \(Run.columns) WHERE run.stream = ?", .integer(stream)) { row throws(StoreError) in
            let run = try Run(row)
            if holdsAll(run) { return true }
            try run.forEach(of: name, but: hidden) { event in
                if !cursor.holds(event) { count += 1 }
                return true
            }
            return true
        }
        return count
    }

    private func holdsAll(_ run: Run) -> Bool {
        let isHere = run.lastPosition <= cursor.position || cursor.snapshot.next(of: run.replica) >= run.end
        switch cursor.order {
        case .arrival: return isHere
        // Of the change at the key's own stamp some may stand behind it.
        case .canonical: return isHere && (cursor.key.map { run.lastStamp < $0.stamp } ?? false)
        }
    }

    /// Returns the events held, as a vector. Costs one look-up per replica of the space, and one segment read of each that
    /// wrote to the stream.
    func vector(of name: String) throws(StoreError) -> VersionVector {
        var vector = cursor.snapshot
        guard let stream = try log.findStream(name) else { return vector }
        var replicas: [Int64] = []
        try access.forEach("SELECT id FROM replica WHERE space = ?", .integer(log.spaceRow)) { row throws(StoreError) in
            replicas.append(row.integer(0))
            return true
        }
        let hidden = try StreamRows(log).hidden(of: stream)
        let bound = cursor.order == .canonical ? cursor.key.map { LogRows.column($0.stamp) } ?? .min : .max
        for replica in replicas {
            try access.forEach(
                """
                SELECT \(Run.columns) WHERE run.stream = ? AND run.replica = ? AND run.first_stamp <= ?
                    AND segment.first_position <= ? ORDER BY run.last_stamp DESC
                """, .integer(stream), .integer(replica), .integer(bound), .integer(cursor.position)
            ) { row throws(StoreError) in
                let run = try Run(row)
                var last: StoredEvent?
                try run.forEach(of: name, but: hidden) { event in
                    // What a snapshot covers is in the vector already; of one replica what is held comes first.
                    guard cursor.holds(event) else { return false }
                    last = event
                    return true
                }
                if let last { vector.advance(last.dot.replica, to: last.dot.counter + 1) }
                return last == nil
            }
        }
        for entry in hidden.dropped.vector.entries {
            vector.advance(entry.replica, to: try beginning(of: name, stream, entry, hidden))
        }
        return vector
    }

    /// Returns the counter before which the state holds all of a replica's stored events. Dropped events cannot be given, and
    /// do not count.
    private func beginning(
        of name: String, _ stream: Int64, _ entry: VersionVector.Entry, _ hidden: HiddenEvents
    ) throws(StoreError) -> UInt64 {
        var end = entry.next
        try access.forEach(
            "SELECT \(Run.columns) WHERE run.stream = ? AND run.replica = ? ORDER BY run.last_stamp",
            .integer(stream), .integer(try log.findReplica(entry.replica))
        ) { row throws(StoreError) in
            let run = try Run(row)
            if run.start >= end { return false }
            try run.forEach(of: name, but: hidden) { event in
                if !cursor.holds(event) { end = min(end, event.dot.counter) }
                return event.dot.counter < end
            }
            return true
        }
        return end
    }
}
