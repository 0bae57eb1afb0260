import SyncModel

// Cuts, and what has to be read when one moves.
extension LogRows: CutHistory {
    /// - Parameter isIncomplete: see `LogState`.
    func write(_ cuts: CutTable, isIncomplete: Bool) throws(StoreError) {
        try access.run(
            "UPDATE space SET cuts = ?, incomplete = ?, recovery_key = ? WHERE id = ?", .blob(cuts.encoded),
            .integer(isIncomplete ? 1 : 0), .blob(cuts.recoveryKey), .integer(spaceRow))
    }

    func isIncomplete() throws(StoreError) -> Bool {
        try access.first("SELECT incomplete FROM space WHERE id = ?", .integer(spaceRow)) {
            row throws(StoreError) in row.integer(0)
        } == 1
    }

    /// Returns the cuts, with the strict ends by which the tables are filled: the law judges once the table
    /// knows which founder to follow.
    func cuts(_ members: MemberFacts) throws(StoreError) -> CutTable {
        let bytes = try cutBytes()
        var cuts: CutTable
        do { cuts = try CutTable(encoded: bytes, members: members) } catch {
            throw .corrupt(detail: "the cuts do not read back")
        }
        cuts.record(strictEnds: try strictEnds(), members: members)
        return cuts
    }

    /// Returns the strict ends of the held replicas that have one (`CutTable.strictEnd`).
    func strictEnds() throws(StoreError) -> [ReplicaID: UInt64] {
        var ends: [ReplicaID: UInt64] = [:]
        try access.forEach(
            "SELECT replica, strict_end FROM replica WHERE space = ? AND strict_end IS NOT NULL", .integer(spaceRow)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(0)) else {
                throw .corrupt(detail: "a replica's row does not read back")
            }
            ends[replica] = UInt64(row.integer(1))
            return true
        }
        return ends
    }

    /// Writes the strict ends of these replicas, where they are others than before.
    func writeStrictEnds(of replicas: [ReplicaID], _ cuts: CutTable) throws(StoreError) {
        if replicas.isEmpty { return }
        let known = try strictEnds()
        for replica in replicas {
            let end = cuts.strictEnd(of: replica).map { Int64(clamping: $0) }
            guard end != known[replica].map({ Int64(clamping: $0) }) else { continue }
            try access.run(
                "UPDATE replica SET strict_end = ? WHERE id = ?", .integer(end), .integer(try replicaRow(replica)))
        }
    }

    func cutBytes() throws(StoreError) -> [UInt8] {
        try access.first("SELECT cuts FROM space WHERE id = ?", .integer(spaceRow)) {
            row throws(StoreError) in row.blob(0)
        } ?? []
    }

    func contextSteps(
        of replica: ReplicaID
    ) throws(StoreError) -> [(start: UInt64, moved: [VersionVector.Entry])] {
        var steps: [(start: UInt64, moved: [VersionVector.Entry])] = []
        try forEachSegment(of: replica, behind: 0) { steps += $0.contextSteps }
        return steps
    }

    func objects(
        touchedBy replica: ReplicaID, within counters: Range<UInt64>
    ) throws(StoreError) -> Set<ObjectKey> {
        var keys: Set<ObjectKey> = []
        try forEachSegment(of: replica, behind: counters.lowerBound) { segment in
            if segment.start < counters.upperBound { keys.formUnion(segment.objects(within: counters)) }
        }
        return keys
    }

    /// Calls `body` for each segment in the order of counters, without its signature.
    func forEachSegment(
        of replica: ReplicaID, behind start: UInt64, _ body: (Segment) -> Void
    ) throws(StoreError) {
        guard let row = try findReplica(replica) else { return }
        try access.forEach(
            "SELECT start, end, bytes FROM segment WHERE replica = ? AND end > ? ORDER BY end", .integer(row),
            .integer(Int64(clamping: start))
        ) { row throws(StoreError) in
            body(
                Segment(
                    replica: replica, start: UInt64(row.integer(0)), end: UInt64(row.integer(1)), bytes: row.blob(2),
                    signature: []))
            return true
        }
    }
}
