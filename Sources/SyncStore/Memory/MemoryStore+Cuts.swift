import Synchronization
import SyncModel

extension MemoryStore {
    package func rewriteVoid(limit: Int, wallMilliseconds: Int64) throws(StoreError) -> RewritingStep {
        try running.withLock { running throws(StoreError) in
            try signWhatWasLeft(&running)
            try seal(&running)
            running.tail = nil
            let contents = try snapshot()
            try running.own.heedCuts(contents.log.cuts)
            guard let work = VoidWork(of: running.own.device, in: contents.log) else {
                let nothing = Commit(nothingOn: contents.log).serving(running.takeUnserved(), andOwn: true)
                return RewritingStep(commit: nothing, hasMore: false)
            }
            let writes = try work.writes(limit: limit, contents) { replica, start, bytes throws(StoreError) in
                try segments(of: replica, from: start, byteBudget: bytes)
            }
            let result = try append(writes, wallMilliseconds, isSealed: true, &running)
            return RewritingStep(
                commit: result.serving(running.takeUnserved(), andOwn: true).commit,
                hasMore: VoidWork(of: running.own.device, in: try snapshot().log) != nil)
        }
    }
}
