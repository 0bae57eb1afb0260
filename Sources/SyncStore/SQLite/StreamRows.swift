import SyncModel

/// The rows of streams that show only the greatest event per type, and of how streams are kept.
struct StreamRows {
    let log: LogRows
    private var access: SQLiteAccess { log.access }

    init(_ log: LogRows) { self.log = log }

    func write(_ plan: StreamPlan) throws(StoreError) {
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
}
