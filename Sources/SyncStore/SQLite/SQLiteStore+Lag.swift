package import SyncModel

// Answers about the log that cost one or a few rows of an index, for the lag of peers.
extension SQLiteStore {
    /// Returns the time at which the segment with this operation ended, by its author's clock, in milliseconds since
    /// 1970; nil if the log does not hold it.
    package func wallMilliseconds(of replica: ReplicaID, at counter: UInt64) throws(StoreError) -> Int64? {
        guard let counter = Int64(exactly: counter) else { return nil }
        return try readLog(space) { rows throws(StoreError) -> Int64? in
            guard let row = try rows.findReplica(replica) else { return nil }
            // A residue has the stamp of what is left of it, which may be much later.
            return try rows.access.first(
                """
                SELECT last_stamp FROM segment WHERE replica = ? AND end > ? AND change_count > 0 ORDER BY end LIMIT 1
                """, .integer(row), .integer(counter)
            ) { row throws(StoreError) in LogRows.stamp(row.integer(0)).milliseconds }
        } ?? nil
    }

    /// Returns the means of the newest 256 segments.
    package func logMeans() throws(StoreError) -> LogMeans {
        var means = LogMeans()
        let sums =
            try readLog(space) { rows throws(StoreError) in
                try rows.access.first(
                    """
                    SELECT sum(operations), sum(changes), sum(size) FROM (
                        SELECT end - start AS operations, change_count AS changes, length(bytes) AS size FROM segment
                        ORDER BY id DESC LIMIT 256)
                    """
                ) { row throws(StoreError) in
                    row.isNull(0) ? (0, 0, 0) : (Double(row.integer(0)), Double(row.integer(1)), Double(row.integer(2)))
                }
            } ?? nil
        guard let sums, sums.0 > 0 else { return means }
        means.changesPerOperation = min(1, sums.1 / sums.0)
        means.bytesPerOperation = sums.2 / sums.0
        return means
    }
}
