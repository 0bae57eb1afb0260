import Synchronization
package import SyncModel

extension SQLiteStore {
    /// Takes statements of the recovery key that came apart from their histories, and puts right what they change of what is
    /// stored, in one transaction. Those that are known change nothing.
    package func takeStatements(
        _ statements: [PlacedStatement], wallMilliseconds: Int64
    ) throws(StoreError) -> Commit {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            writing.tail = nil
            let state = writing.log
            var cuts = state.cuts
            let news = statements.filter { cuts.record($0, members: state.members) }
            var plan = LogPlan(settling: cuts, on: state)
            guard !news.isEmpty else { return plan.commit.serving(writing.takeUnserved(), andOwn: true) }
            let hot = writing.hot
            plan = try write(&writing) { [plan] access throws(StoreError) in
                var plan = plan
                let rows = try spaceRows(access)
                let objects = ObjectRows(rows, hot: hot)
                try plan.settleCuts(on: state, rows, faults: faults)
                let planned = try plan.applyObjects(on: state, objects, faults: faults.model)
                let streams = try plan.applyStreams(on: state, StreamRows(rows))
                try objects.write(planned, segments: try rows.write(plan), at: wallMilliseconds)
                try StreamRows(rows).write(streams)
                try TrustRows(rows).record(
                    news.map { TrustFact($0.statement, at: $0.dot, wallMilliseconds: nil) }, at: wallMilliseconds)
                return plan
            }
            writing.log = plan.after
            publish(writing)
            return plan.commit.serving(writing.takeUnserved(), andOwn: true)
        }
    }
}
