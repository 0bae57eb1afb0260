import SyncModel

extension LogRows {
    /// Takes the rows of the open tail out again, with what hangs on them: they are about to be written anew. It is the
    /// newest of all, so each table loses its end.
    func remove(_ tail: OpenTail) throws(StoreError) {
        guard let replica = try findReplica(tail.replica) else { return }
        let start = Int64(tail.sealedTip.next)
        let first = try access.first(
            "SELECT min(id) FROM segment WHERE replica = ? AND end > ?", .integer(replica), .integer(start)
        ) { row throws(StoreError) in row.isNull(0) ? nil : row.integer(0) }
        guard let first = first ?? nil else { return }
        for stream in Set(tail.segments.flatMap { SegmentScan($0).runs.map { ExactString($0.stream) } }) {
            guard let row = try findStream(stream.string) else { continue }
            try access.run(
                "DELETE FROM run WHERE stream = ? AND last_position > ?", .integer(row),
                .integer(tail.before.lastPosition))
        }
        for key in Array(tail.bases.keys) + tail.steady.keys {
            guard let row = try ObjectRows(self).objectRow(key) else { continue }
            try access.run("DELETE FROM touch WHERE object = ? AND segment >= ?", .integer(row), .integer(first))
        }
        try access.run("DELETE FROM segment WHERE replica = ? AND end > ?", .integer(replica), .integer(start))
    }

    func write(_ sealing: Sealing, _ objects: ObjectRows) throws(StoreError) {
        let segments = try write(sealing.log, after: sealing.after)
        // No attachment comes or goes: what is shown stays.
        try objects.writeObjects(of: sealing.objects, segments, at: 0)
        try objects.writeSums(sealing.after.counts, position: sealing.after.objectPosition)
        for (key, dots) in sealing.objects.steadyDots {
            if let row = try objects.objectRow(key) { try objects.touch(row, dots, in: segments) }
        }
        for key in sealing.vanished { try objects.remove(key) }
    }

    /// True if a process ended with commits of `replica` that it had not sealed.
    func hasOpenTail(of replica: ReplicaID) throws(StoreError) -> Bool { try !openTail(of: replica).isEmpty }

    /// Returns the replica whose tail a process of `device` left open. A device cannot sign for another device.
    func leftOpen(_ replica: ReplicaID, by device: DeviceID) throws(StoreError) -> ReplicaID? {
        guard try hasOpenTail(of: replica) else { return nil }
        guard replica.device == device else { throw .foreignTail(replica) }
        return replica
    }

    /// Signs what a process left open, as it stands.
    func signTail(of replica: ReplicaID, _ sign: ([UInt8]) -> [UInt8]) throws(StoreError) {
        for open in try openTail(of: replica) {
            let message = ChainSignature.message(space: space, replica: replica, end: open.end, head: open.head)
            try access.run(
                "UPDATE segment SET signature = ? WHERE id = ?", .blob(sign(message)), .integer(open.row))
        }
    }

    /// Returns the rows of the open tail, from the newest backwards.
    private func openTail(
        of replica: ReplicaID
    ) throws(StoreError) -> [(row: Int64, end: UInt64, head: ChainHead)] {
        var open: [(row: Int64, end: UInt64, head: ChainHead)] = []
        guard let row = try findReplica(replica) else { return open }
        try access.forEach(
            "SELECT id, end, head, signature FROM segment WHERE replica = ? ORDER BY end DESC", .integer(row)
        ) { row throws(StoreError) in
            guard row.blob(3).isEmpty else { return false }
            guard let head = ChainHead(bytes: row.blob(2)) else {
                throw .corrupt(detail: "a segment's row does not read back")
            }
            open.append((row.integer(0), UInt64(row.integer(1)), head))
            return true
        }
        return open
    }
}
