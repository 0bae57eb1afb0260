import SyncModel

/// Takes state from a peer in place of changes: the offers, the one intake under way, and what may be staged of it.
///
/// Bounds: one intake at once; granted, queued and staging bytes within `stateWindowBytes`.
struct StateReceiver: Sendable {
    private struct Exchange: Sendable {
        /// True from the peer's accepted Hello to the end of the session, if both sides know frames of states.
        var isSpoken = false
        /// The peer has offered us its state.
        var isOffered = false
        /// The counters from which on the peer holds changes, as far as it announced them.
        var firstHeld = VersionVector()
        /// The time before which the peer is not asked for state.
        var pausedUntil: Tick?
        /// The peer's last answer to a request ended before it began.
        var isRefusing = false
    }

    /// The result of items that a peer sent.
    enum Arrival: Sendable {
        /// The items belong to no request, or to one that was cancelled.
        case ignored
        case taken
        /// The items are taken, and the state now says which changes it covers.
        case covering
        case malformed(StateID, StateDeltaError)
        case offence(ProtocolOffence)
    }

    /// A stretch of time in which too little of a state came.
    struct Lapse: Sendable {
        let connection: ConnectionID
        /// No item came.
        let isSilent: Bool
        /// Fewer bytes came than a want would have to bring.
        let isSlow: Bool
    }

    private let settings: CoreSettings
    private let space: SpaceID
    private var exchanges = PerSession(initial: Exchange())
    /// The state that is being taken from a peer. Its session is up, unless the state is being joined.
    private var intake: StateIntake?
    /// True if something of this state, or of an earlier one, may be staged.
    private(set) var hasStaging: Bool
    /// The time at which state may be tried again after our own store failed.
    private var retryAt: Tick?

    init(_ settings: CoreSettings, space: SpaceID, hasStaging: Bool) {
        self.settings = settings
        self.space = space
        self.hasStaging = hasStaging
    }

    mutating func open(_ id: ConnectionID) { exchanges.open(id) }
    mutating func close(_ id: ConnectionID) { exchanges.close(id) }

    mutating func handleEstablished(_ id: ConnectionID, isSpoken: Bool) { exchanges[id].isSpoken = isSpoken }

    /// Ends the intake from this connection. A join that has begun completes without the peer.
    mutating func handleSessionEnded(_ id: ConnectionID, _ step: inout CoreStep) {
        exchanges[id].isSpoken = false
        guard let intake, intake.connection == id, intake.phase != .joining else { return }
        self.intake = nil
        step.counters.statesDropped += 1
    }

    // MARK: The intake

    var isTaking: Bool { intake != nil }

    func isTaking(_ id: StateID) -> Bool { intake?.id == id }

    /// True if the store says what to ask for.
    func isBeginning(_ id: StateID) -> Bool { intake?.id == id && intake?.phase == .beginning }

    /// True until all of the state is staged.
    var isArriving: Bool { intake?.phase == .beginning || intake?.phase == .streaming }

    /// The connection of the peer that hands the state.
    var source: ConnectionID? { intake?.connection }

    /// True from when a state is fit to be joined until it is. Nothing else is written for peers meanwhile.
    var isReadyOrJoining: Bool {
        switch intake?.phase {
        case .reviewed, .joining: true
        case .beginning, .streaming, .reviewing, nil: false
        }
    }

    /// True while the store joins the state.
    var isJoining: Bool { intake?.phase == .joining }

    /// The bytes of a state that came and are not staged, or are granted; without the incomplete part of an item.
    var load: Int { intake.map { $0.creditBytes + $0.queuedBytes + $0.stagingBytes } ?? 0 }

    /// True if the changes come as state anyway; then they are not asked for.
    func comesAsState(_ replica: ReplicaID, from: UInt64) -> Bool {
        guard let intake else { return false }
        return intake.vector.map { from < $0.next(of: replica) } ?? false
    }

    // MARK: Peers

    /// True if the peer may be asked for state now.
    func mayAsk(_ id: ConnectionID, at now: Tick) -> Bool {
        exchanges[id].isSpoken && exchanges[id].pausedUntil.map { $0 <= now } ?? true
    }

    mutating func handleOffer(_ offer: Frame.StateOffer, from id: ConnectionID) -> ProtocolOffence? {
        guard exchanges[id].isSpoken else { return ProtocolOffence(.unexpectedFrame, "stateOffer") }
        if offer.space == space { exchanges[id].isOffered = true }
        return nil
    }

    func isOffered(by id: ConnectionID) -> Bool { exchanges[id].isOffered }

    mutating func forgetOffer(of id: ConnectionID) { exchanges[id].isOffered = false }

    /// Records that the peer holds changes of the replica only from there on.
    mutating func recordFirstHeld(_ replica: ReplicaID, _ first: UInt64, by id: ConnectionID) {
        exchanges[id].firstHeld.advance(replica, to: first)
    }

