import Logging
import NIOCore
import SyncCore
import SyncModel
import SyncStore
import SyncTransport

/// Interprets the core's effects, on one event loop together with the sockets. It decides nothing.
///
/// Not `Sendable`: everything here runs on its loop. Commits and reads run on the store driver's threads and come back
/// as inputs.
final class AgentLoop: CoreLoop {
    let eventLoop: any EventLoop
    let transport: SessionTransport
    let store: StoreDriver
    let journal: AgentJournal
    let loggers: AgentLoggers
    /// Touched after every durable change that made a stream grow.
    let eventSignal: ChangeSignal
    /// Touched after every durable change to an object.
    let objectSignal: ChangeSignal
    /// Shows what is present with other members.
    private let presenceBoard: PresenceBoard
    /// Signs what is present here.
    var presence: PresencePublisher?
    private var linkAnswers = LinkAnswers()
    private let wayProbes: WayProbes
    private var objectPosition: Int64 = 0
    /// The loop of attachments: it hears which peers can move bytes, and of records that came or went.
    var bulk: BulkLoop?
    /// Reads and writes states; nil where the store cannot.
    var states: StateDriver?
    /// Drops changes; nil where the store keeps all.
    var compaction: CompactionDriver?
    /// Revokes members whose time is over.
    var memberships: MembershipEnds?
    /// Deletes what this device holds of the space, since this statement says so.
    var wipe: ((PlacedStatement) -> Void)?
    var receipts: WipeReceipts?
    /// The time that superseded events stay, for a stream without a setting of its own; nil: for ever.
    var supersededMilliseconds: UInt64?
    var core: AgentCore
    var logger: Logger { loggers.sync }
    /// Ed25519 with the device's signing key.
    private let sign: ([UInt8]) -> [UInt8]
    private(set) var digest: Sum256
    private(set) var counts: StoreCounts
    var meters = LoopMeters()
    /// Called after the members changed (a record may be a member's now).
    var membershipChanged: () -> Void = {}
    /// Called after a commit that changed objects.
    var objectsChanged: () -> Void = {}
    /// Called after sessions came, went or learned something: `peers --watch`, `wait`.
    var peersChanged: () -> Void = {}

    /// Changes held at a few past moments, for a rate that people can read.
    private var samples: [(at: Tick, changes: Int64)] = []
    let timer: DeadlineTimer
    var isStopped = false

    init(
        eventLoop: any EventLoop, transport: SessionTransport, store: StoreDriver, state: StoreState, core: AgentCore,
        journal: AgentJournal, eventSignal: ChangeSignal, objectSignal: ChangeSignal, presenceBoard: PresenceBoard,
        loggers: AgentLoggers, sign: @escaping ([UInt8]) -> [UInt8]
    ) {
        self.eventLoop = eventLoop
        self.transport = transport
        wayProbes = WayProbes(transport)
        self.store = store
        self.core = core
        digest = state.digest
        counts = state.counts
        self.journal = journal
        self.eventSignal = eventSignal
        self.objectSignal = objectSignal
        self.presenceBoard = presenceBoard
        self.loggers = loggers
        self.sign = sign
        timer = DeadlineTimer(eventLoop: eventLoop)
        timer.onDeadline = { [weak self] in self?.step(.deadlinePassed) }
    }

    /// Members that come back find a place, however many others knock.
    private func standing(of host: String) -> AddressStanding {
        core.isKnownAddress(host) ? .known : core.isNamedAddress(host) ? .named : .stranger
    }

    func start() {
        meters.lag.means = (try? store.store.logMeans()) ?? LogMeans()
        beginMeasuring()
        transport.standing = { [weak self] host in self?.standing(of: host) ?? .stranger }
        perform(core.start(at: now))
        timer.schedule(core.nextDeadline)
        memberships?.look()
    }

    /// Says goodbye to every peer; nothing is stepped afterwards.
    func stop() {
        guard stopCore() else { return }
        memberships?.stop()
        states?.close()
        compaction?.close()
    }

    func step(_ input: Input) { stepCore(input) }

    /// A local write is durable: the log grew and others may lack it.
    func handleAppended(_ commit: Commit) {
        record(commit)
        if !commit.segments.isEmpty || commit.cuts != nil { step(.appended(StoreChange(commit))) }
    }

    func record(_ commit: Commit) {
        journal.recordLater(commit.laterAuthors, logger: logger)
        loggers.store.debug(
            "Changes are durable.",
            metadata: ["segments": "\(commit.segments.count)", "changes": "\(commit.counts.changes)"])
        measure(commit, changesBefore: counts.changes)
        digest = commit.digest
        take(commit.counts)
        bulk?.handleChangesMoved()
        sample()
        if !commit.streams.isEmpty { eventSignal.touch() }
        if commit.objectPosition != objectPosition || commit.mayChangeSchemas {
            objectPosition = commit.objectPosition
            objectSignal.touch()
            objectsChanged()
            bulk?.handleRecordsChanged()
        }
        if !commit.additions.isEmpty || commit.cuts != nil { memberships?.handleChanged() }
        peersChanged()
    }

