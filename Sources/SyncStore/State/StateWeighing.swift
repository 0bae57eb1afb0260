import SyncModel

/// The sizes of a transfer as changes and as state: computed from lengths, without reading the contents.
struct StateWeighing {
    /// The bytes of an object beside its state: its announcement, and the frame around both.
    private static let objectBytes: Int64 = 96

    private let rows: LogRows

    init(_ rows: LogRows) { self.rows = rows }

    /// Counting stops where state is no less than changes.
    func weight(since: VersionVector) throws(StoreError) -> StateWeight {
        let state = try rows.state()
        var changes: Int64 = 0
        var shared: Int64 = 0
        var least: Int64? = .max
        for entry in state.held.entries(beyond: since) {
            guard let row = try rows.findReplica(entry.replica) else { continue }
            let next = Int64(clamping: since.next(of: entry.replica))
            // Segments with events cost about the same as changes and as state.
            try rows.access.forEach(
                """
                SELECT ifnull(sum(length(bytes)), 0), ifnull(sum(iif(event_count > 0, length(bytes), 0)), 0)
                FROM segment WHERE replica = ? AND end > ?
                """, .integer(row), .integer(next)
            ) { row throws(StoreError) in
                changes += row.integer(0)
                shared += row.integer(1)
                return true
            }
            let last = try rows.access.first(
                "SELECT last_stamp FROM segment WHERE replica = ? AND end <= ? ORDER BY end DESC LIMIT 1",
                .integer(row),
                .integer(next)
            ) { row throws(StoreError) in row.integer(0) }
            least = last.flatMap { last in least.map { min($0, last) } }
        }
        let touched = try TouchedVectors(rows)
        var objects: Int64 = 0
        try rows.access.forEach(
            """
            SELECT touched, length(state) + snapshot_bytes + edit_bytes FROM object
            WHERE touched_stamp > ? ORDER BY touched_stamp DESC
            """, .integer(least ?? .min)
        ) { row throws(StoreError) in
            if !since.covers(try touched.vector(row.blob(0))) { objects += row.integer(1) + Self.objectBytes }
            return shared + objects < changes
        }
        return StateWeight(changeBytes: UInt64(changes), stateBytes: UInt64(shared + objects))
    }
}
