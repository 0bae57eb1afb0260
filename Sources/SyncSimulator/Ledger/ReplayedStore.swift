import SyncCore
import SyncModel
import SyncStore

/// A fresh store that is fed everything another one holds, change by change, in another causal order.
enum ReplayedStore {
    private struct History {
        let replica: ReplicaID
        var changes: [VerifiedSegment]
        var taken = 0

        var next: VerifiedSegment? { taken < changes.count ? changes[taken] : nil }
    }

    /// Nil if some change never got ready, which no log that was applied in causal order brings about.
    static func make(
        of store: SQLiteStore, past: WrittenChanges?, faults: StoreFaults, using random: inout SplitMix64
    ) throws(StoreError) -> SQLiteStore? {
        var histories = try WrittenChanges.held(by: store, past).map {
            History(replica: $0.replica, changes: $0.changes)
        }
        let fresh = try SimulatedDisk().open(SimulatedDevice.all[0], faults: faults, incarnations: { 0 })
        var held = VersionVector()
        var batch: [VerifiedSegment] = []
        while true {
            let ready = histories.indices.filter { index in
                histories[index].next?.context.allSatisfy { held.next(of: $0.replica) >= $0.next } ?? false
            }
            guard let index = ready.randomElement(using: &random) else { break }
            // A few of one replica, so that whole stretches come late.
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                guard let change = histories[index].next,
                    change.context.allSatisfy({ held.next(of: $0.replica) >= $0.next })
                else { break }
                histories[index].taken += 1
                held.advance(change.segment.replica, to: change.segment.end)
                batch.append(change)
            }
            if batch.count > 8 || Int.random(in: 0..<3, using: &random) == 0 {
                _ = try fresh.apply(batch, wallMilliseconds: 0)
                batch = []
            }
        }
        _ = try fresh.apply(batch, wallMilliseconds: 0)
        // What the recovery key said, and no change that is held says.
        let apart = try store.logState().cuts.trust.rows.filter { $0.statement.isRecovery && !held.covers($0.dot) }
        if !apart.isEmpty { _ = try fresh.takeStatements(apart.map { PlacedStatement($0) }, wallMilliseconds: 0) }
        return histories.allSatisfy { $0.next == nil } ? fresh : nil
    }
}