    /// Records that events and objects were removed, and wakes all watchers.
    func handleTakenBack(_ state: StoreState) {
        digest = state.digest
        counts = state.counts
        beginMeasuring()
        bulk?.handleChangesMoved()
        bulk?.handleRecordsChanged()
        objectSignal.touch()
        peersChanged()
    }

    private func sample() {
        if let last = samples.last, now - last.at < .milliseconds(250) { return }
        samples.append((now, counts.changes + counts.droppedChanges))
        samples.removeAll { now - $0.at > .seconds(5) }
    }

    /// A step of collection is durable: counts change, and nothing that anybody reads.
    func handleCollected(_ counts: StoreCounts) {
        take(counts)
        peersChanged()
    }

    /// - Parameter dropped: changes that compaction dropped until now, by all its steps.
    func handleCompacted(_ dropped: Int64) {
        recordDropped(dropped)
        peersChanged()
    }

    /// Compaction runs on a thread of its own: what it dropped may be heard of before a commit that came first.
    private func take(_ counts: StoreCounts) {
        let dropped = self.counts.droppedChanges
        self.counts = counts
        recordDropped(dropped)
    }

    private func recordDropped(_ dropped: Int64) {
        let more = max(0, dropped - counts.droppedChanges)
        counts.changes -= more
        counts.droppedChanges += more
    }

    /// The rate over the last five seconds at most; 0 when nothing came.
    var changesPerSecond: Double {
        guard let first = samples.first(where: { now - $0.at <= .seconds(5) }) else { return 0 }
        let nanoseconds = max((now - first.at).nanoseconds, 1)
        return Double(counts.changes + counts.droppedChanges - first.changes) * 1e9 / Double(nanoseconds)
    }

    // MARK: Effects

    func perform(_ effects: [Effect]) {
        var touchedPeers = false
        for effect in effects {
            switch effect {
            case .persist(let id, let segments): persist(id, segments)
            case .read(let id, let replica, let start, let bytes): read(id, replica, start, bytes)
            case .state(let effect): states?.perform(effect)
            case .leaveOpen: store.leaveOpen()
            case .seal: seal()
            case .closeIncarnation(let replica): store.closeIncarnation(of: replica)
            case .readHeads(let id, let entries): readHeads(id, entries)
            case .acknowledge(let acknowledgement): acknowledge(acknowledgement)
            case .keep(let acknowledgements): store.keep(acknowledgements)
            case .collect(let stable, let after, let limit): collect(upTo: stable, after: after, limit: limit)
            case .compact(let stable): compaction?.step(upTo: stable)
            case .dropEvents(let stable): dropEvents(stable)
            case .readmit(let fact): readmit(fact)
            case .settle(let cut): settle(cut)
            case .rewriteVoid(let limit): rewriteVoid(limit: limit)
            case .takeBack(let other): takeBack(other)
            case .redoTakenBack(let limit): redoTakenBack(limit: limit)
            case .takeStatements(let statements): take(statements)
            case .wipe(let placed): wipe?(placed)
            case .takeWipeReceipt(let receipt, let device): receipts?.take(receipt, of: device)
            case .wipeReceiptTaken(let device): receipts?.recordTaken(by: device)
            case .dial(let id, let endpoint): dial(id, endpoint)
            case .send(let id, let frame): send(id, frame)
            case .establish(let id):
                transport.markEstablished(id.rawValue)
            case .close(let id, _): transport.close(id.rawValue)
            case .trust(let devices, let heard):
                transport.trust(Set(devices), hearing: Set(heard))
                membershipChanged()
                receipts?.look()
            case .remember(let endpoint, let device): store.remember(endpoint, device)
            case .bulkPeerUp(let device, let endpoint): bulk?.step(.sessionUp(device, dial: endpoint))
            case .bulkPeerDown(let device): bulk?.step(.sessionDown(device))
            case .bulkWanted(let device): bulk?.step(.bulkWanted(device))
            case .presence(let records): show(records)
            case .renewPresence(let run): presence?.renew(beyond: run)
            case .report(let report):
                touchedPeers = true
                journal.record(report, logger: logger)
                if case .peerClock = report { memberships?.handleChanged() }
            }
        }
        if touchedPeers { peersChanged() }
    }

    private func show(_ records: [PresenceRecord]) {
        let names = records.compactMap { record in core.name(of: record.device).map { (record.device, $0) } }
        presenceBoard.show(records, names: Dictionary(uniqueKeysWithValues: names))
        let answers = linkAnswers.update(records, own: core.configuration.own) { core.peers(at: now) }
        guard let answers else { return }
        presenceBoard.set(answers: answers)
        for device in linkAnswers.unmeasured {
            // A second: however often others ask.
            probeWay(to: device, notOlderThan: .seconds(1)).assumeIsolated().whenSuccess { probe in
                if let answers = self.linkAnswers.take(probe, of: device) { self.presenceBoard.set(answers: answers) }
            }
        }
    }

