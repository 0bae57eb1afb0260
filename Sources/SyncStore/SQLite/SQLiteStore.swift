import Synchronization
package import SyncModel

/// The storage of an agent: the log of every replica, the objects and events shown from it, and the knowledge of its peers.
/// One SQLite file in WAL mode.
///
/// All calls are synchronous and safe from any thread; writes run one after the other. A write that returns is durable
/// (fdatasync done), a write that throws left nothing behind.
///
/// One connection writes and checkpoints; reads go through a small pool and never wait for a write. Memory: the vector,
/// a few connections' page caches (about 3 MiB), and what a call asked for. Crash safety: Tests/StoreTests/PowerLossTests.swift.
package final class SQLiteStore: Sendable {
    let space = SpaceID.home
    let configuration: SQLiteConfiguration
    let files: StoreFiles
    let faults: StoreFaults
    let sign: @Sendable ([UInt8]) -> [UInt8]
    let lock: AgentLock
    let readers: ReaderPool
    /// The time that commits took to be on the disk.
    package let syncs = DurationHistogram(bounds: DurationCounts.diskBounds)
    let writing: Mutex<Writing>
    /// The state that can be read without waiting for a write.
    let published: Mutex<Published>

    /// Held for the whole of a write.
    struct Writing: Sendable {
        /// Nil after an I/O error: opened anew before anything else is written.
        var writer: Connection?
        var log: LogState
        var own: OwnHistory
        let hot: HotObjects
        var isClosed = false
        var mayStayOpen = false
        /// True if segments wait in the store for a history that takes the place of another (`HeldBack`).
        var holdsBack: Bool
        /// The guests, see `LogState.guests`; nil if not computed since the start, or since changes were taken back.
        var guests: [MemberFact]?
        /// The number of times a history was taken back since the start.
        var takingsBack = 0
        var tail: OpenTail?
        /// Sealed, and not yet part of any answer: what came behind it in the same call failed.
        var unserved: [VerifiedSegment] = []
        /// A replica of which an earlier process left commits open, while they could not be signed.
        var leftOpen: ReplicaID?

        mutating func takeUnserved() -> [VerifiedSegment] {
            defer { unserved = [] }
            return unserved
        }
        /// Databases kept from before a change of schema are removed by the first commit.
        var keepsOldSchema = true
    }

    struct Published: Sendable {
        var log: LogState
        var ownReplica: ReplicaID?
        var condition = StoreHealth.Condition.ok
        var isClosed = false
    }

    /// Opens the store, bringing its schema up to date.
    ///
    /// - Parameters:
    ///   - device: whose changes `append` authors.
    ///   - incarnations: gives the next incarnation, random and never the same twice.
    ///   - sign: Ed25519 with the device's signing key, 64 bytes.
    /// - Throws: `locked`, `unreadable`, `schemaNewer`, `corrupt`, `diskFull`, `inputOutput`.
    package init(
        _ configuration: SQLiteConfiguration, device: DeviceID, faults: StoreFaults = [],
        incarnations: @escaping @Sendable () -> UInt64, sign: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) throws(StoreError) {
        self.configuration = configuration
        self.faults = faults
        self.sign = sign
        files = StoreFiles(directory: configuration.directory)
        try files.prepare()
        lock = try AgentLock(directory: configuration.directory)
        let writer = try Self.openWriter(configuration, files, faults)
        let log = try Self.load(writer, configuration, files, space, by: device)
        var own = OwnHistory(
            device: device, on: log, keeper: configuration.leases, faults: faults, incarnations: incarnations)
        let leftOpen = try writer.use { access throws(StoreError) -> ReplicaID? in
            guard let rows = try LogRows(access, space: .home), let remembered = try rows.remembered() else {
                return nil
            }
            try own.resume(remembered, on: log, faults: faults) { end throws(StoreError) in
                try rows.head(of: remembered, at: end)
            }
            return try rows.leftOpen(remembered, by: device)
        }
        let holdsBack = try writer.use { access throws(StoreError) in
            try LogRows(access, space: .home)?.holdsBack() ?? false
        }
        readers = try ReaderPool(count: configuration.readerCount) { [files] () throws(StoreError) in
            try Connection(
                path: files.database, virtualFileSystem: configuration.virtualFileSystem, role: .reader)
        }
        published = Mutex(Published(log: log, ownReplica: own.author?.replica))
        writing = Mutex(
            Writing(
                writer: writer, log: log, own: own, hot: HotObjects(largeBytes: configuration.largeStateBytes),
                holdsBack: holdsBack, leftOpen: leftOpen))
        // A full disk does not keep the store from being read; the next write tries again.
        try? writing.withLock { writing throws(StoreError) in try signWhatWasLeft(&writing) }
    }

    private static func openWriter(
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
    private static func load(
        _ writer: Connection, _ configuration: SQLiteConfiguration, _ files: StoreFiles, _ space: SpaceID,
        by device: DeviceID
    ) throws(StoreError) -> LogState {
        try writer.use { access throws(StoreError) in
            try configuration.schema.migrate(access) { version throws(StoreError) in
                try access.run("PRAGMA wal_checkpoint(TRUNCATE)")
                try files.keepCopy(ofVersion: version)
            }
            if try LogRows(access, space: space) == nil {
                try access.transaction { access throws(StoreError) in try LogRows.create(space, access) }
            }
            guard let rows = try LogRows(access, space: space) else { throw .corrupt(detail: "the space has no row") }
            let derivation = Derivation(rows: rows)
            if try derivation.isDue { try access.transaction { _ throws(StoreError) in try derivation.run() } }
            let objects = ObjectRows(rows)
            if try objects.isIndexingDue { try access.transaction { _ throws(StoreError) in try objects.reindex() } }
            let touches = TouchRows(rows)
            if try touches.isFillingDue { try access.transaction { _ throws(StoreError) in try touches.fill() } }
            let state = try rows.state()
            let trust = TrustRows(rows)
            if try trust.isFillingDue {
                try access.transaction { _ throws(StoreError) in try trust.fill(state.cuts, blockedBy: device) }
            }
            try StructureCheck(rows).run(against: state)
            return state
        }
    }

    // Reading

    func read<Value>(_ body: (SQLiteAccess) throws(StoreError) -> Value) throws(StoreError) -> Value {
        if published.withLock(\.isClosed) { throw .closed }
        return try readers.read(body)
    }

    /// Reads of a space: nil for one that is not here.
    func readLog<Value>(_ space: SpaceID, _ body: (LogRows) throws(StoreError) -> Value) throws(StoreError) -> Value? {
        try read { access throws(StoreError) in
            guard let rows = try LogRows(access, space: space) else { return nil }
            return try body(rows)
        }
    }

    // Writing

    /// Runs one transaction on the writing connection; opens it anew first if an I/O error closed it.
    func write<Value: Sendable>(
        _ writing: inout Writing, _ body: (SQLiteAccess) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        if writing.isClosed { throw .closed }
        do throws(StoreError) {
            if let free = files.freeBytes, free < configuration.reserveBytes { throw .diskFull }
            let writer = try usableWriter(&writing)
            let value = try writer.use { access throws(StoreError) in try access.transaction(timing: syncs, body) }
            writing.hot.finish(isDurable: true)
            published.withLock { $0.condition = .ok }
            removeOldSchema(&writing)
            return value
        } catch {
            writing.hot.finish(isDurable: false)
            recordRefusal(error, &writing)
            throw error
        }
    }

    private func usableWriter(_ writing: inout Writing) throws(StoreError) -> Connection {
        if let writer = writing.writer { return writer }
        return try reopen(&writing)
    }

    func recordRefusal(_ error: StoreError, _ writing: inout Writing) {
        switch error {
        case .inputOutput:
            writing.writer?.close()
            writing.writer = nil
        case .diskFull, .corrupt, .unreadable: break
        case .schemaNewer, .locked, .notApplicable, .stampsExhausted, .refused, .retired, .foreignTail, .closed: return
        }
        published.withLock { $0.condition = .refusing(error) }
    }

    /// After a failed write nothing that is in the kernel's cache can be trusted to be on the disk: a second sync of the
    /// same pages succeeds without having written them (fsyncgate). So what was acknowledged, which was synced before, is
    /// moved into the database and synced there, and the write-ahead log begins anew, before anything else is written.
    /// (SQLite's next commit would overwrite the failed frames; this does not lean on that.)
    /// The readers stay open, so the failed transaction cannot be recovered in between.
    func reopen(_ writing: inout Writing) throws(StoreError) -> Connection {
        let writer = try Self.openWriter(configuration, files, faults)
        do throws(StoreError) {
            let log = try writer.use { access throws(StoreError) in
                let isBusy = try access.first("PRAGMA wal_checkpoint(TRUNCATE)") { row throws(StoreError) in
                    row.integer(0) != 0
                }
                if isBusy ?? true { throw .inputOutput(code: 5) }
                guard let rows = try LogRows(access, space: space) else {
                    throw .corrupt(detail: "the space has no row")
                }
                return try rows.state()
            }
            if log != writing.log {
                writing.leftOpen = writing.tail?.replica ?? writing.leftOpen
                writing.tail = nil
                writing.own.end()
            }
            writing.log = log
            writing.hot.forget()
        } catch {
            writer.close()
            throw error
        }
        writing.writer = writer
        return writer
    }

    private func removeOldSchema(_ writing: inout Writing) {
        guard writing.keepsOldSchema else { return }
        writing.keepsOldSchema = false
        files.removeCopies(below: configuration.schema.version)
    }

    func update<Value: Sendable>(_ body: (SQLiteAccess) throws(StoreError) -> Value) throws(StoreError) -> Value {
        try writing.withLock { writing throws(StoreError) in try write(&writing, body) }
    }

    /// Brings the write-ahead log into the database as far as readers allow, without waiting for them.
    func checkpoint() throws(StoreError) {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            do throws(StoreError) {
                let writer = try usableWriter(&writing)
                try writer.use { access throws(StoreError) in try access.run("PRAGMA wal_checkpoint(PASSIVE)") }
            } catch {
                recordRefusal(error, &writing)
                throw error
            }
        }
    }

    func spaceRows(_ access: SQLiteAccess) throws(StoreError) -> LogRows {
        guard let rows = try LogRows(access, space: space) else { throw .corrupt(detail: "the space has no row") }
        return rows
    }

    func publish(_ writing: Writing) {
        let own = writing.own.author?.replica
        published.withLock { published in
            published.log = writing.log
            published.ownReplica = own
        }
    }
}