    /// The counters from which on the peer holds changes, as far as it announced them.
    func firstHeld(by id: ConnectionID) -> VersionVector { exchanges[id].firstHeld }

    /// Asks the peer for no state for a while.
    mutating func pause(_ id: ConnectionID, until time: Tick) { exchanges[id].pausedUntil = time }

    /// The time until which the peer is not asked for state; nil if it may be asked.
    func pausedUntil(_ id: ConnectionID, at now: Tick) -> Tick? {
        exchanges[id].pausedUntil.flatMap { $0 > now ? $0 : nil }
    }

    /// True if the peer, asked for state last, gave none.
    func isRefused(by id: ConnectionID) -> Bool { exchanges[id].isRefusing }

    // MARK: The stream

    /// - Returns: true if an intake may begin: none is under way, and the store did not fail lately.
    mutating func mayBegin(at now: Tick) -> Bool {
        guard intake == nil, retryAt.map({ $0 <= now }) ?? true else { return false }
        retryAt = nil
        return true
    }

    /// - Parameter claims: where the peer's histories end that are as long here, or longer.
    mutating func begin(from connection: ConnectionID, _ claims: [ReplicaID: ChainEnd], _ step: inout CoreStep) {
        let id = StateID(rawValue: step.nextID())
        intake = StateIntake(id: id, connection: connection, at: step.now)
        hasStaging = true
        step.emit(.state(.begin(id, claims: claims)))
    }

    mutating func discardStaging(_ step: inout CoreStep) {
        hasStaging = false
        step.emit(.state(.discard))
    }

    mutating func handleBegun(
        _ id: StateID, _ since: VersionVector, _ stagedEvents: VersionVector, asks: Bool, _ step: inout CoreStep
    ) {
        guard let connection = intake?.connection, intake?.id == id, exchanges.ids.contains(connection) else { return }
        let window = settings.bounds.stateWindowBytes
        intake?.phase = .streaming
        intake?.creditBytes = window
        intake?.progressAt = step.now
        step.counters.statesRequested += 1
        let request = Frame.StateRequest(
            id: id.rawValue, space: space, since: since, stagedEvents: stagedEvents, asks: asks,
            creditBytes: UInt64(window))
        step.send(connection, .stateRequest(request))
        step.probe(connection)
    }

    /// Handles items of a state. Answers to a request that we cancelled are dropped.
    mutating func handleItems(
        _ items: Frame.StateItems, from id: ConnectionID, _ step: inout CoreStep
    ) -> Arrival {
        guard exchanges[id].isSpoken else { return .offence(ProtocolOffence(.unexpectedFrame, "stateItems")) }
        guard var intake, intake.connection == id, intake.id.rawValue == items.id, intake.phase == .streaming
        else { return .ignored }
        intake.creditBytes -= items.bytes.count
        guard intake.creditBytes >= 0, !intake.isOver else { return .offence(ProtocolOffence(.overLimit, "state")) }
        // Held once: what is not whole of a large object is not to be copied with each piece of it.
        self.intake = nil
        if let vector = items.vector { intake.vector = vector }
        intake.progressAt = step.now
        intake.pace.bytes += items.bytes.count
        intake.isOver = items.last
        exchanges[id].isRefusing = items.last && intake.vector == nil
        step.counters.stateBytesReceived += items.bytes.count
        var refusal: StateDeltaError?
        do throws(StateDeltaError) {
            let whole = try intake.cutter.take(items.bytes)
            intake.queued += whole
            intake.queuedBytes += whole.reduce(0) { $0 + $1.count }
        } catch { refusal = error }
        self.intake = intake
        if let refusal { return .malformed(intake.id, refusal) }
        return items.vector != nil ? .covering : .taken
    }

    mutating func handleQuestion(
        _ question: Frame.StateQuestion, from id: ConnectionID, _ step: inout CoreStep
    ) -> ProtocolOffence? {
        guard exchanges[id].isSpoken else { return ProtocolOffence(.unexpectedFrame, "stateQuestion") }
        guard let intake, intake.connection == id, intake.id.rawValue == question.id, intake.phase == .streaming
        else { return nil }
        guard !intake.isLookingUp else { return ProtocolOffence(.unexpectedFrame, "stateQuestion") }
        self.intake?.isLookingUp = true
        step.emit(.state(.lookUp(intake.id, question.announcements)))
        return nil
    }

    mutating func handleLookedUp(_ id: StateID, _ staged: [Bool], _ step: inout CoreStep) {
        guard let connection = intake?.connection, intake?.id == id, exchanges.ids.contains(connection) else { return }
        intake?.isLookingUp = false
        intake?.progressAt = step.now
        step.send(connection, .stateAnswer(Frame.StateAnswer(id: id.rawValue, staged: staged)))
    }

