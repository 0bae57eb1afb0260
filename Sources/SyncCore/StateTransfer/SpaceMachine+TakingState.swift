import SyncModel

// Taking state in place of changes: when, from which peer, and the stages of the stream.
extension SpaceMachine {
    mutating func handleState(_ input: StateInput, _ step: inout CoreStep) {
        switch input {
        case .begun(let id, let since, let stagedEvents, let hasObjects):
            requestState(id, since, stagedEvents, asks: hasObjects, &step)
        case .staged(let id, let isComplete): handleStaged(id, isComplete: isComplete, &step)
        case .lookedUp(let id, let staged): answerStateQuestion(id, staged, &step)
        case .reviewed(let id, let facts, let tips): handleReviewed(id, facts, tips, &step)
        case .joined(let id, let joined): handleJoined(id, joined, &step)
        case .refused(let id, let error): handleStateRefused(id, error, &step)
        case .failed(let id, let code): handleStateFailed(id, code, &step)
        case .weighed(let id, let weight): stateSender.handleWeighed(id, weight, &step)
        case .opened(let id, let vector): stateSender.handleOpened(id, vector, &step)
        case .chunkRead(let id, let chunk): stateSender.handleChunk(id, chunk, at: step.now)
        }
    }

    /// Continues the intake under way; without one, asks a peer for state if there is a reason.
    mutating func planState(_ step: inout CoreStep) {
        passStateDeadlines(&step)
        goOnWithIntake(&step)
        forgetOldOffers()
        guard intake == nil, receiver.storeRetryAt == nil, stateRetryAt.map({ $0 <= step.now }) ?? true else { return }
        stateRetryAt = nil
        if let index = stateSource(step) {
            let id = StateID(rawValue: step.nextID())
            intake = StateIntake(id: id, connection: peers[index].id, at: step.now)
            hasStaging = true
            step.emit(.state(.begin(id)))
        } else if hasStaging, isCaughtUp, !isIncomplete {
            // The rest came as changes.
            hasStaging = false
            step.emit(.state(.discard))
        }
    }

    /// Forgets offers that are obsolete: the changes came otherwise.
    private mutating func forgetOldOffers() {
        for index in upPeers where peers[index].stateExchange.isOffered && peers[index].peerTipsAreComplete {
            if peers[index].claims.lacking == 0 {
                peers[index].stateExchange.isOffered = false
            }
        }
    }

    /// True from when a state is fit to be joined until it is. Nothing else is written for peers meanwhile.
    var isJoiningState: Bool {
        switch intake?.phase {
        case .reviewed, .joining: true
        case .beginning, .streaming, .reviewing, nil: false
        }
    }

    var isCaughtUp: Bool {
        let up = upPeers
        return !up.isEmpty
            && up.allSatisfy { peers[$0].peerTipsAreComplete && peers[$0].claims.lacking == 0 }
    }

    /// The peer to ask for state, a writer that holds more than we do; nil if there is none. It is a peer that offered state;
    /// any able peer if some is staged already; or a peer that has what no connected peer has as changes any more.
    private func stateSource(_ step: CoreStep) -> Int? {
        let able = upPeers.filter { index in
            let session = peers[index]
            return session.stateExchange.isSpoken && session.peerTipsAreComplete && !step.isSuspected(session.id)
                && session.stateExchange.pausedUntil.map { $0 <= step.now } ?? true
                && membership[session.device]?.fact.role == .writer && holdsWhatIsAwaited(session)
                && (isIncomplete || session.claims.lacking > 0)
        }
        // Those that dragged on are asked where no other one is there.
        let prompt = able.filter { !isStateLate(peers[$0].device, step) }
        let candidates = prompt.isEmpty ? able : prompt
        let offering = candidates.filter { peers[$0].stateExchange.isOffered }
        let needed = candidates.filter { isStateNeeded(from: $0) }
        let chosen =
            !offering.isEmpty ? offering : !needed.isEmpty ? needed : hasStaging || isIncomplete ? candidates : []
        return chosen.max { peers[$0].claims.lacking < peers[$1].claims.lacking }
    }

