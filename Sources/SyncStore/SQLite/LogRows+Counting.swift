package import SyncModel

// How many changes a vector does not cover.
extension LogRows {
    /// The number of changes from counter `start` on. Of residues, which hold no changes, the operations count.
    func changeCount(of replica: ReplicaID, from start: UInt64) throws(StoreError) -> Int64 {
        guard start < 1 << 63, let row = try findReplica(replica) else { return 0 }
        let whole = try access.first(
            """
            SELECT sum(CASE change_count WHEN 0 THEN end - start ELSE change_count END) FROM segment
            WHERE replica = ? AND end > ? AND start >= ?
            """, .integer(row), .integer(Int64(start)), .integer(Int64(start))
        ) { row throws(StoreError) in row.isNull(0) ? 0 : row.integer(0) }
        // At most one segment has `start` inside.
        let part = try access.first(
            """
            SELECT start, end, change_count, bytes FROM segment
            WHERE replica = ? AND end > ? AND start < ? ORDER BY end LIMIT 1
            """, .integer(row), .integer(Int64(start)), .integer(Int64(start))
        ) { row throws(StoreError) in
            let segment = Segment(
                replica: replica, start: UInt64(row.integer(0)), end: UInt64(row.integer(1)), bytes: row.blob(3),
                signature: [])
            return row.integer(2) == 0 ? Int64(segment.end - start) : segment.changeCount(from: start)
        }
        return (whole ?? 0) + (part ?? 0)
    }
}

extension SQLiteStore {
    /// Returns the number of stored changes, open ones included, that `vector` does not cover. For changes that came as state
    /// or were dropped from the log, their operations count.
    package func changeCount(beyond vector: VersionVector) throws(StoreError) -> Int64 {
        let lacking = try logState().held.entries(beyond: vector)
        guard !lacking.isEmpty else { return 0 }
        return try readLog(space) { rows throws(StoreError) in
            var count: Int64 = 0
            for entry in lacking {
                count += try rows.changeCount(of: entry.replica, from: vector.next(of: entry.replica))
            }
            return count
        } ?? 0
    }
}

extension Segment {
    /// The number of changes that begin at `counter` or behind it.
    func changeCount(from counter: UInt64) -> Int64 {
        var reader = ByteReader(bytes)
        var count: Int64 = 0
        while !reader.isAtEnd, let view = try? ChangeView(&reader) { count += view.start >= counter ? 1 : 0 }
        return count
    }
}
