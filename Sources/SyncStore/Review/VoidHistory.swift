import SyncModel

/// The void end of one replica's history, read segment by segment: so much is in memory at once.
struct VoidHistory {
    private let history: ReviewedHistory
    private let row: Int64
    private let after: CanonicalKey?
    /// The counter from which on nothing was read.
    private var next: UInt64
    /// The operations of the segment that was read last, the next one last.
    private var waiting: [VoidOperation] = []

    /// - Parameter after: what stands before it, and itself, is left out.
    init(_ history: ReviewedHistory, row: Int64, after: CanonicalKey?) {
        self.history = history
        self.row = row
        self.after = after
        next = history.start
        if let after, after.dot.replica == history.replica {
            next = max(history.start, min(after.dot.counter, Limits.counters) + 1)
        }
    }

    /// The next operation, once `fill` was called.
    var first: VoidOperation? { waiting.last }

    mutating func removeFirst() { waiting.removeLast() }

    /// Reads on until there is a next operation, or the history is at its end.
    mutating func fill(_ access: SQLiteAccess) throws(StoreError) {
        while waiting.isEmpty, try read(access) {}
    }

    /// - Returns: false when there is no further segment.
    private mutating func read(_ access: SQLiteAccess) throws(StoreError) -> Bool {
        // Stamps grow with counters.
        let least = after.map { LogRows.column($0.stamp) } ?? .min
        let found = try access.first(
            """
            SELECT end, bytes, id FROM segment
            WHERE replica = ? AND end > ? AND last_stamp >= ? ORDER BY end LIMIT 1
            """, .integer(row), .integer(Int64(clamping: next)), .integer(least)
        ) { row throws(StoreError) in (end: UInt64(row.integer(0)), bytes: row.blob(1), row: row.integer(2)) }
        guard let found else { return false }
        next = found.end
        waiting = operations(of: found.bytes, segment: found.row).reversed()
        return true
    }

    private func operations(of bytes: [UInt8], segment: Int64) -> [VoidOperation] {
        var operations: [VoidOperation] = []
        var reader = ByteReader(bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            guard view.end > history.start else { continue }
            view.forEachOperation(in: bytes) { counter, operation in
                let key = CanonicalKey(stamp: view.stamp, dot: Dot(replica: history.replica, counter: counter))
                guard history.contains(counter), after.map({ $0 < key }) ?? true,
                    let void = VoidOperation(
                        Operation(operation, in: bytes), at: key, wallMilliseconds: view.wallMilliseconds,
                        segment: segment), counter >= history.strictEnd || void.isOnObject
                else { return }
                operations.append(void)
            }
        }
        return operations
    }
}
