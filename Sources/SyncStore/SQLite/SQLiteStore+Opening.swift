import Synchronization
import SyncModel

// The start of a store, and the rest of an upgrade, which readers need not wait for.
extension SQLiteStore {
    static func openWriter(
        _ configuration: SQLiteConfiguration, _ files: StoreFiles, _ faults: StoreFaults
    ) throws(StoreError) -> Connection {
        let syncing = !faults.contains(.commitWithoutSync)
        let writer = try Connection(
            path: files.database, virtualFileSystem: configuration.virtualFileSystem,
            role: .writer(syncing: syncing, checkpointPages: configuration.checkpointPages))
        // Read back on the connection that writes: a library in between has lowered it before now.
        let synchronous = try writer.synchronousLevel()
        precondition(!syncing || synchronous == 2, "the writer syncs every commit, but reports level \(synchronous)")
        return writer
    }

    /// Migrates, checks the structure, and reads the state of the log.
    ///
    /// - Returns: the state, and whether it is that of an older program (`finishUpgrade`).
    static func load(
        _ writer: Connection, _ configuration: SQLiteConfiguration, _ files: StoreFiles, _ space: SpaceID,
        by device: DeviceID
    ) throws(StoreError) -> (log: LogState, isOld: Bool) {
        try writer.use { access throws(StoreError) in
            let isNew = try Schema.version(of: access) == 0
            let report = UpgradeReport(isNew ? nil : configuration.upgrading)
            try configuration.schema.migrate(access, report) { version throws(StoreError) in
                try access.run("PRAGMA wal_checkpoint(TRUNCATE)")
                try files.keepCopy(ofVersion: version) { report(.copying, $0) }
            }
            if try LogRows(access, space: space) == nil {
                try access.transaction { access throws(StoreError) in try LogRows.create(space, access) }
            }
            guard let rows = try LogRows(access, space: space) else { throw .corrupt(detail: "the space has no row") }
            let tables = DerivedTables(rows: rows, device: device, report: report)
            if configuration.readsBeforeUpgraded, let log = try tables.stateBeforeDerivation() { return (log, true) }
            return (try tables.filled(), false)
        }
    }

    /// The history that a store goes on with, and what an earlier process left unfinished.
    struct Beginning {
        var own: OwnHistory
        let leftOpen: ReplicaID?
        let holdsBack: Bool

        init(_ own: OwnHistory, _ writer: Connection, _ log: LogState, _ faults: StoreFaults) throws(StoreError) {
            var resumed = own
            leftOpen = try writer.use { access throws(StoreError) -> ReplicaID? in
                guard let rows = try LogRows(access, space: .home), let remembered = try rows.remembered() else {
                    return nil
                }
                try resumed.resume(remembered, on: log, faults: faults) { end throws(StoreError) in
                    try rows.head(of: remembered, at: end)
                }
                return try rows.leftOpen(remembered, by: own.device)
            }
            holdsBack = try writer.use { access throws(StoreError) in
                try LogRows(access, space: .home)?.holdsBack() ?? false
            }
            self.own = resumed
        }
    }

    /// True if the tables are still those of an older program. Nothing may be written before `finishUpgrade`.
    package var isUpgradePending: Bool { published.withLock(\.isOld) }

    /// Fills the tables of an older program anew, which takes seconds for a million changes. Readers see what they were until
    /// it returns; writes wait. Does nothing for a store that is up to date. If it throws, the tables are as they were, and the
    /// store is to be closed.
    package func finishUpgrade() throws(StoreError) {
        try writing.withLock { writing throws(StoreError) in
            guard let makeOwn = writing.makeOwn else { return }
            if writing.isClosed { throw .closed }
            let writer = try usableWriter(&writing)
            let (report, device) = (UpgradeReport(configuration.upgrading), writing.own.device)
            writing.log = try writer.use { access throws(StoreError) in
                try DerivedTables(rows: spaceRows(access), device: device, report: report).filled()
            }
            writing.hot.forget()
            let beginning = try Beginning(makeOwn(writing.log), writer, writing.log, faults)
            writing.own = beginning.own
            writing.leftOpen = beginning.leftOpen
            writing.holdsBack = beginning.holdsBack
            writing.makeOwn = nil
            publish(writing)
            published.withLock { $0.isOld = false }
            // As at every start: a full disk does not keep the store from being read.
            try? signWhatWasLeft(&writing)
        }
    }
}
