import Synchronization
package import SyncModel

/// The store of an agent: one SQLite file in WAL mode, every commit synced before it is answered.
///
/// One connection writes and checkpoints; reads go through a small pool and never wait for a write. Memory: the vector,
/// a few connections' page caches (about 3 MiB), and what a call asked for. Crash safety: Tests/StoreTests/Durability.
package final class SQLiteStore: ReplicaStore {
    let space = SpaceID.home
    let configuration: SQLiteConfiguration
    let files: StoreFiles
    let faults: StoreFaults
    private let sign: @Sendable ([UInt8]) -> [UInt8]
    let lock: AgentLock
    let readers: ReaderPool
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
        /// Changes wait for a history that takes the place of another.
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
        let log = try Self.load(writer, configuration, files, space)
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
        _ writer: Connection, _ configuration: SQLiteConfiguration, _ files: StoreFiles, _ space: SpaceID
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
            let touches = TouchRows(rows)
            if try touches.isFillingDue { try access.transaction { _ throws(StoreError) in try touches.fill() } }
            let state = try rows.state()
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
            let value = try writer.use { access throws(StoreError) in try access.transaction(body) }
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

extension SQLiteStore {
    package func append(_ writes: [LocalWrite], wallMilliseconds: Int64) throws(StoreError) -> AppendResult {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            let mayStayOpen = writing.mayStayOpen && LocalWrite.mayStayOpen(writes)
            if mayStayOpen { try foldFullTail(&writing) }
            let state = writing.log
            try writing.own.heedCuts(state.cuts, faults: faults)
            let next = writing.own.nextAuthor(on: state)
            let isSealed = !mayStayOpen || writing.tail?.isFull ?? false
            if isSealed || writing.tail.map({ $0.replica != next.replica }) ?? false {
                try seal(&writing)
                writing.tail = nil
                let result = try append(writes, wallMilliseconds, isSealed: true, &writing)
                return result.serving(writing.takeUnserved(), andOwn: true)
            }
            return try append(writes, wallMilliseconds, isSealed: false, &writing).serving([], andOwn: false)
        }
    }

    /// - Parameter noting: what else is written in the same transaction.
    func append(
        _ writes: [LocalWrite], _ wallMilliseconds: Int64, isSealed: Bool, _ writing: inout Writing,
        noting: (LogRows, AppendResult) throws(StoreError) -> Void = { _, _ in }
    ) throws(StoreError) -> AppendResult {
        let state = writing.log
        let before = writing.own.author
        let sign = isSealed ? sign : { _ in [] }
        let commit = LocalCommit(writing.own, on: state, wallMilliseconds: wallMilliseconds)
        let planned = try write(&writing) { [hot = writing.hot] access throws(StoreError) in
            let rows = try spaceRows(access)
            let objects = ObjectRows(rows, hot: hot)
            var commit = commit
            for write in writes { try commit.take(write, reading: objects, sign: sign) }
            let planned = try commit.finish(reading: objects, StreamRows(rows), sign: sign)
            try noting(rows, planned.result)
            guard planned.writesAnything else {
                objects.giveBack(planned.objects)
                return planned
            }
            try objects.write(planned.objects, segments: try rows.write(planned.log), at: wallMilliseconds)
            try StreamRows(rows).write(planned.streams)
            if !faults.contains(.answersKeptLater) { try AnsweredWriteRows(access: access).write(planned.answers) }
            if !planned.log.entries.isEmpty { try rows.remember(planned.author, before: before) }
            return planned
        }
        guard planned.writesAnything else { return planned.result }
        if faults.contains(.answersKeptLater) { try keep(planned.answers, &writing) }
        writing.log = planned.log.after
        if !planned.log.entries.isEmpty {
            if !isSealed {
                var tail = writing.tail ?? OpenTail(planned.author.replica, before: state)
                tail.add(planned)
                writing.tail = tail
            }
            writing.own.committed(planned.author, sealed: writing.tail?.sealedTip)
        }
        publish(writing)
        return planned.result
    }

    package func apply(_ segments: [VerifiedSegment], wallMilliseconds: Int64) throws(StoreError) -> Commit {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            writing.tail = nil
            return try apply(segments, wallMilliseconds, &writing)
        }
    }

    func apply(
        _ segments: [VerifiedSegment], _ wallMilliseconds: Int64, _ writing: inout Writing
    ) throws(StoreError) -> Commit {
        let state = writing.log
        let waiting =
            writing.holdsBack ? try readLog(space) { rows throws(StoreError) in try rows.heldBack() } ?? [] : []
        let released = state.applicable(
            waiting, behind: segments, but: waiting.isEmpty ? [] : try guests(&writing))
        var plan = try LogPlan(segments + released, on: state)
        guard !plan.entries.isEmpty else { return plan.commit.serving(writing.takeUnserved(), andOwn: true) }
        let hot = writing.hot
        plan = try write(&writing) { access throws(StoreError) in
            let rows = try spaceRows(access)
            let objects = ObjectRows(rows, hot: hot)
            var plan = plan
            try plan.settleCuts(on: state, rows, faults: faults)
            let planned = try plan.applyObjects(on: state, objects)
            let streams = try plan.applyStreams(on: state, StreamRows(rows))
            try objects.write(planned, segments: try rows.write(plan), at: wallMilliseconds)
            try StreamRows(rows).write(streams)
            if !waiting.isEmpty { try rows.releaseHeldBack(upTo: plan.after.held) }
            return plan
        }
        if !waiting.isEmpty {
            writing.holdsBack = try readLog(space) { rows throws(StoreError) in try rows.holdsBack() } ?? true
        }
        writing.log = plan.after
        if !plan.commit.additions.isEmpty { writing.guests = nil }
        writing.own.applied(plan)
        publish(writing)
        return plan.commit.serving(writing.takeUnserved(), andOwn: true)
    }

    // Open and sealed

    package func leaveOpen() throws(StoreError) {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            writing.mayStayOpen = true
        }
    }

    package func seal() throws(StoreError) -> Commit {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            writing.mayStayOpen = false
            try signWhatWasLeft(&writing)
            try seal(&writing)
            return Commit(nothingOn: writing.log).serving(writing.takeUnserved(), andOwn: true)
        }
    }

    func seal(_ writing: inout Writing) throws(StoreError) {
        guard let tail = writing.tail else { return }
        let sealing = try rewrite(tail, &writing, sign: sign)
        writing.log = sealing.after
        writing.own.sealed(tail.replica, sealing.tip)
        writing.unserved += sealing.log.entries.map(\.verified)
        writing.tail = faults.contains(.foldWhatWasSeen) ? tail.seen(as: sealing) : nil
        publish(writing)
    }

    /// Seals, and runs `body` before anything else is written.
    func sealed<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            return try body()
        }
    }

    func signWhatWasLeft(_ writing: inout Writing) throws(StoreError) {
        guard let replica = writing.leftOpen else { return }
        try write(&writing) { access throws(StoreError) in try spaceRows(access).signTail(of: replica, sign) }
        writing.leftOpen = nil
    }

    package func acknowledge(_ acknowledgement: Acknowledgement) throws(StoreError) -> SignedAcknowledgement {
        try writing.withLock { writing throws(StoreError) in
            let signed = SignedAcknowledgement(writing.log.completing(acknowledgement), space: space, sign: sign)
            try write(&writing) { access throws(StoreError) in try spaceRows(access).keep([signed]) }
            return signed
        }
    }

    package func collect(upTo stable: VersionVector, after: Dot?, limit: Int) throws(StoreError) -> CollectionStep {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            if let tail = writing.tail { throw .notApplicable(tail.replica, at: tail.sealedTip.next) }
            let state = writing.log
            let hot = writing.hot
            let planned = try write(&writing) { access throws(StoreError) in
                let objects = ObjectRows(try spaceRows(access), hot: hot)
                let plan = try CollectionPlan(stable, on: state, objects) { () throws(StoreError) in
                    try objects.deletions(upTo: stable, after: after, limit: limit)
                }
                if plan.isChanged { try objects.write(plan) }
                return plan
            }
            guard planned.isChanged else { return planned.step(limit: limit) }
            writing.log = planned.log.after
            publish(writing)
            return planned.step(limit: limit)
        }
    }

    package func closeIncarnation() throws(StoreError) {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            writing.own.end()
            publish(writing)
        }
    }

    package func state() throws(StoreError) -> StoreState {
        let known = published.withLock { $0 }
        if known.isClosed { throw .closed }
        let additions = try readLog(space) { rows throws(StoreError) in try rows.additions() } ?? []
        return StoreState(
            tips: known.log.tips, additions: additions, digest: known.log.digest, counts: known.log.counts,
            ownReplica: known.ownReplica, addresses: try addresses(), lastPosition: known.log.lastPosition,
            acknowledgements: try readLog(space) { rows throws(StoreError) in try rows.acknowledgements() } ?? [],
            floor: known.log.floor, firstHeld: known.log.firstHeld, cuts: known.log.cuts,
            isIncomplete: known.log.isIncomplete,
            settled: try readLog(space) { rows throws(StoreError) in try rows.settled() } ?? [],
            gaveWay: try readLog(space) { rows throws(StoreError) in try rows.gaveWay() } ?? [:],
            awaited: try readLog(space) { rows throws(StoreError) in
                try rows.heldBack().awaited(on: known.log)
            } ?? [],
            hasTakenBack: try readLog(space) { rows throws(StoreError) in try rows.hasTakenBack() } ?? false,
            blocked: try blockedDevices())
    }

    var cuts: CutTable { get throws(StoreError) { try known().cuts } }

    package func members() throws(StoreError) -> MemberFacts { try known().members }

    package func context(of replica: ReplicaID) throws(StoreError) -> VersionVector {
        try known().context(of: replica)
    }

    package func objectPosition() throws(StoreError) -> Int64 { try known().objectPosition }

    func known() throws(StoreError) -> LogState {
        try published.withLock { known throws(StoreError) in
            if known.isClosed { throw .closed }
            return known.log
        }
    }
}