    /// True if the peer has something that we lack and does not hold it as changes, and no other connected peer does.
    private func isStateNeeded(from index: Int) -> Bool {
        peers[index].stateExchange.firstHeld.entries.contains { entry in
            let from = frontier(of: entry.replica).next
            guard from < entry.next, peers[index].peerTips.next(of: entry.replica) > from else { return false }
            return !upPeers.contains { other in
                peers[other].peerTips.next(of: entry.replica) > from
                    && hasChanges(other, of: entry.replica, from: from)
            }
        }
    }

    /// True unless the peer has announced that those changes are gone.
    func hasChanges(_ index: Int, of replica: ReplicaID, from: UInt64) -> Bool {
        peers[index].stateExchange.firstHeld.next(of: replica) <= from
    }

    /// True if the changes come as state anyway; then they are not asked for.
    func comesAsState(_ replica: ReplicaID, from: UInt64) -> Bool {
        guard let intake else { return false }
        return intake.vector.map { from < $0.next(of: replica) } ?? false
    }

    mutating func handleStateOffer(_ index: Int, _ offer: Frame.StateOffer, _ step: inout CoreStep) {
        guard peers[index].stateExchange.isSpoken else {
            return refuse(index, .unexpectedFrame, detail: "stateOffer", &step)
        }
        guard offer.space == space else { return }
        peers[index].stateExchange.isOffered = true
    }

    // MARK: The stream

    private mutating func requestState(
        _ id: StateID, _ since: VersionVector, _ stagedEvents: VersionVector, asks: Bool, _ step: inout CoreStep
    ) {
        guard intake?.id == id, let index = intake.flatMap({ peerIndex($0.connection) }) else { return }
        let window = configuration.bounds.stateWindowBytes
        intake?.phase = .streaming
        intake?.creditBytes = window
        intake?.progressAt = step.now
        step.counters.statesRequested += 1
        send(
            index,
            .stateRequest(
                Frame.StateRequest(
                    id: id.rawValue, space: space, since: since, stagedEvents: stagedEvents, asks: asks,
                    creditBytes: UInt64(window))), &step)
        probe(index, &step)
    }

    /// Handles items of a state. Answers to a request that we cancelled are dropped.
    mutating func handleStateItems(_ index: Int, _ items: Frame.StateItems, _ step: inout CoreStep) {
        guard peers[index].stateExchange.isSpoken else {
            return refuse(index, .unexpectedFrame, detail: "stateItems", &step)
        }
        guard var intake, intake.connection == peers[index].id, intake.id.rawValue == items.id,
            intake.phase == .streaming
        else { return }
        intake.creditBytes -= items.bytes.count
        guard intake.creditBytes >= 0, !intake.isOver else { return refuse(index, .overLimit, detail: "state", &step) }
        // Held once: what is not whole of a large object is not to be copied with each piece of it.
        self.intake = nil
        if let vector = items.vector { intake.vector = vector }
        intake.progressAt = step.now
        intake.pace.bytes += items.bytes.count
        intake.isOver = items.last
        step.counters.stateBytesReceived += items.bytes.count
        var refusal: StateDeltaError?
        do throws(StateDeltaError) {
            let whole = try intake.cutter.take(items.bytes)
            intake.queued += whole
            intake.queuedBytes += whole.reduce(0) { $0 + $1.count }
        } catch { refusal = error }
        self.intake = intake
        if let refusal { return handleStateRefused(intake.id, refusal, &step) }
        if items.vector != nil { leavePullsToState(&step) }
    }

    /// Cancels pulls of changes that now come as state.
    private mutating func leavePullsToState(_ step: inout CoreStep) {
        let obsolete = puller.wants.filter { comesAsState($0.replica, from: frontier(of: $0.replica).next) }
        puller.cancel(&step) { obsolete.contains($0) }
    }

    mutating func handleStateQuestion(_ index: Int, _ question: Frame.StateQuestion, _ step: inout CoreStep) {
        guard peers[index].stateExchange.isSpoken else {
            return refuse(index, .unexpectedFrame, detail: "stateQuestion", &step)
        }
        guard let intake, intake.connection == peers[index].id, intake.id.rawValue == question.id,
            intake.phase == .streaming
        else { return }
        guard !intake.isLookingUp else { return refuse(index, .unexpectedFrame, detail: "stateQuestion", &step) }
        self.intake?.isLookingUp = true
        step.emit(.state(.lookUp(intake.id, question.announcements)))
    }

