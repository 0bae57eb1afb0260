package import Logging
import NIOCore
package import SyncCore
import SyncDiscovery
package import SyncModel
package import SyncStore
package import SyncTransport
import Synchronization

/// A running agent: the loop and its drivers, put together. Its methods are what the control server needs.
package final class Agent: Sendable {
    /// The configuration that the agent runs with by now.
    package var configuration: AgentConfiguration { currentConfiguration.withLock(\.self) }
    private let currentConfiguration: Mutex<AgentConfiguration>
    /// Makes the configuration anew from flags, environment and file.
    let reread: @Sendable () throws(ConfigurationError) -> AgentConfiguration
    /// The version of this build, which peers are told.
    package let version: String
    package let device: DeviceID
    /// The bytes of attachments.
    package let attachments: AttachmentService
    /// The signal that wakes readers of events.
    package let eventSignal = ChangeSignal()
    /// The signal that wakes watchers of objects.
    package let objectSignal = ChangeSignal()
    /// The signal that wakes watchers of peers.
    package let peerSignal = ChangeSignal()
    /// The signal that wakes watchers of a pairing by typed codes.
    package let pairingSignal = ChangeSignal()
    /// The values that are present, of clients here and of other members.
    package let presence: PresenceBoard
    package let journal: AgentJournal
    package let log: AgentLog
    /// The logger of what concerns the agent as a whole.
    package let logger: Logger
    /// The loggers of its components.
    package let loggers: AgentLoggers

    let eventLoop: any EventLoop
    let driver: StoreDriver
    let writer: LocalWriter
    let blobDriver: BlobDriver
    let arrivals = Arrivals()
    let temporaryLogLevels: TemporaryLogLevels
    let backupTurn = BackupTurn()
    /// The backups that the agent makes by itself.
    package let backups: BackupBoard
    private let parts: NIOLoopBoundBox<Parts?>
    private let startedAt = NIODeadline.now()
    /// The time of the start, in milliseconds since 1970.
    package let startedWallMilliseconds = WallClock.milliseconds
    private let shared = Mutex(Shared())
    /// Opens, moves and closes the servers of the process, for `reload`.
    let servers = Mutex<ServerSetter?>(nil)

    /// The wipe that left this data directory empty; nil if there was none.
    package let wiped: WipeRecord?
    /// Has an element once this device's data was deleted, and ends then: the process is to begin anew.
    package let wipes: AsyncStream<Void>
    private let wipesDone: AsyncStream<Void>.Continuation

    private struct Shared {
        var listenPort: UInt16 = 0
        var startWarnings: [Warning] = []
        var isWiping = false
        var isReloading = false
        /// True if the configuration is to be read once more after the reading under way.
        var isReloadAsked = false
        var isStopped = false
    }

    /// A condition that a person should know of, with the next step.
    package struct Warning: Sendable, Hashable {
        package let code: String
        package let message: String
        package let hint: String

        package init(code: String, message: String, hint: String) {
            self.code = code
            self.message = message
            self.hint = hint
        }
    }

    /// The objects that live on the event loop.
    struct Parts {
        let relay: TransportRelay
        let loop: AgentLoop
        let bulk: BulkLoop
        let discovery: DiscoveryDriver
        let pairing: PairingDriver
        let codes: CodesDriver
    }

    init(
        configuration: AgentConfiguration, version: String, identity: DeviceIdentity, store: SQLiteStore,
        blobs: BlobStore, eventLoop: any EventLoop, log: AgentLog,
        reread: @escaping @Sendable () throws(ConfigurationError) -> AgentConfiguration
    ) {
        currentConfiguration = Mutex(configuration)
        self.reread = reread
        self.version = version
        device = identity.deviceID
        journal = AgentJournal(own: identity.deviceID)
        wiped = WipeRecord.read(in: configuration.dataDirectory)
        (wipes, wipesDone) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        backups = BackupBoard(dataDirectory: configuration.dataDirectory, configured: configuration.backups)
        self.eventLoop = eventLoop
        self.log = log
        logger = log.logger(level: configuration.logLevel)
        loggers = AgentLoggers(log, level: configuration.logLevel)
        temporaryLogLevels = TemporaryLogLevels(configured: configuration.logLevel, log: log, eventLoop: eventLoop)
        driver = StoreDriver(store: store, eventLoop: eventLoop)
        blobDriver = BlobDriver(
            blobs: blobs, store: driver, inlet: BulkInlet(eventLoop: eventLoop), journal: journal)
        attachments = AttachmentService(driver: blobDriver, arrivals: arrivals)
        let parts = NIOLoopBoundBox<Parts?>.makeEmptyBox(valueType: Parts.self, eventLoop: eventLoop)
        self.parts = parts
        presence = PresenceBoard(own: identity.deviceID, name: configuration.name) {
            eventLoop.execute { parts.value?.loop.presence?.handleChanged() }
        }
        writer = LocalWriter(store: driver, journal: journal) { commit in
            eventLoop.execute { parts.value?.loop.handleAppended(commit) }
        }
    }

    /// The store, for reads inside `reading` and on threads that may wait.
    package var store: SQLiteStore {
        assert(ReadQueue.mayBlock, "a read would block the cooperative pool: it belongs inside `reading`")
        return driver.store
    }

    /// The sizes and the condition of the store; blocks no thread for long.
    package var storeHealth: StoreHealth { driver.store.health() }

    /// Runs reads of the store on one of its reading threads. The task waits for its turn without a thread.
    ///
    /// - Parameter refused: makes the caller's error for a read that did not begin.
    package func reading<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, refused: (ReadQueue.Refusal) -> Failure
    ) async throws(Failure) -> Value {
        try await driver.reads.run(body, refused: refused)
    }

    /// The parts of the running agent; on the loop only. Set once, at the start.
    var running: Parts {
        guard let parts = parts.value else { preconditionFailure("the agent was built before it was asked") }
        return parts
    }

    func install(_ parts: Parts) { self.parts.value = parts }

    package var listenPort: UInt16 { shared.withLock(\.listenPort) }
    package var startWarnings: [Warning] { shared.withLock(\.startWarnings) }
    package var uptimeSeconds: Int { Int((NIODeadline.now() - startedAt).nanoseconds / 1_000_000_000) }

    func setListenPort(_ port: UInt16) { shared.withLock { $0.listenPort = port } }
    /// Adds warnings that `status` shows for as long as the agent runs, in place of those with one of these codes.
    package func setStartWarnings(_ warnings: [Warning], inPlaceOf codes: [String] = []) {
        shared.withLock { shared in
            shared.startWarnings.removeAll { codes.contains($0.code) }
            shared.startWarnings += warnings
        }
    }

    /// - Returns: false if a wipe is under way.
    func beginWipe() -> Bool {
        shared.withLock { shared in
            defer { shared.isWiping = true }
            return !shared.isWiping
        }
    }

    /// - Parameter orAfterwards: one more reading is wanted if one is under way.
    /// - Returns: false if the configuration is being read again.
    func beginReload(orAfterwards: Bool) -> Bool {
        shared.withLock { shared in
            defer { shared.isReloading = true }
            if shared.isReloading, orAfterwards { shared.isReloadAsked = true }
            return !shared.isReloading
        }
    }

    /// - Returns: true if one more reading is wanted.
    func endReload() -> Bool {
        shared.withLock { shared in
            defer { (shared.isReloading, shared.isReloadAsked) = (false, false) }
            return shared.isReloadAsked
        }
    }

    func setConfiguration(_ configuration: AgentConfiguration) { currentConfiguration.withLock { $0 = configuration } }

    func endWipe() { shared.withLock { $0.isWiping = false } }

    func finishWipes() {
        wipesDone.yield()
        wipesDone.finish()
    }

    /// Says goodbye to peers and neighbours, then closes the store. Everything acknowledged is durable already; this is
    /// politeness, bounded well under two seconds. Does nothing the second time.
    package func stop() async {
        let wasStopped = shared.withLock { shared in
            defer { shared.isStopped = true }
            return shared.isStopped
        }
        guard !wasStopped else { return }
        eventSignal.finish()
        objectSignal.finish()
        peerSignal.finish()
        pairingSignal.finish()
        presence.signal.finish()
        backups.signal.finish()
        try? await eventLoop.flatSubmit { [self] in
            temporaryLogLevels.stop()
            running.loop.presence?.stop()
            running.loop.stop()
            running.bulk.stop()
            running.codes.stop()
            running.discovery.stop()
            return running.loop.transport.shutdown()
        }.get()
        attachments.stop()
        driver.close()
        logger.notice("The agent stopped.")
    }

    /// Runs on the agent's loop.
    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await eventLoop.submit { [self] in
            guard parts.value != nil else { throw AgentError.upgrading }
            return try body()
        }.get()
    }

    // MARK: What the control server asks for

    /// Releases memory that is only held to be faster the next time.
    package func rest() { driver.store.rest() }

    /// Makes one durable change per write, in this order; at most `Limits.changesPerGroup` writes. A refused write does not
    /// affect the others.
    package func write(_ writes: [LocalWrite]) async throws -> [Result<WriteOutcome, WriteRefusal>] {
        try await writer.write(await driver.prepared(writes))
    }

    /// Returns the role of this device in its space.
    package func ownRole() async throws -> MemberFact.Role { try await onLoop { [self] in running.loop.ownRole } }

    /// Returns the founder that this device follows: itself until it joins.
    package func founder() async throws -> DeviceID { try await onLoop { [self] in running.loop.founder } }

    /// Returns a ticket that lets one device in with this role.
    ///
    /// - Parameter until: the end of the membership (`MemberFact.until`). The ticket is good for no longer.
    /// - Throws: `AgentError.roleTooGreat` for a role above the own, and `untilPassed`.
    package func invite(
        role: MemberFact.Role = .writer, until: UInt64? = nil, lifetimeMilliseconds: Int64
    ) async throws -> Ticket {
        try await eventLoop.flatSubmit { [self] in
            running.pairing.invite(role: role, until: until, lifetimeMilliseconds: lifetimeMilliseconds)
        }.get()
    }

    /// Dials the inviter, proves the ticket, and makes both members of each other's space.
    /// - Throws: `TicketError`, `JoinError` or a `StoreError`.
    package func join(_ text: String) async throws -> JoinedDevice {
        let ticket = try Ticket(text: text)
        return try await eventLoop.flatSubmit { [self] in
            running.pairing.join(ticket, alsoAt: running.discovery.strangerAddresses)
        }.get()
    }

    /// Opens this device for a pairing by typed codes.
    ///
    /// - Parameters:
    ///   - address: the one that the person named.
    ///   - role: the role of the other device, if it joins the space of this one.
    ///   - until: the end of its membership.
    /// - Returns: the id of the pairing.
    /// - Throws: `AgentError.alreadyPairing`, `untilPassed`, and `roleTooGreat` for a role above the own.
    package func openPairing(
        _ wish: PairingMachine.Wish, at address: Endpoint?, giving role: MemberFact.Role = .writer,
        until: UInt64? = nil
    ) async throws -> UInt64 {
        let address = address.flatMap { HostPort(host: $0.host, port: Int($0.port)) }
        return try await onLoop { [self] in try running.codes.open(wish, at: address, giving: role, until: until) }
    }

    /// Takes what a person did. Ignored unless this pairing runs.
    package func stepPairing(_ id: UInt64, _ input: PairingMachine.Input) async throws {
        try await onLoop { [self] in running.codes.step(id, input) }
    }

    /// Returns a pairing by typed codes as it is, or as it ended; the newest for nil.
    package func pairing(_ id: UInt64? = nil) async throws -> PairingView? {
        try await onLoop { [self] in running.codes.view(id) }
    }

    /// - Returns: false when the address was known already.
    package func addAddress(host: String, port: UInt16) async throws -> Bool {
        let address = PeerAddress(host: host, port: port, device: nil, isStatic: true, lastConnectedMilliseconds: nil)
        let isKnown = try await driver.write { store throws(StoreError) in
            let isKnown = try store.addresses().contains { $0.isStatic && $0.host == host && $0.port == port }
            try store.remember(address)
            return isKnown
        }.get()
        try await onLoop { [self] in
            running.loop.step(
                .addressAdded(Endpoint(host: host, port: port), device: nil, isStatic: true))
        }
        return !isKnown
    }

    /// - Returns: false when there was no such address.
    package func removeAddress(host: String, port: UInt16) async throws -> Bool {
        let wasThere = try await driver.write { store throws(StoreError) in try store.forget(host: host, port: port) }
            .get()
        try await onLoop { [self] in running.loop.step(.addressRemoved(Endpoint(host: host, port: port))) }
        return wasThere
    }

    /// Blocks or unblocks a device. Durable, and in effect, when it returns.
    package func setBlocked(_ device: DeviceID, _ isBlocked: Bool) async throws {
        try await eventLoop.flatSubmit { [self] in
            let loop = NIOLoopBound(running.loop, eventLoop: eventLoop)
            return driver.write { store throws(StoreError) in
                try store.setBlocked(device, isBlocked, wallMilliseconds: WallClock.milliseconds)
                return try store.blockedDevices()
            }.map { loop.value.step(.blocked($0)) }
        }.get()
    }

    /// Moves a cursor or notes a delivery: a durable write beside the log.
    package func update<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteStore) throws(StoreError) -> Value
    ) async throws -> Value {
        try await driver.write(body).get()
    }

    /// Returns the number of attachments whose bytes should be here, by policy or pin, and are not.
    package func missingCount(of space: SpaceID) async throws -> Int {
        try await driver.missingCount(of: space).get()
    }

    /// Has the core ping the device and ask it for all that it holds. Returns the state from before: pongs and announcements beyond
    /// its counts are answers.
    package func askToPing(_ device: DeviceID) async throws -> AgentSnapshot {
        try await onLoop { [self] in
            let before = AgentSnapshot(running.loop, running.bulk, running.discovery, agent: self)
            running.loop.step(.pingAsked(device))
            return before
        }
    }

    /// Measures the way to a member without a session, by one TCP handshake.
    ///
    /// - Returns: nil if no address of it is known, or nothing came of it in time.
    package func probeWay(to device: DeviceID, within patience: Duration) async throws -> WayProbe? {
        try await eventLoop.flatSubmit { [self] in
            let promise = eventLoop.makePromise(of: WayProbe?.self)
            // The first of the two counts.
            let end = eventLoop.scheduleTask(in: TimeAmount(patience)) { promise.succeed(nil) }
            running.loop.probeWay(to: device).whenSuccess { probe in
                end.cancel()
                promise.succeed(probe)
            }
            return promise.futureResult
        }.get()
    }

    package func snapshot() async throws -> AgentSnapshot {
        try await onLoop { [self] in AgentSnapshot(running.loop, running.bulk, running.discovery, agent: self) }
    }

    /// Returns the state of the agent with what only metrics need, taken in one turn of the loop.
    package func figures() async throws -> AgentFigures {
        try await onLoop { [self] in
            AgentFigures(
                snapshot: AgentSnapshot(running.loop, running.bulk, running.discovery, agent: self), loop: running.loop,
                agent: self)
        }
    }

    /// Drops from the log the changes that every member has and the retention no longer keeps; none if nothing is stable.
    package func compactLog() async throws -> CompactedLog {
        let pass = try await onLoop { [self] in
            guard let compaction = running.loop.compaction, running.loop.core.configuration.compacts,
                !running.loop.core.stable.isEmpty
            else { return nil as EventLoopFuture<CompactedLog>? }
            let finished = compaction.finished()
            running.loop.step(.compactionAsked)
            return finished
        }
        return try await pass?.get() ?? CompactedLog()
    }

    /// Returns the state of one blob's transfer.
    package func view(of blob: BlobName) async throws -> BulkWantView {
        try await onLoop { [self] in running.bulk.core.view(of: blob) }
    }

    /// Returns the keys of daily tags as this device has them; nil before they are known.
    package func discoveryKeys() async throws -> DiscoveryKeys? {
        try await onLoop { [self] in running.discovery.knownKeys }
    }

    package func refusals() async throws -> [(code: String, count: Int)] {
        try await onLoop { [self] in
            running.loop.transport.refusals.all.map { ($0.reason.rawValue, Int(clamping: $0.count)) }
        }
    }

    /// The addresses at which other devices can dial this one, as a ticket carries them.
    package var reachableAddresses: [HostPort] {
        let hosts =
            configuration.announce.map { [$0] } ?? configuration.listen.flatMap {
                Self.isAny($0.host) ? nil : [$0.host]
            }
            ?? NetworkInterfaces.current().announced.flatMap { interface in
                interface.addresses.compactMap { RecordFilter.hostText(address: $0, interfaceName: "") }
            }
        return hosts.compactMap { HostPort(host: $0, port: Int(listenPort)) }
    }

    private static func isAny(_ host: String) -> Bool { ["", "::", "0.0.0.0", "*"].contains(host) }
}
