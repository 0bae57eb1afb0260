import SyncModel

extension LogRows {
    /// Puts right what is stored where the strict ends moved after it was planned: a local write can have void work count again
    /// (a statement of the recovery key), and a founder that is found late judges roles. A second plan in the same
    /// transaction.
    ///
    /// - Parameters:
    ///   - cuts: by which the tables are filled.
    ///   - held: the changes that were read by `cuts`.
    ///   - state: as it is written, but for what its own cuts change.
    /// - Returns: nil if no such end moved.
    func settleStrictEnds(
        from cuts: CutTable, of held: VersionVector, to state: LogState, _ objects: ObjectRows,
        at wallMilliseconds: Int64, faults: StoreFaults = []
    ) throws(StoreError) -> LogPlan? {
        guard !StrictEndMove(from: cuts, to: state.cuts, held: held).ranges.isEmpty else { return nil }
        var before = state
        before.cuts = cuts
        var settling = LogPlan(settling: state.cuts, on: before)
        try settling.settleCuts(on: before, held: held, self, faults: faults)
        let planned = try settling.applyObjects(on: before, objects, faults: faults.model)
        let streams = try settling.applyStreams(on: before, StreamRows(self))
        try objects.write(planned, segments: try write(settling), at: wallMilliseconds)
        try StreamRows(self).write(streams)
        return settling
    }

    /// Looks for the founder by the facts, and puts right what its roles change.
    ///
    /// - Returns: the plan of that; nil if no strict end moved.
    func followFounder(
        of device: DeviceID, _ state: inout LogState, _ objects: ObjectRows, at wallMilliseconds: Int64
    ) throws(StoreError) -> LogPlan? {
        let before = state.cuts
        state.founder = try findFounder(of: device)
        let settled = try settleStrictEnds(from: before, of: state.held, to: state, objects, at: wallMilliseconds)
        if let settled { state = settled.after }
        return settled
    }
}

extension Commit {
    /// Returns the commit together with what it made of what was stored before.
    func settled(by plan: LogPlan) -> Commit {
        let settled = plan.commit
        var commit = settled.behind(self)
        commit.streams = Set((streams + settled.streams).map { Name.Bytes($0) }).sorted().map(\.text)
        return commit
    }
}

extension AppendResult {
    /// Returns the result with the table of cuts as it is now.
    func judged(by cuts: CutTable) -> AppendResult {
        var commit = commit
        commit.cuts = cuts
        return AppendResult(commit: commit, outcomes: outcomes)
    }

    func settled(by plan: LogPlan?) -> AppendResult {
        plan.map { AppendResult(commit: commit.settled(by: $0), outcomes: outcomes) } ?? self
    }
}