    private mutating func answerStateQuestion(_ id: StateID, _ staged: [Bool], _ step: inout CoreStep) {
        guard let intake, intake.id == id, let index = peerIndex(intake.connection) else { return }
        self.intake?.isLookingUp = false
        self.intake?.progressAt = step.now
        send(index, .stateAnswer(Frame.StateAnswer(id: id.rawValue, staged: staged)), &step)
    }

    private mutating func handleStaged(_ id: StateID, isComplete: Bool, _ step: inout CoreStep) {
        guard intake?.id == id else { return }
        intake?.stagingBytes = 0
        intake?.progressAt = step.now
        if isComplete {
            intake?.phase = .reviewing
            step.emit(.state(.review(id)))
        }
    }

    /// Stages one batch at a time, and grants as much credit as there is room.
    private mutating func goOnWithIntake(_ step: inout CoreStep) {
        guard var intake, let index = peerIndex(intake.connection) else { return }
        if intake.phase == .reviewed, !receiver.isPersisting {
            if forks.isTakingBack { return }
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
            return dropIntake(pausing: configuration.timing.statePause, &step)
        }
        let window = configuration.bounds.stateWindowBytes
        let grant = window - intake.creditBytes - intake.queuedBytes - intake.stagingBytes
        if grant >= window / 2, !intake.isOver {
            intake.creditBytes += grant
            send(index, .credit(Frame.Credit(wantID: intake.id.rawValue, bytes: UInt64(grant), cancel: false)), &step)
        }
        self.intake = intake
    }

    // MARK: Joining

    /// Checks the facts and ends of a staged state. Each history must be signed by its author at the end it claims. The
    /// facts, which come first, say which devices are authors.
    private mutating func handleReviewed(
        _ id: StateID, _ facts: [StateFact], _ tips: [StateTip], _ step: inout CoreStep
    ) {
        guard intake?.id == id else { return }
        var known = membership
        for fact in facts {
            _ = known.add(
                Membership.Addition(
                    author: fact.dot.replica.device, fact: fact.fact, wallMilliseconds: fact.wallMilliseconds))
        }
        for tip in tips where tip.tip.next > held.next(of: tip.replica) {
            guard let key = known.signingKey(of: tip.replica.device) else {
                return handleStateRefused(id, .unknownAuthor, &step)
            }
            guard tip.isSigned(space: space, signingKey: key) else {
                return handleStateRefused(id, .badSignature, &step)
            }
        }
        recordReturned(tips.filter { $0.tip.next > held.next(of: $0.replica) }.map(\.replica), &step)
        intake?.phase = .reviewed
    }

    private mutating func handleJoined(_ id: StateID, _ joined: JoinedState, _ step: inout CoreStep) {
        let source = intake.flatMap { peerIndex($0.connection) }.map { peers[$0].device }
        if intake?.id == id { intake = nil }
        hasStaging = false
        log.record(joined)
        var moved: [ReplicaID] = []
        for entry in joined.tips where held.next(of: entry.replica) < entry.tip.next {
            raiseHeld(entry.replica, entry.tip)
            moved.append(entry.replica)
        }
        // What waited was checked behind another end.
        receiver.drop(moved)
        puller.cancel(&step) { moved.contains($0.replica) }
        if let source { puller.recordPrompt(Supply(peer: source, author: source)) }
        step.counters.statesTaken += 1
        if moved.isEmpty, let source, let index = peers.firstIndex(where: { $0.device == source && $0.isUp }) {
            // Only what it knows of cuts was taken, or there was nothing else: once it knows ours there will be more.
            peers[index].stateExchange.pausedUntil = step.now + configuration.timing.statePause
        }
        if let source { step.emit(.report(.stateTaken(source))) }
        handleDurable(joined.change, &step)
        for index in upPeers {
            peers[index].stateExchange.isOffered = false
            scheduleHave(index, step)
        }
    }

    // MARK: Ends

    /// Discards the intake, since what was asked for is not enough any more. A state that is being joined is judged by the
    /// store.
    mutating func restartIntake(_ step: inout CoreStep) {
        guard let intake, intake.phase != .joining else { return }
        self.intake = nil
        hasStaging = false
        step.emit(.state(.discard))
        if let index = peerIndex(intake.connection) { cancelState(index, intake.id, &step) }
    }

