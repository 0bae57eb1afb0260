import SyncModel

/// The rows of streams that show only the greatest event per type, and of how streams are kept.
struct StreamRows {
    let log: LogRows
    private var access: SQLiteAccess { log.access }

    init(_ log: LogRows) { self.log = log }

    /// - Parameter countsRuns: false if the totals of runs are computed anew later.
    func write(_ plan: StreamPlan, countsRuns: Bool = true) throws(StoreError) {
        for kept in plan.settings {
            try access.run(
                """
                INSERT OR REPLACE INTO stream_setting (stream, latest_only, retain, stamp, replica, counter)
                VALUES (?, ?, ?, ?, ?, ?)
                """, .integer(try log.streamRow(kept.setting.stream.string)),
                .integer(kept.setting.latestOnly ? 1 : 0), .integer(kept.setting.retainMilliseconds.map { Int64($0) }),
                .integer(LogRows.column(kept.key.stamp)), .blob(kept.key.dot.replica.bytes),
                .integer(Int64(kept.key.dot.counter)))
        }
        for stream in plan.unset {
            try access.run(
                "DELETE FROM stream_setting WHERE stream = ?", .integer(try log.streamRow(stream.string)))
        }
        for (stream, events) in plan.dropped { try write(events, of: try log.streamRow(stream.string)) }
        for (stream, runs) in plan.runs where countsRuns { try count(runs, of: try log.streamRow(stream.string)) }
        for stream in plan.cleared {
            try access.run(
                "DELETE FROM latest_event WHERE stream = ?", .integer(try log.streamRow(stream.string)))
        }
        for event in plan.latest {
            try access.run(
                """
                INSERT OR REPLACE INTO latest_event (stream, type, position, stamp, replica, counter, digest)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, .integer(try log.streamRow(event.kind.stream.string)), .text(Self.column(event.kind.type)),
                .integer(event.position), .integer(LogRows.column(event.key.stamp)),
                .blob(event.key.dot.replica.bytes), .integer(Int64(event.key.dot.counter)), .blob(event.term.bytes))
        }
    }

    func write(_ dropped: DroppedEvents, of stream: Int64) throws(StoreError) {
        try access.run(
            "INSERT OR REPLACE INTO dropped_events (stream, events) VALUES (?, ?)", .integer(stream),
            .blob(dropped.canonicalBytes))
    }

    /// All that is dropped, in place of what is noted.
    func write(_ dropped: DroppedByStream) throws(StoreError) {
        try access.run(
            "DELETE FROM dropped_events WHERE stream IN (SELECT id FROM stream WHERE space = ?)",
            .integer(log.spaceRow))
        for (stream, events) in dropped.streams { try write(events, of: try log.streamRow(stream.string)) }
    }

    /// Runs behind count by so much more or less.
    private func count(_ runs: [StreamPlan.ChangedRun], of stream: Int64) throws(StoreError) {
        var change: Int64 = 0
        for (index, run) in runs.enumerated() {
            change += run.change
            if run.isEmpty {
                try access.run(
                    "DELETE FROM run WHERE stream = ? AND last_position = ?", .integer(stream),
                    .integer(run.lastPosition))
            }
            let next = index + 1 < runs.count ? runs[index + 1].lastPosition : .max
            try access.run(
                "UPDATE run SET total = total + ? WHERE stream = ? AND last_position >= ? AND last_position < ?",
                .integer(change), .integer(stream), .integer(run.lastPosition), .integer(next))
        }
    }

    /// Computes the totals of all runs anew, where these replicas have other strict ends than the totals were written with.
    func recount(_ replicas: Set<ReplicaID>) throws(StoreError) {
        for name in try streams() {
            guard let stream = try log.findStream(name.string) else { continue }
            let hidden = try hidden(of: stream)
            var totals: [(position: Int64, before: Int64, now: Int64)] = []
            try access.forEach(
                """
                SELECT replica.replica, segment.first_position, run.places, segment.bytes, run.last_position, run.total
                FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
                WHERE run.stream = ? ORDER BY run.last_position
                """, .integer(stream)
            ) { row throws(StoreError) in
                let (position, total) = (row.integer(4), row.integer(5))
                let (before, now) = totals.last.map { ($0.before, $0.now) } ?? (0, 0)
                var count = total - before
                if let replica = ReplicaID(bytes: row.blob(0)), replicas.contains(replica) {
                    count = 0
                    let reader = try EventRows.reader(row, stream: name.string, hidden: hidden)
                    try EventRows.check(
                        reader.forEach(from: Int64(0)) { _ in
                            count += 1
                            return true
                        })
                }
                totals.append((position, total, now + count))
                return true
            }
            for run in totals where run.before != run.now {
                try access.run(
                    "UPDATE run SET total = ? WHERE stream = ? AND last_position = ?", .integer(run.now),
                    .integer(stream), .integer(run.position))
            }
        }
    }

    /// Records that these drops are no longer in residues.
    func recordTrimmed(_ dropped: DroppedByStream) throws(StoreError) {
        for (stream, events) in dropped.streams {
            try access.run(
                "UPDATE dropped_events SET is_trimmed = 1 WHERE stream = ? AND events = ?",
                .integer(try log.streamRow(stream.string)), .blob(events.canonicalBytes))
        }
    }

    /// Returns the drops of all streams of this space, or only those of which some may still be in residues.
    func dropped(onlyUntrimmed: Bool = false) throws(StoreError) -> DroppedByStream {
        var dropped = DroppedByStream()
        try access.forEach(
            """
            SELECT stream.name, dropped_events.events
            FROM dropped_events JOIN stream ON stream.id = dropped_events.stream
            WHERE stream.space = ? AND is_trimmed <= ?
            """, .integer(log.spaceRow), .integer(onlyUntrimmed ? 0 : 1)
        ) { row throws(StoreError) in
            dropped.drop(try Self.dropped(row.blob(1)), of: ExactString(row.text(0)))
            return true
        }
        return dropped
    }

    func dropped(of stream: Int64) throws(StoreError) -> DroppedEvents {
        try access.first("SELECT events FROM dropped_events WHERE stream = ?", .integer(stream)) {
            row throws(StoreError) in try Self.dropped(row.blob(0))
        } ?? DroppedEvents()
    }

    /// Returns the events of a stream that readers pass over.
    func hidden(of stream: Int64) throws(StoreError) -> HiddenEvents {
        HiddenEvents(dropped: try dropped(of: stream), strictEnds: try log.strictEnds())
    }

    private static func dropped(_ bytes: [UInt8]) throws(StoreError) -> DroppedEvents {
        var reader = ByteReader(bytes)
        guard let events = try? DroppedEvents(reading: &reader), reader.isAtEnd else {
            throw .corrupt(detail: "what is dropped of a stream does not read back")
        }
        return events
    }

    /// All that are kept, whether or not they are shown.
    func eventCount() throws(StoreError) -> Int64 {
        try access.first(
            """
            SELECT ifnull(sum(total), 0) FROM run JOIN stream ON stream.id = run.stream
            WHERE stream.space = ? AND last_position = (SELECT max(last_position) FROM run WHERE stream = stream.id)
            """, .integer(log.spaceRow)
        ) { row throws(StoreError) in row.integer(0) } ?? 0
    }

    /// Settings of this space, in no order.
    func settings() throws(StoreError) -> [KeptStream] {
        var settings: [KeptStream] = []
        try access.forEach(
            """
            SELECT stream.name, latest_only, retain, stamp, replica, counter
            FROM stream_setting JOIN stream ON stream.id = stream_setting.stream WHERE stream.space = ?
            """, .integer(log.spaceRow)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(4)) else {
                throw .corrupt(detail: "a stream's setting does not read back")
            }
            let setting = Operation.StreamSetting(
                stream: ExactString(row.text(0)), latestOnly: row.integer(1) != 0,
                retainMilliseconds: row.isNull(2) ? nil : UInt64(row.integer(2)))
            let dot = Dot(replica: replica, counter: UInt64(row.integer(5)))
            settings.append(KeptStream(setting, at: CanonicalKey(stamp: LogRows.stamp(row.integer(3)), dot: dot)))
            return true
        }
        return settings
    }

    func isLatestOnly(_ stream: Int64) throws(StoreError) -> Bool {
        try access.first("SELECT latest_only FROM stream_setting WHERE stream = ?", .integer(stream)) {
            row throws(StoreError) in row.integer(0) != 0
        } ?? false
    }

    private static func column(_ type: ExactString?) -> String { type.map { "=" + $0.string } ?? "" }

    private static let columns = "type, position, stamp, replica, counter, digest"

    private static func ranked(_ row: SQLRow, _ stream: ExactString) throws(StoreError) -> RankedEvent {
        guard let replica = ReplicaID(bytes: row.blob(3)), let term = Sum256(bytes: row.blob(5)) else {
            throw .corrupt(detail: "a latest event does not read back")
        }
        let type = row.text(0)
        return RankedEvent(
            kind: EventKind(stream: stream, type: type.isEmpty ? nil : ExactString(String(type.dropFirst()))),
            key: CanonicalKey(
                stamp: LogRows.stamp(row.integer(2)), dot: Dot(replica: replica, counter: UInt64(row.integer(4)))),
            position: row.integer(1), term: term)
    }
}

extension StreamRows: EventSource {
    func latestEvent(of kind: EventKind) throws(StoreError) -> RankedEvent? {
        guard let stream = try log.findStream(kind.stream.string) else { return nil }
        return try access.first(
            "SELECT \(Self.columns) FROM latest_event WHERE stream = ? AND type = ?", .integer(stream),
            .text(Self.column(kind.type))
        ) { row throws(StoreError) in try Self.ranked(row, kind.stream) }
    }

    func latestEvents(of name: ExactString) throws(StoreError) -> [RankedEvent] {
        guard let stream = try log.findStream(name.string) else { return [] }
        var events: [RankedEvent] = []
        try access.forEach("SELECT \(Self.columns) FROM latest_event WHERE stream = ?", .integer(stream)) {
            row throws(StoreError) in
            events.append(try Self.ranked(row, name))
            return true
        }
        return events
    }

    func forEachEvent(
        of name: ExactString, _ body: (RankedEvent) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let stream = try log.findStream(name.string) else { return }
        try EventRows(log).forEach(stream, name.string) { event throws(StoreError) in
            try body(RankedEvent(event, of: name))
        }
    }

    func streams() throws(StoreError) -> [ExactString] {
        var names: [ExactString] = []
        try access.forEach("SELECT name FROM stream WHERE space = ?", .integer(log.spaceRow)) {
            row throws(StoreError) in
            names.append(ExactString(row.text(0)))
            return true
        }
        return names
    }

    func forEachRun(
        of name: ExactString, within reach: [ReplicaID: Range<UInt64>],
        _ body: (_ lastPosition: Int64, [RankedEvent]) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let stream = try log.findStream(name.string) else { return }
        let hidden = HiddenEvents(dropped: try dropped(of: stream))
        for (author, counters) in reach.sorted(by: { $0.key < $1.key }) {
            guard let replica = try log.findReplica(author) else { continue }
            try access.forEach(
                """
                SELECT replica.replica, segment.first_position, run.places, segment.bytes, run.last_position,
                    segment.start
                FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
                WHERE run.stream = ? AND run.replica = ? AND segment.end > ? ORDER BY run.last_stamp
                """, .integer(stream), .integer(replica), .integer(Int64(clamping: counters.lowerBound))
            ) { row throws(StoreError) in
                guard UInt64(row.integer(5)) < counters.upperBound else { return false }
                var events: [RankedEvent] = []
                let reader = try EventRows.reader(row, stream: name.string, hidden: hidden)
                try EventRows.check(
                    reader.forEach(from: Int64(0)) { event in
                        events.append(RankedEvent(event, of: name))
                        return true
                    })
                try body(row.integer(4), events)
                return true
            }
        }
    }
}