    /// Measures the way to a member; nil if no address of it is known.
    ///
    /// - Parameter age: the greatest age of a measurement that answers as well.
    func probeWay(to device: DeviceID, notOlderThan age: TimeAmount = .zero) -> EventLoopFuture<WayProbe?> {
        wayProbes.probe(device, at: core.dialAddresses(of: device), notOlderThan: age)
    }

    private func persist(_ id: PersistID, _ segments: [VerifiedSegment]) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.apply(segments).whenComplete { result in
            switch result {
            case .success(let commit):
                loop.value.record(commit)
                loop.value.step(.persisted(id, StoreChange(commit)))
            case .failure(let error):
                loop.value.step(.persistFailed(id, code: StoreDriver.code(of: error)))
            }
        }
    }

    private func seal() {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.seal().whenComplete { result in
            switch result {
            case .success(let commit):
                loop.value.record(commit)
                loop.value.step(.sealed(StoreChange(commit)))
            case .failure(let error): loop.value.step(.sealFailed(code: StoreDriver.code(of: error)))
            }
        }
    }

    private func read(_ id: ReadID, _ replica: ReplicaID, _ start: UInt64, _ bytes: Int) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        store.segments(of: replica, from: start, byteBudget: bytes).whenComplete { result in
            switch result {
            case .success(let segments): loop.value.step(.segmentsRead(id, segments))
            case .failure(let error):
                loop.value.journal.record(code: StoreDriver.code(of: error))
                loop.value.step(.segmentsRead(id, []))
            }
        }
    }

    private func dial(_ id: ConnectionID, _ endpoint: Endpoint) {
        guard let address = address(of: endpoint, dialling: id) else { return }
        loggers.transport.debug(
            "An address is dialled.", metadata: ["connection": "\(id.rawValue)", "peer.address": "\(address)"])
        transport.dial(id.rawValue, address)
    }

    private func send(_ id: ConnectionID, _ frame: Frame) {
        var frame = frame
        logger.trace("A frame is sent.", metadata: metadata(of: frame, on: id))
        // The core has no wall clock (the peer compares ours with its own) and no key.
        if case .hello(var hello) = frame {
            hello.wallMilliseconds = WallClock.milliseconds
            frame = .hello(hello.signing(as: core.configuration.own, sign))
        }
        send(id) { () throws(WireError) in try FrameCodec.encode(frame) }
    }

    // MARK: TransportEvents

    func opened(
        _ connection: UInt64, _ protocol: ApplicationProtocol, direction: Direction, device: DeviceID, remote: HostPort
    ) {
        let endpoint = Endpoint(host: remote.host, port: UInt16(clamping: remote.port))
        loggers.transport.debug(
            "A connection opened.",
            metadata: [
                "connection": "\(connection)", "peer.id": "\(device.shortID)", "peer.address": "\(remote)",
                "direction": "\(direction)",
            ])
        step(.opened(ConnectionID(rawValue: connection), device, remote: endpoint))
    }

    func received(_ connection: UInt64, payload: [UInt8]) {
        receive(connection, payload, as: FrameCodec.decode) { id, frame in
            logger.trace("A frame came.", metadata: metadata(of: frame, on: id))
            step(.received(id, frame, bytes: payload.count))
            // What a member holds is news to those who wait until all are in step.
            switch frame {
            case .have(let have):
                measure(have, on: id)
                peersChanged()
            case .acknowledgements: peersChanged()
            case _: break
            }
        }
    }

    /// Returns what a line of the log says of a frame: its kind and its peer.
    private func metadata(of frame: Frame, on id: ConnectionID) -> Logger.Metadata {
        let kind = Mirror(reflecting: frame).children.first?.label ?? "\(frame)"
        return ["frame": "\(kind)", "peer.id": "\(core.device(of: id)?.shortID ?? "-")"]
    }

    func closed(_ connection: UInt64, reason: EndReason) {
        if let device = core.device(of: ConnectionID(rawValue: connection)) { meters.lag.left(device) }
        handleClosed(connection, reason: reason)
        peersChanged()
    }

    func dialFailed(_ connection: UInt64, reason: EndReason) {
        handleDialFailed(connection, reason: reason)
        peersChanged()
    }

    func turnedAway(_ remote: HostPort, device: DeviceID?, reason: EndReason) {
        journal.record(code: reason.rawValue)
    }
}

extension StoreChange {
    init(_ commit: Commit) {
        self.init(
            segments: commit.segments, stateDigest: commit.digest, additions: commit.additions, cuts: commit.cuts,
            ignoredRevocations: commit.ignoredRevocations, isIncomplete: commit.isIncomplete)
    }
}
