import SyncModel

/// The search for the compaction point, the vector below which changes may be dropped: the greatest that is stable, ends
/// where segments end, holds nothing younger than the retention, and is
///
/// - *closed*: what the authors of its changes had seen is in it, so the changes in it alone can be done again;
/// - *legal*: the author of every held change outside it had seen all of it.
///
/// Being stable is enough to merge what is to come: no author of it lacks what was dropped. But of two changes that were made
/// side by side and are both held, one below the point and one outside, the outside one would be done again on top of the
/// other, which its author had not seen: the version that it made would show what its author never saw.
struct CompactionPointSearch {
    /// The most segments of one replica that lie below a point: they are remembered while it is searched for, about 100
    /// bytes each.
    private static let segmentsPerReplica = 1 << 16

    private let rows: LogRows
    private let state: LogState
    private let faults: StoreFaults
    private var lanes: [Lane] = []

    /// A replica's held segments, as far as the point may lie, and the one behind.
    private struct Lane {
        let replica: ReplicaID
        let first: UInt64
        /// The changes of others that the author had seen before them.
        let seen: VersionVector
        var steps: [(end: UInt64, named: [VersionVector.Entry])] = []
        /// The number of changes below the point.
        var count = 0

        var end: UInt64 { count > 0 ? steps[count - 1].end : first }
    }

    init(_ rows: LogRows, on state: LogState, faults: StoreFaults) {
        self.rows = rows
        self.state = state
        self.faults = faults
    }

    /// - Parameter before: changes from this stamp on are retained.
    /// - Returns: empty when nothing can be dropped.
    mutating func vector(stable: VersionVector, before: Stamp) throws(StoreError) -> VersionVector {
        // Stable means held, by everybody; a caller that says otherwise gets nothing.
        guard state.held.covers(stable) else { return VersionVector() }
        for known in state.tips {
            try addLane(of: known.replica, upTo: stable.next(of: known.replica), before: before)
        }
        guard lanes.contains(where: { $0.count > 0 }) else { return VersionVector() }
        guard !faults.contains(.cutAtStable) else { return point }
        while lower() {}
        let point = point
        // What came as state, and what it came instead of, is below every point, whatever its authors had seen.
        let isClosed = lanes.allSatisfy { $0.first == 0 || point.covers($0.seen.without($0.replica)) }
        return isClosed && lanes.contains { $0.count > 0 } ? point : VersionVector()
    }

    private var point: VersionVector {
        VersionVector(lanes.lazy.map { VersionVector.Entry(replica: $0.replica, next: $0.end) })
    }

    /// - Returns: whether the point had to be lowered.
    private mutating func lower() -> Bool {
        let point = point
        var next = point
        for index in lanes.indices {
            let lane = lanes[index]
            var seen = lane.seen
            var count = 0
            while count < lane.count {
                var known = seen
                known.join(VersionVector(lane.steps[count].named))
                guard point.covers(known.without(lane.replica)) else { break }
                seen = known
                count += 1
            }
            lanes[index].count = count
            guard count < lane.steps.count else { continue }
            // The first change outside.
            seen.join(VersionVector(lane.steps[count].named))
            seen.advance(lane.replica, to: lanes[index].end)
            next = next.meet(seen)
        }
        for index in lanes.indices {
            let limit = next.next(of: lanes[index].replica)
            while lanes[index].count > 0, lanes[index].end > limit { lanes[index].count -= 1 }
        }
        return self.point != point
    }

    private mutating func addLane(
        of replica: ReplicaID, upTo limit: UInt64, before: Stamp
    ) throws(StoreError) {
        guard let row = try rows.findReplica(replica) else { return }
        let first = state.firstHeld.next(of: replica)
        var seen = state.firsts.inherited(by: replica)
        seen.join(try named(before: first, row))
        var lane = Lane(replica: replica, first: first, seen: seen)
        try rows.access.forEach(
            "SELECT end, last_stamp, bytes FROM segment WHERE replica = ? AND end > ? ORDER BY end", .integer(row),
            .integer(Int64(clamping: first))
        ) { row throws(StoreError) in
            // Only its first change names what its author has come to know.
            var reader = ByteReader(row.blob(2))
            guard let view = try? ChangeView(&reader) else { throw .corrupt(detail: "a change does not read back") }
            let end = UInt64(row.integer(0))
            lane.steps.append((end, view.context))
            guard end <= limit, LogRows.stamp(row.integer(1)) < before, lane.count < Self.segmentsPerReplica else {
                return false
            }
            lane.count += 1
            return true
        }
        lanes.append(lane)
    }

    /// Returns what the author had named before the replica's first stored change.
    private func named(before first: UInt64, _ replica: Int64) throws(StoreError) -> VersionVector {
        let stored = try rows.access.first("SELECT first_context FROM replica WHERE id = ?", .integer(replica)) {
            row throws(StoreError) in row.isNull(0) ? nil : row.blob(0)
        }
        guard first > 0, let stored, let stored else { return VersionVector() }
        guard let seen = VectorColumn.decoded(stored) else {
            throw .corrupt(detail: "what an author had seen does not read back")
        }
        return seen
    }
}

extension VersionVector {
    fileprivate func without(_ replica: ReplicaID) -> VersionVector {
        next(of: replica) == 0 ? self : VersionVector(entries.lazy.filter { $0.replica != replica })
    }
}