    mutating func handleStaged(_ id: StateID, isComplete: Bool, _ step: inout CoreStep) {
        guard intake?.id == id else { return }
        intake?.stagingBytes = 0
        intake?.progressAt = step.now
        if isComplete {
            intake?.phase = .reviewing
            step.emit(.state(.review(id)))
        }
    }

    /// Stages one batch at a time, and grants as much credit as there is room.
    ///
    /// - Parameter mayJoin: true if the store has nothing else to write for peers.
    mutating func goOn(mayJoin: Bool, _ step: inout CoreStep) {
        guard var intake else { return }
        if intake.phase == .reviewed, mayJoin {
            self.intake?.phase = .joining
            step.emit(.state(.join(intake.id)))
            return
        }
        guard intake.phase == .streaming else { return }
        if intake.stagingBytes == 0, !intake.queued.isEmpty {
            step.emit(.state(.stage(intake.id, intake.queued)))
            (intake.stagingBytes, intake.queued, intake.queuedBytes) = (max(intake.queuedBytes, 1), [], 0)
        }
        if intake.isOver, intake.queued.isEmpty, intake.stagingBytes == 0 {
            // Not even the closing item said that it is all.
            self.intake = intake
            return drop(pausing: settings.timing.statePause, &step)
        }
        let window = settings.bounds.stateWindowBytes
        let grant = window - intake.creditBytes - intake.queuedBytes - intake.stagingBytes
        if grant >= window / 2, !intake.isOver {
            intake.creditBytes += grant
            let credit = Frame.Credit(wantID: intake.id.rawValue, bytes: UInt64(grant), cancel: false)
            step.send(intake.connection, .credit(credit))
        }
        self.intake = intake
    }

    // MARK: Ends

    /// Records that the state is fit to be joined.
    mutating func recordReviewed() { intake?.phase = .reviewed }

    /// Ends the intake that the store has joined.
    ///
    /// - Returns: the connection of the intake.
    mutating func handleJoined(_ id: StateID) -> ConnectionID? {
        let source = intake?.connection
        if intake?.id == id { intake = nil }
        hasStaging = false
        return source
    }

    /// Discards the intake, since what was asked for is not enough any more, or is needed no more. A state that is being
    /// joined is judged by the store.
    mutating func restart(_ step: inout CoreStep) {
        guard let intake, intake.phase != .joining else { return }
        self.intake = nil
        discardStaging(&step)
        cancel(intake.id, of: intake.connection, &step)
    }

    /// Discards a state that is malformed or contradicts what is held. All of it is discarded: it may have been forged from
    /// the start.
    ///
    /// - Returns: the connection it came from; nil if it is not the one under way.
    mutating func handleRefused(_ id: StateID, _ step: inout CoreStep) -> ConnectionID? {
        guard let intake, intake.id == id else { return nil }
        self.intake = nil
        discardStaging(&step)
        step.counters.statesRefused += 1
        return intake.connection
    }

    mutating func handleFailed(_ id: StateID, _ code: String, _ step: inout CoreStep) {
        guard intake?.id == id else { return }
        step.emit(.report(.storeRefused(code: code)))
        drop(pausing: settings.timing.storeRetry, &step)
        retryAt = step.now + settings.timing.storeRetry
    }

    /// Ends the intake. The staged part stays, for this peer or another.
    mutating func drop(pausing span: Tick.Span, _ step: inout CoreStep) {
        guard let intake else { return }
        self.intake = nil
        step.counters.statesDropped += 1
        guard exchanges[intake.connection].isSpoken else { return }
        exchanges[intake.connection].pausedUntil = step.now + span
        cancel(intake.id, of: intake.connection, &step)
    }

    /// Tells the peer that its state is not wanted any more.
    mutating func cancel(_ id: StateID, of connection: ConnectionID, _ step: inout CoreStep) {
        guard exchanges[connection].isSpoken else { return }
        step.send(connection, .credit(Frame.Credit(wantID: id.rawValue, bytes: 0, cancel: true)))
    }

    // MARK: Deadlines

    /// Returns the time without enough progress that is over now; nil if there is none.
    func lapse(at now: Tick) -> Lapse? {
        let span = settings.timing.stateProgress
        guard let intake, intake.isWaitingForPeer, now >= min(intake.progressAt, intake.pace.since) + span else {
            return nil
        }
        let leastBytes = min(settings.bounds.leastBytesPerPace, settings.bounds.stateWindowBytes)
        return Lapse(
            connection: intake.connection, isSilent: now >= intake.progressAt + span,
            isSlow: intake.pace.bytes < leastBytes)
    }

    /// Begins to measure the pace anew.
    mutating func restartPace(at now: Tick) { intake?.pace = (now, 0) }

    var deadline: Tick? {
        var next = retryAt
        if let intake, intake.isWaitingForPeer {
            next.bringForward(to: min(intake.progressAt, intake.pace.since) + settings.timing.stateProgress)
        }
        return next
    }
}
