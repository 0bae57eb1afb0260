import SyncModel

// Beginnings, made of stored operations below a compaction point.
extension ObjectRows {
    /// The operations on an object that are stored below the point, in the order in which they arrived here.
    func operations(
        on key: ObjectKey, _ object: Int64, upTo point: VersionVector, _ contexts: [Int64: ContextSteps]
    ) throws(StoreError) -> [PastOperation] {
        var operations: [PastOperation] = []
        try access.forEach(
            """
            SELECT segment.replica, replica.replica, segment.end, segment.bytes
            FROM touch JOIN segment ON segment.id = touch.segment JOIN replica ON replica.id = segment.replica
            WHERE touch.object = ? ORDER BY touch.segment
            """, .integer(object)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(1)) else { throw .corrupt(detail: "a replica is none") }
            guard UInt64(row.integer(2)) <= point.next(of: replica), let steps = contexts[row.integer(0)] else {
                return true
            }
            let isRead = PastOperation.read(
                &operations, of: key, in: row.blob(3), by: replica, context: steps.context(at: row.integer(2)))
            guard isRead else { throw .corrupt(detail: "a segment's changes do not read back") }
            return true
        }
        return operations
    }

    /// True if stored changes outside the vector are about the object.
    func isTouched(_ object: Int64, outside vector: VersionVector) throws(StoreError) -> Bool {
        var isTouched = false
        try access.forEach(
            """
            SELECT replica.replica, max(segment.end) FROM touch JOIN segment ON segment.id = touch.segment
                JOIN replica ON replica.id = segment.replica
            WHERE touch.object = ? GROUP BY segment.replica
            """, .integer(object)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(0)) else { throw .corrupt(detail: "a replica is none") }
            isTouched = UInt64(row.integer(1)) > vector.next(of: replica)
            return !isTouched
        }
        return isTouched
    }

    /// An object of which nothing is left, not even a deletion or a field of this node, goes with the changes that were
    /// about it.
    func removeIfForgotten(_ key: ObjectKey, _ row: Int64) throws(StoreError) {
        let isForgotten = try access.first(
            """
            SELECT standing = 0 AND local IS NULL AND dropped_edits IS NULL AND snapshot_bytes = 0 FROM object
            WHERE id = ?
            """, .integer(row)
        ) { row throws(StoreError) in row.integer(0) != 0 }
        guard isForgotten == true, let object = try object(key), object.state.isEmpty else { return }
        try remove(key)
    }
}
