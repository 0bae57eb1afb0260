import SyncModel

/// The tables that follow from the log, at the start of a store: what an older program wrote is brought up to what this one
/// understands. Each filling is one transaction, so a process that is killed leaves the tables as they were.
struct DerivedTables {
    let rows: LogRows
    /// The device whose store it is.
    let device: DeviceID
    let report: UpgradeReport

    /// Fills what is due, and returns the state of the log.
    func filled() throws(StoreError) -> LogState {
        try rows.access.transaction { _ throws(StoreError) in try rows.write(own: device) }
        let derivation = Derivation(rows: rows, report: report)
        if try derivation.isDue {
            report(.deriving)
            try rows.access.transaction { _ throws(StoreError) in try derivation.run() }
            // What the log does not fill is little, and counts as done.
            try fillIndexes(UpgradeReport(nil))
        } else {
            try rows.access.transaction { _ throws(StoreError) in try derivation.recordUnderstood() }
            try fillIndexes(report)
        }
        var state = try checkedState()
        if state.founder == nil {
            state = try rows.access.transaction { [state] _ throws(StoreError) in
                var state = state
                _ = try rows.followFounder(of: device, &state, ObjectRows(rows), at: 0)
                return state
            }
        }
        let trust = TrustRows(rows)
        if try trust.isFillingDue {
            let cuts = state.cuts
            try rows.access.transaction { _ throws(StoreError) in try trust.fill(cuts, blockedBy: device) }
        }
        return state
    }

    /// Returns the state of the log as the older program left it, if all of the log is to be read again, and this program reads
    /// those tables correctly meanwhile; nil if they must be filled before anything is read, or need not be.
    func stateBeforeDerivation() throws(StoreError) -> LogState? {
        let derivation = Derivation(rows: rows)
        guard try derivation.isDue, try derivation.isReadableBefore else { return nil }
        do throws(StoreError) {
            try rows.access.transaction { _ throws(StoreError) in try rows.write(own: device) }
            try fillIndexes(report)
            return try checkedState()
        } catch {
            // What does not read back is filled from the log.
            if case .corrupt = error { return nil }
            throw error
        }
    }

    private func fillIndexes(_ report: UpgradeReport) throws(StoreError) {
        let objects = ObjectRows(rows)
        if try objects.isIndexingDue {
            report(.indexing)
            try rows.access.transaction { _ throws(StoreError) in try objects.reindex() }
        }
        let touches = TouchRows(rows)
        if try touches.isFillingDue {
            report(.indexing, 0.5)
            try rows.access.transaction { _ throws(StoreError) in try touches.fill() }
        }
    }

    private func checkedState() throws(StoreError) -> LogState {
        let state = try rows.state()
        try StructureCheck(rows).run(against: state)
        return state
    }
}
