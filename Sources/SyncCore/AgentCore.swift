package import SyncModel

/// Every decision of an agent, as one pure machine: inputs and the time in, effects out.
///
/// Copying it is how to replay it. Chance comes from the seed in its configuration; it holds no clock, does no IO, and
/// nothing it emits depends on hash order. Two interpreters exist: the agent's loop and the simulator.
///
/// Invariants: `held` is exactly what the store made durable. A replica's segments are verified one behind the other, so
/// its frontier (durable, being persisted, waiting) is one chain. Nothing leaves before its local commit.
package struct AgentCore: Sendable {
    package let configuration: CoreConfiguration
    package let space: SpaceID
    var random: SplitMix64
    package internal(set) var membership: Membership
    /// The tips that are durable here, and therefore what we announce.
    package internal(set) var held: TipTable
    package internal(set) var stateDigest: Sum256

    /// The sessions, in the order they opened.
    var sessions: [PeerSession] = []
    var sessionNumber: UInt64 = 0
    var twins = TwinKeeping()
    /// True once a report said that changes of our own came back.
    var haveOwnReturned = false
    var book = DialBook()
    var instance = ""
    var listenPort: UInt16 = 0

    var room = WaitingRoom()
    var replicas: ReplicaKeeping
    var pulls: [Pull] = []
    /// Peers that did not fill the last want of an author's changes, until when they are asked last for more of it. At most one
    /// entry for each two members.
    var late: [Supply: Tick] = [:]
    var persisting: Persisting?
    /// The reads under way, each with the connection that asked.
    var reads: [Read] = []
    /// The time at which the store may be asked again, while it refuses writes. Nothing is pulled until then.
    var storeRetryAt: Tick?
    /// The last commit was refused.
    var isStoreRefusing = false
    /// The store was told that local writes may stay open.
    var mayStayOpen = false
    /// True while the store has not answered a request to seal them: our own histories may end further on than is held.
    var isSealing = false
    /// The time to ask again for what the store refused to seal.
    var sealRetryAt: Tick?
    /// Replicas of which two histories were seen and neither was reverted here: they are not asked for.
    var forked: [ReplicaID] = []
    var forks: ForkKeeping
    /// The number of times that a peer proved a head of our own beyond what is held, with bytes that do not continue it.
    var unfitOwnSegments = 0

    /// The counter of each replica from which on changes are held. What was before came as state or was dropped.
    package internal(set) var firstHeld: VersionVector
    var compaction = Compaction()
    var eventRetention = EventRetention()
    /// The join of the vectors at which something was forgotten here, or state was taken.
    var floor: VersionVector
    /// The state that is being taken from a peer.
    var intake: StateIntake?
    /// True if something of this state, or of an earlier one, may be staged.
    var hasStaging: Bool
    /// The time at which state may be tried again after our own store failed.
    var stateRetryAt: Tick?
    /// States that are being handed to peers.
    var outlets: [StateOutlet] = []
    /// Outlets that ended before the store answered that it opened them: they cost until it does.
    var unansweredOutlets: [StateOutlet] = []

    /// Devices with a session on which both know bulk connections, as the shell was told.
    var bulkPeers: [BulkPeering] = []

    /// The tips that members held when their last session ended.
    var lastWords = LastWords()
    /// The acknowledgements of the members, and what follows from them.
    var acknowledgements = AcknowledgementTable()
    /// Budgets of acknowledgements taken from each member.
    var acknowledging: DeviceBudgets
    var stability = Stability()
    /// The cuts of devices, as far as the store has them durable.
    package internal(set) var cuts: CutTable
    var cutKeeping = CutKeeping()
    /// True while objects are incomplete, see `StoreChange`: nothing is acknowledged, collected or handed over as state.
    package internal(set) var isIncomplete: Bool
    /// The devices that this node refuses, sorted.
    package internal(set) var blocked: [DeviceID]

    package internal(set) var counters = CoreCounters()
    var lastID: UInt64 = 0
    var effects: [Effect] = []
    var now: Tick

    struct Read: Sendable {
        let id: ReadID
        let connection: ConnectionID
        let wantID: UInt64
    }

    struct Persisting: Sendable {
        let id: PersistID
        let segments: [VerifiedSegment]
        /// Replica → tip once it is durable, in the order of the batch.
        let tips: TipTable
    }

    /// - Parameters:
    ///   - tips: the tips that the store holds.
    ///   - acknowledgements: the newest of each member, as stored.
    ///   - firstHeld: the counter of each replica from which on the store holds changes; absent if it holds all.
    ///   - floor: the join of the vectors at which the store forgot something or took state.
    ///   - hasStaging: true if the store has staged a part of a state.
    ///   - settled: our own replicas whose history here is the one that stays.
    ///   - gaveWay: the ends of reverted changes of our own replicas.
    ///   - awaited: the ends of histories of which the store has the rest and not yet all that it builds on.
    ///   - hasTakenBack: true if the store keeps reverted work of this device, to be redone.
    ///   - blocked: the devices that this node refuses.
    package init(
        configuration: CoreConfiguration, space: SpaceID, membership: Membership,
        tips: [(replica: ReplicaID, tip: ReplicaTip)], stateDigest: Sum256,
        acknowledgements: [SignedAcknowledgement] = [], firstHeld: VersionVector = VersionVector(),
        floor: VersionVector = VersionVector(), hasStaging: Bool = false, cuts: CutTable = CutTable(),
        isIncomplete: Bool = false, settled: [ReplicaID] = [], gaveWay: [ReplicaID: Set<ChainEnd>] = [:],
        awaited: [KnownReplica] = [], hasTakenBack: Bool = false, blocked: [DeviceID] = [], at now: Tick
    ) {
        self.blocked = blocked.sorted()
        self.configuration = configuration
        self.space = space
        self.membership = membership
        self.stateDigest = stateDigest
        self.firstHeld = firstHeld
        self.floor = floor
        self.hasStaging = hasStaging
        self.cuts = cuts
        self.isIncomplete = isIncomplete
        forks = ForkKeeping(
            settled: settled, gaveWay: gaveWay, awaited: awaited, hasTakenBack: hasTakenBack,
            mayRelease: !awaited.isEmpty, redoAt: now + configuration.timing.redoAfter
        )
        self.now = now
        random = SplitMix64(seed: configuration.seed)
        replicas = ReplicaKeeping(configuration)
        acknowledging = DeviceBudgets(
            atOnce: configuration.bounds.acknowledgementsAtOnce, every: configuration.timing.acknowledgementEvery)
        held = TipTable()
        for known in tips { held.set(known.replica, known.tip) }
        for signed in acknowledgements { _ = self.acknowledgements.take(signed) }
    }

    /// Returns the first effects: the devices to trust. Addresses come as inputs.
    package mutating func start(at now: Tick) -> [Effect] {
        self.now = now
        trustMembers()
        openOrSeal()
        return takeEffects()
    }

    /// Says goodbye on every session. Nothing is accepted afterwards: the shell stops stepping.
    package mutating func stop(at now: Tick) -> [Effect] {
        self.now = now
        for index in sessions.indices { close(index, .shutdown) }
        return takeEffects()
    }

    package mutating func step(_ input: Input, at now: Tick) -> [Effect] {
        precondition(now >= self.now, "monotonic time ran backwards: \(self.now) then \(now)")
        self.now = now
        switch input {
        case .appended(let change):
            // With what is done again may have come what others wrote, and may come from them as well.
            room.remove(change.segments.map(\.segment.replica).filter { $0.device != configuration.own })
            noteDurable(change)
        case .sealed(let change): noteSealed(change)
        case .sealFailed(let code): noteSealFailed(code)
        case .persisted(let id, let change): notePersisted(id, change)
        case .persistFailed(let id, let code): notePersistFailed(id, code)
        case .segmentsRead(let id, let segments): serveRead(id, segments)
        case .headsRead(let id, let heads): noteHeads(id, heads)
        case .acknowledged(let signed): noteAcknowledged(signed)
        case .acknowledgeFailed: noteAcknowledgeFailed()
        case .collected(let next, let hasForgotten): noteCollected(next: next, hasForgotten: hasForgotten)
        case .collectFailed: noteCollectFailed()
        case .compacted(let firstHeld, let isLast): noteCompacted(firstHeld: firstHeld, isLast: isLast)
        case .compactFailed: noteCompactFailed()
        case .compactionAsked: noteCompactionAsked()
        case .droppedEvents(let hasMore): noteDropped(hasMore: hasMore)
        case .rewritten(let hasMore): noteRewritten(hasMore: hasMore)
        case .rewriteFailed: noteRewriteFailed()
        case .takenBack(let result): noteTakenBack(result)
        case .redone(let hasMore, let isWaiting): noteRedone(hasMore: hasMore, isWaiting: isWaiting)
        case .redoFailed: noteRedoFailed()
        case .recordAppeared(let instance, let endpoints): noteRecord(instance, endpoints)
        case .recordVanished(let instance): forgetRecord(instance)
        case .networkChanged: noteNetworkChanged()
        case .addressAdded(let endpoint, let device, let isStatic): noteAddress(endpoint, device, isStatic)
        case .addressRemoved(let endpoint): removeAddress(endpoint)
        case .blocked(let devices): handleBlocked(devices)
        case .announced(let instance, let port): (self.instance, listenPort) = (instance, port)
        case .dialFailed(let id, let code): noteDialFailed(id, code)
        case .opened(let id, let device, let remote): noteOpened(id, device, remote)
        case .received(let id, let frame, let bytes): noteReceived(id, frame, bytes)
        case .malformed(let id, let code): noteMalformed(id, code)
        case .written(let id, let bytes): noteWritten(id, bytes)
        case .closed(let id, let code): noteClosed(id, code)
        case .askForBulk(let device): askForBulk(device)
        case .state(let input): noteState(input)
        case .deadlinePassed: break
        }
        passDeadlines()
        persistReady()
        releaseHeldBack()
        planForks()
        planProofs()
        planState()
        planPulls()
        planDials()
        pumpServes()
        pumpStates()
        openOrSeal()
        planStability()
        planCompaction()
        planEventRetention()
        planCuts()
        tellBulkPeers()
        return takeEffects()
    }

    /// Local writes stay open while no session is up; from the first `Hello` on they are sealed.
    private mutating func openOrSeal() {
        let isAlone = sessions.allSatisfy { $0.state == .closing }
        if isAlone != mayStayOpen {
            mayStayOpen = isAlone
            sealRetryAt = nil
            if isAlone { effects.append(.leaveOpen) } else { seal() }
        } else if let at = sealRetryAt, now >= at {
            sealRetryAt = nil
            seal()
        }
    }

    private mutating func seal() {
        isSealing = true
        effects.append(.seal)
    }

    private mutating func noteSealed(_ change: StoreChange) {
        isSealing = false
        if !change.segments.isEmpty { noteDurable(change) }
    }

    /// Handles a refused seal: open writes wait for a store that takes writes again, not for the next local write.
    private mutating func noteSealFailed(_ code: String) {
        isSealing = false
        effects.append(.report(.storeRefused(code: code)))
        if !mayStayOpen { sealRetryAt = now + configuration.timing.storeRetry }
    }

    /// The time to step again with `.deadlinePassed` if nothing else happens; nil: never.
    package var nextDeadline: Tick? {
        let sessionDeadlines = sessions.compactMap { deadline(of: $0) }
        let pullDeadlines = pulls.compactMap { progressDeadline(of: $0) }
        let acknowledgementDeadlines = upSessions.compactMap { sessions[$0].acknowledgements.dueAt }
        return [
            sessionDeadlines.min(), pullDeadlines.min(), acknowledgementDeadlines.min(), nextDialAt, storeRetryAt,
            sealRetryAt,
            acknowledgeDeadline, collectionDeadline, compactionDeadline, stateDeadlines.min(), cutDeadlines.min(),
            eventRetentionDeadline, redoDeadline, forks.lookAt, replicaDeadline, returningDeadline,
        ].compactMap(\.self).min()
    }

    // MARK: What the parts share

    func sessionIndex(_ id: ConnectionID) -> Int? { sessions.firstIndex { $0.id == id } }

    var upSessions: [Int] { sessions.indices.filter { sessions[$0].state == .up } }

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func send(_ index: Int, _ frame: Frame) { effects.append(.send(sessions[index].id, frame)) }

    private mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }
}

/// The counters of the core, for `/metrics` and the simulator's checkers.
package struct CoreCounters: Sendable, Equatable {
    package var segmentsReceived = 0
    package var segmentsDuplicate = 0
    package var segmentsEvicted = 0
    package var offences = 0
    package var sessionsOpened = 0
    package var pushesSent = 0
    package var wantsSent = 0
    package var wantsReassigned = 0
    /// Replicas that peers claim, each time that one was looked at to ask for it.
    package var claimsVisited = 0
    package var havesSent = 0
    /// Acknowledgement rows sent, to all peers.
    package var acknowledgementsSent = 0
    /// Acknowledgement rows whose signature did not hold.
    package var acknowledgementsRefused = 0
    package var statesOffered = 0
    package var statesRequested = 0
    /// States that were joined.
    package var statesTaken = 0
    /// States that ended before all came; what was staged stays.
    package var statesDropped = 0
    /// States of which nothing was used.
    package var statesRefused = 0
    /// States that were sent to their end.
    package var statesHanded = 0
    package var stateBytesReceived = 0

    package init() {}
}
