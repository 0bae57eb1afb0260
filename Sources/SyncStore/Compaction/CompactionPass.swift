import Synchronization
package import SyncModel

/// A vector below which changes are dropped.
struct CompactionPoint: Sendable {
    let vector: VersionVector
    /// The changes that every member has acknowledged.
    let stable: VersionVector
    /// Changes from this stamp on are retained.
    let before: Stamp
    /// Tells it apart from those of other passes: 8 bytes.
    let name: [UInt8]

    init(_ vector: VersionVector, stable: VersionVector, before: Stamp) {
        self.vector = vector
        self.stable = stable
        self.before = before
        var sum = Sum256.zero
        for entry in vector.entries {
            let head = ChainHead(space: .home, replica: entry.replica)
            sum += ReplicaTip(next: entry.next, head: head, stamp: .zero).digestTerm(of: entry.replica)
        }
        name = Array(sum.bytes.prefix(8))
    }
}

/// A pass of compaction: the changes to drop, and those already dropped. It locks nothing in the store: a process
/// that ends in the middle leaves a log that is merely longer.
package struct CompactionPass: Sendable {
    let point: CompactionPoint
    /// The replicas of which changes are left to drop.
    var replicas: [ReplicaID]
    /// The replicas whose residues hold dropped events; the last of them is trimmed up to `trimmedTo`.
    var trimming: [ReplicaID] = []
    var trimmedTo: UInt64 = 0
    /// The dropped events to remove from residues by the end of the pass.
    let dropped: DroppedByStream
    /// The number of times a history had been taken back before: the point does not cover a later one.
    let takingsBack: Int

    init(_ point: CompactionPoint, trimming dropped: DroppedByStream, takingsBack: Int) {
        self.point = point
        self.dropped = dropped
        self.takingsBack = takingsBack
        replicas = point.vector.entries.map(\.replica)
        trimming = dropped.streams.values.reduce(into: VersionVector()) { $0.join($1.vector) }.entries.map(\.replica)
    }

    mutating func end() { (replicas, trimming) = ([], []) }

    package var isOver: Bool { replicas.isEmpty && trimming.isEmpty }
}

/// The result of one step of a pass.
package struct CompactionStep: Sendable, Equatable {
    /// Changes that were dropped.
    package var changes: Int64 = 0
    /// The bytes they took in the log.
    package var bytes: Int64 = 0
    /// The changes dropped by all steps of all passes so far.
    package var droppedChanges: Int64 = 0
    /// The first stored change of each replica after the step.
    package var firstHeld = VersionVector()
    package var isLast = true

    package init() {}
}

// Changes that every member has, and that are older than anybody wants to look back, are dropped from the log. What they
// amount to is in the objects; events stay where they are, but for those that their stream's retention let go.
extension SQLiteStore {
    /// Works out what can be dropped by now.
    ///
    /// - Parameters:
    ///   - stable: what every member has acknowledged.
    ///   - before: changes from this stamp on are retained.
    package func beginCompaction(stable: VersionVector, before: Stamp) throws(StoreError) -> CompactionPass {
        let faults = faults
        let takingsBack = writing.withLock(\.takingsBack)
        let (vector, dropped) =
            try readLog(space) { rows throws(StoreError) in
                var search = CompactionPointSearch(rows, on: try rows.state(), faults: faults)
                return (
                    try search.vector(stable: stable, before: before), try StreamRows(rows).dropped(onlyUntrimmed: true)
                )
            } ?? (VersionVector(), DroppedByStream())
        return CompactionPass(
            CompactionPoint(vector, stable: stable, before: before), trimming: dropped, takingsBack: takingsBack)
    }

    /// Drops some of it, in one transaction of some milliseconds; what takes longer is read and computed before it, beside
    /// writers. Seals what is open.
    package func compact(_ pass: inout CompactionPass) throws(StoreError) -> CompactionStep {
        var step = CompactionStep()
        let (point, faults) = (pass.point, faults)
        while let replica = pass.replicas.last {
            let plan = try readLog(space) { rows throws(StoreError) in
                try CompactionPlan(rows, of: replica, point, faults: faults)
            }
            guard let plan, let plan else {
                pass.replicas.removeLast()
                continue
            }
            switch try commit(plan, pass) {
            case .written:
                step.changes = plan.changeCount
                step.bytes = plan.byteCount
            case .changed: break
            case .void: pass.end()
            }
            break
        }
        if pass.replicas.isEmpty, step.changes == 0 { try trim(&pass, &step) }
        let state = try state()
        step.firstHeld = state.firstHeld
        step.droppedChanges = state.counts.droppedChanges
        step.isLast = pass.isOver
        return step
    }

    /// The next residues that hold dropped events.
    private func trim(_ pass: inout CompactionPass, _ step: inout CompactionStep) throws(StoreError) {
        while let replica = pass.trimming.last {
            let (start, faults) = (pass.trimmedTo, faults)
            let plan = try readLog(space) { rows throws(StoreError) in
                try CompactionPlan(trimming: replica, from: start, rows, faults: faults)
            }
            guard let plan, let plan else {
                pass.trimming.removeLast()
                pass.trimmedTo = 0
                continue
            }
            switch try commit(plan, pass) {
            case .written:
                step.bytes = plan.byteCount
                pass.trimmedTo = plan.end
                return
            case .changed: return
            case .void: return pass.end()
            }
        }
        guard !pass.dropped.isEmpty else { return }
        let dropped = pass.dropped
        try update { access throws(StoreError) in try StreamRows(spaceRows(access)).recordTrimmed(dropped) }
    }

    private enum Written {
        case written
        /// Something has come between: the step is to be planned again.
        case changed
        /// A history took the place of another, and the pass is not about that.
        case void
    }

    private func commit(_ plan: CompactionPlan, _ pass: CompactionPass) throws(StoreError) -> Written {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            guard writing.takingsBack == pass.takingsBack else { return .void }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            writing.tail = nil
            let hot = writing.hot
            var log = writing.log
            log.counts.changes -= plan.changeCount
            log.counts.droppedChanges += plan.changeCount
            if plan.isServed { log.firstHeld.advance(plan.replica, to: plan.end) }
            let isWritten = try write(&writing) { access throws(StoreError) in
                let rows = try spaceRows(access)
                return try plan.write(rows, pass.point, ObjectRows(rows, hot: hot))
            }
            guard isWritten else { return .changed }
            writing.log = log
            publish(writing)
            return .written
        }
    }
}
