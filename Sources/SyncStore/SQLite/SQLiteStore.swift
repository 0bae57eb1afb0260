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
    /// As it was read last.
    let voidBlobs = Mutex<VoidBlobs?>(nil)
    /// As it was read last.
    let knownWork = Mutex<KnownWork?>(nil)
    /// The device whose store it is.
    let device: DeviceID

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
        /// Makes the history to go on with once the tables of an older program are filled anew; nil where they are.
        var makeOwn: (@Sendable (LogState) -> OwnHistory)?
        /// The time of the last look for databases from before a change of schema that were kept long enough.
        var copiesLookedAt: ContinuousClock.Instant?
    }

    struct Published: Sendable {
        var log: LogState
        var ownReplica: ReplicaID?
        /// True once a retirement of this device is known, also if it came back since. Set before readers can see what that did.
        var wasRetired = false
        /// Grows where the waiting work may be another one (`WaitingWork`): cuts or facts of members changed, or own histories did
        /// not just grow by a write.
        var generation: UInt64 = 0
        /// True while readers are given what an older program wrote.
        var isOld = false
        var condition = StoreHealth.Condition.ok
        var isClosed = false
    }

    /// Opens the store, bringing its schema up to date, and its tables unless readers need not wait for that
    /// (`SQLiteConfiguration.readsBeforeUpgraded`).
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
        self.device = device
        self.faults = faults
        self.sign = sign
        files = StoreFiles(directory: configuration.directory)
        try files.prepare()
        lock = try AgentLock(directory: configuration.directory)
        let writer = try Self.openWriter(configuration, files, faults)
        let (loaded, isOld) = try Self.load(writer, configuration, files, space, by: device)
        var log = loaded
        if !faults.trust.isEmpty { log.plant(faults.trust, on: device) }
        if let program = configuration.program { files.record(program: program) }
        let makeOwn = { @Sendable (log: LogState) in
            OwnHistory(
                device: device, on: log, keeper: configuration.leases, faults: faults, incarnations: incarnations,
                clockAhead: configuration.clockAhead)
        }
        var own = makeOwn(log)
        var (leftOpen, holdsBack): (ReplicaID?, Bool) = (nil, false)
        if !isOld {
            let beginning = try Beginning(own, writer, log, faults)
            (own, leftOpen, holdsBack) = (beginning.own, beginning.leftOpen, beginning.holdsBack)
        }
        readers = try ReaderPool(count: configuration.readerCount) { [files] () throws(StoreError) in
            try Connection(
                path: files.database, virtualFileSystem: configuration.virtualFileSystem, role: .reader)
        }
        published = Mutex(
            Published(
                log: log, ownReplica: own.author?.replica, wasRetired: !log.cuts.cuts(of: device).isEmpty, isOld: isOld)
        )
        writing = Mutex(
            Writing(
                writer: writer, log: log, own: own, hot: HotObjects(largeBytes: configuration.largeStateBytes),
                holdsBack: holdsBack, leftOpen: leftOpen, makeOwn: isOld ? makeOwn : nil))
        // A full disk does not keep the store from being read; the next write tries again.
        try? writing.withLock { writing throws(StoreError) in try signWhatWasLeft(&writing) }
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
            try ensureRoom()
            let writer = try usableWriter(&writing)
            let value = try writer.use { access throws(StoreError) in try access.transaction(timing: syncs, body) }
            writing.hot.finish(isDurable: true)
            published.withLock { $0.condition = .ok }
            removeOldCopies(&writing)
            return value
        } catch {
            writing.hot.finish(isDurable: false)
            recordRefusal(error, &writing)
            throw error
        }
    }

    func usableWriter(_ writing: inout Writing) throws(StoreError) -> Connection {
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
                var log = try rows.state()
                if !faults.trust.isEmpty { log.plant(faults.trust, on: writing.own.device) }
                return log
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

    /// Refuses a write below the reserve. New changes come before the way back: databases from before a change of schema are
    /// removed first.
    private func ensureRoom() throws(StoreError) {
        guard let free = files.freeBytes, free < configuration.reserveBytes else { return }
        guard files.removeCopies(below: configuration.schema.version, keptFor: 0), let room = files.freeBytes,
            room >= configuration.reserveBytes
        else { throw .diskFull }
    }

    /// Looks once a day.
    private func removeOldCopies(_ writing: inout Writing) {
        let now = ContinuousClock.now
        if let last = writing.copiesLookedAt, now - last < .seconds(86_400) { return }
        writing.copiesLookedAt = now
        files.removeCopies(below: configuration.schema.version, keptFor: StoreFiles.copySeconds)
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

    /// Lets readers look for work that waits to be written again, from before the commit on by which it begins to wait.
    func lookForWaitingWork(by cuts: CutTable) {
        if !cuts.cuts(of: device).isEmpty { published.withLock { $0.wasRetired = true } }
    }

    /// - Parameter movesOwn: false if this device's own histories are as before, but for what it wrote itself.
    func publish(_ writing: Writing, movesOwn: Bool = true) {
        lookForWaitingWork(by: writing.log.cuts)
        let own = writing.own.author?.replica
        published.withLock { published in
            if movesOwn || published.log.cuts != writing.log.cuts || published.log.members != writing.log.members {
                published.generation += 1
            }
            published.log = writing.log
            published.ownReplica = own
        }
    }
}