    /// Discards a state that is malformed or contradicts what is held. All of it is discarded: it may have been forged from
    /// the start.
    private mutating func handleStateRefused(_ id: StateID, _ error: StateDeltaError, _ step: inout CoreStep) {
        guard let intake, intake.id == id else { return }
        let index = peerIndex(intake.connection)
        self.intake = nil
        hasStaging = false
        step.emit(.state(.discard))
        step.counters.statesRefused += 1
        guard let index else { return }
        guard error != .fork else {
            // Perhaps its author's fault, and none of the sender's.
            peers[index].stateExchange.pausedUntil = step.now + configuration.timing.stateForkPause
            step.emit(.report(.refused(peers[index].device, .badState, detail: error.code)))
            return cancelState(index, id, &step)
        }
        refuse(index, .badState, detail: error.code, &step)
    }

    private mutating func handleStateFailed(_ id: StateID, _ code: String, _ step: inout CoreStep) {
        if stateSender.handleFailed(id, &step) { return }
        guard intake?.id == id else { return }
        step.emit(.report(.storeRefused(code: code)))
        dropIntake(pausing: configuration.timing.storeRetry, &step)
        stateRetryAt = step.now + configuration.timing.storeRetry
    }

    /// Ends the intake. The staged part stays, for this peer or another.
    private mutating func dropIntake(pausing span: Tick.Span, _ step: inout CoreStep) {
        guard let intake else { return }
        self.intake = nil
        step.counters.statesDropped += 1
        guard let index = peerIndex(intake.connection), peers[index].isUp else { return }
        peers[index].stateExchange.pausedUntil = step.now + span
        cancelState(index, intake.id, &step)
    }

    private mutating func cancelState(_ index: Int, _ id: StateID, _ step: inout CoreStep) {
        guard peers[index].isUp else { return }
        send(index, .credit(Frame.Credit(wantID: id.rawValue, bytes: 0, cancel: true)), &step)
    }

    /// Ends the intake from this connection. A join that has begun completes without the peer.
    mutating func abandonIntake(of connection: ConnectionID, _ step: inout CoreStep) {
        guard let intake, intake.connection == connection, intake.phase != .joining else { return }
        self.intake = nil
        step.counters.statesDropped += 1
    }

    func stateDeadlines(_ step: CoreStep) -> [Tick] {
        var deadlines: [Tick] = []
        if let intake, intake.isWaitingForPeer {
            let span = configuration.timing.stateProgress
            deadlines.append(min(intake.progressAt + span, intake.pace.since + span))
        }
        if let at = stateRetryAt { deadlines.append(at) }
        for index in upPeers {
            if let at = peers[index].stateExchange.pausedUntil, at > step.now { deadlines.append(at) }
        }
        return deadlines
    }

    /// A peer's state is noted under its own name.
    private func isStateLate(_ device: DeviceID, _ step: CoreStep) -> Bool {
        puller.isLate(Supply(peer: device, author: device), at: step.now)
    }

    /// True if so little comes that changes, which are not asked for meanwhile, should come from another peer instead.
    private func isDragging(_ intake: StateIntake, _ step: CoreStep) -> Bool {
        // Once: a state of which most is staged moves few bytes, and may be the only one.
        let isLateAlready = peerIndex(intake.connection).map { isStateLate(peers[$0].device, step) } ?? false
        return !isLateAlready
            && intake.pace.bytes < min(configuration.bounds.leastBytesPerPace, configuration.bounds.stateWindowBytes)
            && upPeers.contains { index in
                peers[index].id != intake.connection && peers[index].claims.lacking > 0
                    && peers[index].peerTipsAreComplete && !step.isSuspected(peers[index].id)
                    && !isStateLate(peers[index].device, step)
            }
    }

    private mutating func passStateDeadlines(_ step: inout CoreStep) {
        stateSender.passDeadlines(&step)
        let span = configuration.timing.stateProgress
        guard let intake, intake.isWaitingForPeer, step.now >= min(intake.progressAt, intake.pace.since) + span else {
            return
        }
        guard step.now >= intake.progressAt + span || isDragging(intake, step) else {
            self.intake?.pace = (step.now, 0)
            return
        }
        if let index = peerIndex(intake.connection) {
            puller.recordLate(Supply(peer: peers[index].device, author: peers[index].device), at: step.now)
        }
        let connection = intake.connection
        dropIntake(pausing: configuration.timing.statePause, &step)
        if let index = peerIndex(connection) { probe(index, &step) }
    }
}
