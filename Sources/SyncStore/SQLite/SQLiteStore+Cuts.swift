import Synchronization
import SyncModel

extension SQLiteStore {
    /// Runs one step of rewriting what this device had written beyond the end of a history that was cut: at most `limit`
    /// changes, in one transaction. No change is written twice, whatever happens in between.
    /// - Throws: also `retired` until what the device writes counts.
    package func rewriteVoid(limit: Int, wallMilliseconds: Int64) throws(StoreError) -> RewritingStep {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            writing.tail = nil
            try writing.own.heedCuts(writing.log.cuts, faults: faults)
            writing.own.heedClock()
            guard let work = VoidWork(of: writing.own.device, in: writing.log) else {
                let nothing = Commit(nothingOn: writing.log).serving(writing.takeUnserved(), andOwn: true)
                return RewritingStep(commit: nothing, hasMore: false)
            }
            let commit = LocalCommit(writing.own, on: writing.log, wallMilliseconds: wallMilliseconds)
            if commit.refusesWork { throw .retired }
            let writes = try readLog(space) { rows throws(StoreError) in
                try work.writes(limit: limit, rows) { replica, start, bytes throws(StoreError) in
                    try rows.segments(of: replica, from: start, byteBudget: bytes)
                }
            }
            let result = try append(writes ?? [], wallMilliseconds, isSealed: true, &writing)
            return RewritingStep(
                commit: result.serving(writing.takeUnserved(), andOwn: true).commit,
                hasMore: VoidWork(of: writing.own.device, in: writing.log) != nil)
        }
    }
}
