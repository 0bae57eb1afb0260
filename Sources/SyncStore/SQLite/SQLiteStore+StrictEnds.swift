import SyncModel

extension SQLiteStore {
    /// Puts right what is stored already when a local write moves strict ends: a statement of the recovery key can have void
    /// work count again. A second plan, on what the write has made of the store, in the same transaction.
    ///
    /// - Parameters:
    ///   - plan: is written.
    ///   - state: before it.
    /// - Returns: nil if no such end moved.
    func settleStrictEnds(
        behind plan: LogPlan, on state: LogState, _ objects: ObjectRows, _ wallMilliseconds: Int64
    ) throws(StoreError) -> LogPlan? {
        let move = StrictEndMove(from: state.cuts, to: plan.after.cuts, held: state.held)
        guard plan.changesCuts, !move.ranges.isEmpty else { return nil }
        let rows = objects.log
        var before = plan.after
        before.cuts = state.cuts
        var settling = LogPlan(settling: plan.after.cuts, on: before)
        try settling.settleCuts(on: before, rows, faults: faults)
        let planned = try settling.applyObjects(on: before, objects, faults: faults.model)
        let streams = try settling.applyStreams(on: before, StreamRows(rows))
        try objects.write(planned, segments: try rows.write(settling), at: wallMilliseconds)
        try StreamRows(rows).write(streams)
        return settling
    }
}

extension AppendResult {
    /// Returns the result of the write together with what it made of what was stored before.
    func settled(by plan: LogPlan) -> AppendResult {
        let settled = plan.commit
        var commit = settled.behind(self.commit)
        commit.streams = Set((self.commit.streams + settled.streams).map { Name.Bytes($0) }).sorted().map(\.text)
        return AppendResult(commit: commit, outcomes: outcomes)
    }
}
