package import SyncModel

/// Every decision of an agent, as one pure machine: inputs and the time in, effects out.
///
/// Copying it is how to replay it. Chance comes from the seed in its configuration; it holds no clock, does no IO, and
/// nothing it emits depends on hash order. Two interpreters exist: the agent's loop and the simulator.
package struct AgentCore: Sendable {
    /// The connections with other devices, the time, and what the step under way has decided.
    var step: CoreStep
    /// The one space of this node.
    var home: SpaceMachine

    /// - Parameters:
    ///   - tips: the tips that the store holds.
    ///   - acknowledgements: the newest of each member, as stored.
    ///   - ownReplica: the replica under which this device goes on writing; nil: under a new one.
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
        acknowledgements: [SignedAcknowledgement] = [], ownReplica: ReplicaID? = nil,
        firstHeld: VersionVector = VersionVector(), floor: VersionVector = VersionVector(), hasStaging: Bool = false,
        cuts: CutTable = CutTable(), isIncomplete: Bool = false, settled: [ReplicaID] = [],
        gaveWay: [ReplicaID: Set<ChainEnd>] = [:],
        awaited: [KnownReplica] = [], hasTakenBack: Bool = false, blocked: [DeviceID] = [], at now: Tick
    ) {
        let history = StoredHistory(
            tips: tips.map { KnownReplica(replica: $0.replica, tip: $0.tip) }, additions: [], stateDigest: stateDigest,
            acknowledgements: acknowledgements, floor: floor, firstHeld: firstHeld, cuts: cuts,
            isIncomplete: isIncomplete, settled: settled, gaveWay: gaveWay, awaited: awaited,
            hasTakenBack: hasTakenBack)
        let settings = CoreSettings(configuration)
        home = SpaceMachine(
            settings: settings, space: space, membership: membership, history: history,
            hasStaging: hasStaging, at: now)
        if let ownReplica { home.forks.recordWritten(ownReplica) }
        step = CoreStep(
            network: PeerNetwork(settings: settings, blocked: blocked), output: StepOutput(at: now))
        step.network.update(members: home.networkMembers, statements: home.recoveryStatements)
    }

    /// Returns the first effects: the devices to trust. Addresses come as inputs.
    package mutating func start(at now: Tick) -> [Effect] {
        step.output.now = now
        home.start(&step)
        return step.output.takeEffects()
    }

    /// Says goodbye on every session. Nothing is accepted afterwards: the shell stops stepping.
    package mutating func stop(at now: Tick) -> [Effect] {
        step.output.now = now
        step.network.stop(&step.output)
        endSessions()
        return step.output.takeEffects()
    }

    /// Takes one input and returns what the shell must do, in order: handles the input, then whatever is due, then looks at the
    /// whole state for work that may begin.
    package mutating func step(_ input: Input, at now: Tick) -> [Effect] {
        precondition(now >= step.now, "monotonic time ran backwards: \(step.now) then \(now)")
        step.output.now = now
        handle(input)
        passDeadlines()
        home.plan(&step)
        step.network.plan(&step.output)
        return step.output.takeEffects()
    }

    private mutating func handle(_ input: Input) {
        switch input {
        // The space's store
        case .appended(let change): home.handleAppended(change, &step)
        case .sealed(let change): home.handleSealed(change, &step)
        case .sealFailed(let code): home.handleSealFailed(code, &step)
        case .persisted(let id, let change): home.handlePersisted(id, change, &step)
        case .persistFailed(let id, let code): home.handlePersistFailed(id, code, &step)
        case .segmentsRead(let id, let segments): home.serveRead(id, segments, &step)
        case .headsRead(let id, let heads): home.handleHeads(id, heads, &step)
        case .acknowledged(let signed): home.handleAcknowledged(signed, &step)
        case .acknowledgeFailed: home.handleAcknowledgeFailed(step)
        case .collected(let next, let hasForgotten): home.handleCollected(next: next, hasForgotten: hasForgotten, step)
        case .collectFailed: home.handleCollectFailed(step)
        case .compacted(let firstHeld, let isLast): home.handleCompacted(firstHeld: firstHeld, isLast: isLast, step)
        case .compactFailed: home.handleCompactFailed()
        case .compactionAsked: home.handleCompactionAsked(step)
        case .droppedEvents(let hasMore): home.handleDroppedEvents(hasMore: hasMore, step)
        case .rewritten(let hasMore): home.handleRewritten(hasMore: hasMore, step)
        case .rewriteFailed: home.handleRewriteFailed(step)
        case .takenBack(let result): home.handleTakenBack(result, &step)
        case .redone(let hasMore, let isWaiting): home.handleRedone(hasMore: hasMore, isWaiting: isWaiting, step)
        case .redoFailed: home.handleRedoFailed(step)
        case .state(let input): home.handleState(input, &step)
        // The network
        case .recordAppeared(let instance, let endpoints): step.network.handleRecord(instance, endpoints, at: step.now)
        case .recordVanished(let instance): step.network.handleRecordVanished(instance)
        case .networkChanged: step.network.handleNetworkChanged(&step.output)
        case .addressAdded(let endpoint, let device, let isStatic):
            step.network.handleAddress(endpoint, device, isStatic, at: step.now)
        case .addressRemoved(let endpoint): step.network.handleAddressRemoved(endpoint)
        case .blocked(let devices): step.network.handleBlocked(devices, &step.output)
        case .announced(let instance, let port):
            step.network.handleAnnounced(instance: instance, listenPort: port, &step.output)
        case .dialFailed(let id, let code): step.network.handleDialFailed(id, code, at: step.now)
        case .opened(let id, let device, let remote):
            home.handleOpened(id, device, step)
            step.network.handleOpened(id, device, remote, &step.output)
        case .received(let id, let frame, _): handleReceived(id, frame)
        case .malformed(let id, let code): step.network.handleMalformed(id, code, &step.output)
        case .written(let id, let bytes): step.network.handleWritten(id, bytes)
        case .closed(let id, let code):
            step.network.handleClosed(id, code, &step.output)
            endSessions()
            home.handleClosed(id)
        case .presenceChanged(let signed): home.presence.handleOwn(signed, at: step.now)
        case .askForBulk(let device): step.network.askForBulk(device, &step.output)
        case .pingAsked(let device): ping(device)
        case .renamed(let name): step.network.handleRenamed(name, &step.output)
        case .deadlinePassed: break
        }
        endSessions()
    }

    private mutating func handleReceived(_ id: ConnectionID, _ frame: Frame) {
        switch step.network.handleReceived(id, frame, &step.output) {
        case .done: break
        case .established(let features):
            endSessions()
            home.handleEstablished(id, features: features, &step)
            step.network.sendPing(id, &step.output)
        case .forSpace: home.handleReceived(id, frame, &step)
        }
        let statements = step.network.takeReceived()
        if !statements.isEmpty { home.handleStatements(statements, &step) }
    }

    /// Sends a ping, and asks for all that the device holds: what it announces is on its disk. Nothing without a session.
    private mutating func ping(_ device: DeviceID) {
        guard let id = step.network.upConnections.first(where: { step.network.session($0)?.device == device }) else {
            return
        }
        step.network.sendPing(id, &step.output)
        home.requestHave(of: id, &step)
    }

    private mutating func passDeadlines() {
        for id in step.network.connections {
            home.passDeadline(of: id, &step)
            step.network.passDeadline(of: id, &step.output)
            endSessions()
        }
        home.passDeadlines(&step)
    }

    /// Tells the space which sessions have ended.
    private mutating func endSessions() {
        for id in step.network.takeEnded() { home.handleSessionEnded(id, &step) }
    }

    /// The time to step again with `.deadlinePassed` if nothing else happens; nil: never.
    package var nextDeadline: Tick? {
        [
            step.network.sessionDeadline(at: step.now), step.network.nextDialAt(at: step.now), home.nextDeadline(step),
        ].compactMap(\.self).min()
    }
}
