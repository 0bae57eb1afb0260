import SyncModel

// Taking state in place of changes: when, from which peer, and the stages of the stream.
extension AgentCore {
    mutating func noteState(_ input: StateInput) {
        switch input {
        case .begun(let id, let since, let stagedEvents, let hasObjects):
            requestState(id, since, stagedEvents, asks: hasObjects)
        case .staged(let id, let isComplete): noteStaged(id, isComplete: isComplete)
        case .lookedUp(let id, let staged): answerStateQuestion(id, staged)
        case .reviewed(let id, let facts, let tips): noteReviewed(id, facts, tips)
        case .joined(let id, let joined): noteJoined(id, joined)
        case .refused(let id, let error): noteStateRefused(id, error)
        case .failed(let id, let code): noteStateFailed(id, code)
        case .weighed(let id, let weight): noteWeighed(id, weight)
        case .opened(let id, let vector): noteOpened(id, vector)
        case .chunkRead(let id, let chunk): noteChunk(id, chunk)
        }
    }

    /// Continues the intake under way; without one, asks a peer for state if there is a reason.
    mutating func planState() {
        passStateDeadlines()
        goOnWithIntake()
        forgetOldOffers()
        guard intake == nil, storeRetryAt == nil, stateRetryAt.map({ $0 <= now }) ?? true else { return }
        stateRetryAt = nil
        if let index = stateSource() {
            let id = StateID(rawValue: nextID())
            intake = StateIntake(id: id, connection: sessions[index].id, at: now)
            hasStaging = true
            effects.append(.state(.begin(id)))
        } else if hasStaging, isCaughtUp, !isIncomplete {
            // The rest came as changes.
            hasStaging = false
            effects.append(.state(.discard))
        }
    }

    /// Forgets offers that are obsolete: the changes came otherwise.
    private mutating func forgetOldOffers() {
        for index in upSessions where sessions[index].stateExchange.isOffered && sessions[index].peerTipsAreComplete {
            if sessions[index].claims.lacking == 0 {
                sessions[index].stateExchange.isOffered = false
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
        let up = upSessions
        return !up.isEmpty
            && up.allSatisfy { sessions[$0].peerTipsAreComplete && sessions[$0].claims.lacking == 0 }
    }

    /// The peer to ask for state, a writer that holds more than we do; nil if there is none. It is a peer that offered state;
    /// any able peer if some is staged already; or a peer that has what no connected peer has as changes any more.
    private func stateSource() -> Int? {
        let able = upSessions.filter { index in
            let session = sessions[index]
            return session.stateExchange.isSpoken && session.peerTipsAreComplete && !isSuspected(session)
                && session.stateExchange.pausedUntil.map { $0 <= now } ?? true
                && membership[session.device]?.fact.role == .writer && holdsWhatIsAwaited(session)
                && (isIncomplete || session.claims.lacking > 0)
        }
        // Those that dragged on are asked where no other one is there.
        let prompt = able.filter { !isStateLate(sessions[$0].device) }
        let candidates = prompt.isEmpty ? able : prompt
        let offering = candidates.filter { sessions[$0].stateExchange.isOffered }
        let needed = candidates.filter { isStateNeeded(from: $0) }
        let chosen =
            !offering.isEmpty ? offering : !needed.isEmpty ? needed : hasStaging || isIncomplete ? candidates : []
        return chosen.max { sessions[$0].claims.lacking < sessions[$1].claims.lacking }
    }

    /// True if the peer has something that we lack and does not hold it as changes, and no other connected peer does.
    private func isStateNeeded(from index: Int) -> Bool {
        sessions[index].stateExchange.firstHeld.entries.contains { entry in
            let from = frontier(of: entry.replica).next
            guard from < entry.next, sessions[index].peerTips.next(of: entry.replica) > from else { return false }
            return !upSessions.contains { other in
                sessions[other].peerTips.next(of: entry.replica) > from
                    && hasChanges(other, of: entry.replica, from: from)
            }
        }
    }

    /// True unless the peer has announced that those changes are gone.
    func hasChanges(_ index: Int, of replica: ReplicaID, from: UInt64) -> Bool {
        sessions[index].stateExchange.firstHeld.next(of: replica) <= from
    }

    /// True if the changes come as state anyway; then they are not asked for.
    func comesAsState(_ replica: ReplicaID, from: UInt64) -> Bool {
        guard let intake else { return false }
        return intake.vector.map { from < $0.next(of: replica) } ?? false
    }

    mutating func noteStateOffer(_ index: Int, _ offer: Frame.StateOffer) {
        guard sessions[index].stateExchange.isSpoken else {
            return refuse(index, .unexpectedFrame, detail: "stateOffer")
        }
        guard offer.space == space else { return }
        sessions[index].stateExchange.isOffered = true
    }

    // MARK: The stream

    private mutating func requestState(
        _ id: StateID, _ since: VersionVector, _ stagedEvents: VersionVector, asks: Bool
    ) {
        guard intake?.id == id, let index = intake.flatMap({ sessionIndex($0.connection) }) else { return }
        let window = configuration.bounds.stateWindowBytes
        intake?.phase = .streaming
        intake?.creditBytes = window
        intake?.progressAt = now
        counters.statesRequested += 1
        send(
            index,
            .stateRequest(
                Frame.StateRequest(
                    id: id.rawValue, space: space, since: since, stagedEvents: stagedEvents, asks: asks,
                    creditBytes: UInt64(window))))
        probe(index)
    }

    /// Handles items of a state. Answers to a request that we cancelled are dropped.
    mutating func noteStateItems(_ index: Int, _ items: Frame.StateItems) {
        guard sessions[index].stateExchange.isSpoken else {
            return refuse(index, .unexpectedFrame, detail: "stateItems")
        }
        guard var intake, intake.connection == sessions[index].id, intake.id.rawValue == items.id,
            intake.phase == .streaming
        else { return }
        intake.creditBytes -= items.bytes.count
        guard intake.creditBytes >= 0, !intake.isOver else { return refuse(index, .overLimit, detail: "state") }
        // Held once: what is not whole of a large object is not to be copied with each piece of it.
        self.intake = nil
        if let vector = items.vector { intake.vector = vector }
        intake.progressAt = now
        intake.pace.bytes += items.bytes.count
        intake.isOver = items.last
        counters.stateBytesReceived += items.bytes.count
        var refusal: StateDeltaError?
        do throws(StateDeltaError) {
            let whole = try intake.cutter.take(items.bytes)
            intake.queued += whole
            intake.queuedBytes += whole.reduce(0) { $0 + $1.count }
        } catch { refusal = error }
        self.intake = intake
        if let refusal { return noteStateRefused(intake.id, refusal) }
        if items.vector != nil { leavePullsToState() }
    }

    /// Cancels pulls of changes that now come as state.
    private mutating func leavePullsToState() {
        for pull in pulls where comesAsState(pull.replica, from: frontier(of: pull.replica).next) {
            pulls.removeAll { $0 == pull }
            cancel(pull)
        }
    }

    mutating func noteStateQuestion(_ index: Int, _ question: Frame.StateQuestion) {
        guard sessions[index].stateExchange.isSpoken else {
            return refuse(index, .unexpectedFrame, detail: "stateQuestion")
        }
        guard let intake, intake.connection == sessions[index].id, intake.id.rawValue == question.id,
            intake.phase == .streaming
        else { return }
        guard !intake.isLookingUp else { return refuse(index, .unexpectedFrame, detail: "stateQuestion") }
        self.intake?.isLookingUp = true
        effects.append(.state(.lookUp(intake.id, question.announcements)))
    }

    private mutating func answerStateQuestion(_ id: StateID, _ staged: [Bool]) {
        guard let intake, intake.id == id, let index = sessionIndex(intake.connection) else { return }
        self.intake?.isLookingUp = false
        self.intake?.progressAt = now
        send(index, .stateAnswer(Frame.StateAnswer(id: id.rawValue, staged: staged)))
    }

    private mutating func noteStaged(_ id: StateID, isComplete: Bool) {
        guard intake?.id == id else { return }
        intake?.stagingBytes = 0
        intake?.progressAt = now
        if isComplete {
            intake?.phase = .reviewing
            effects.append(.state(.review(id)))
        }
    }

    /// Stages one batch at a time, and grants as much credit as there is room.
    private mutating func goOnWithIntake() {
        guard var intake, let index = sessionIndex(intake.connection) else { return }
        if intake.phase == .reviewed, persisting == nil {
            if forks.isTakingBack { return }
            self.intake?.phase = .joining
            effects.append(.state(.join(intake.id)))
            return
        }
        guard intake.phase == .streaming else { return }
        if intake.stagingBytes == 0, !intake.queued.isEmpty {
            effects.append(.state(.stage(intake.id, intake.queued)))
            (intake.stagingBytes, intake.queued, intake.queuedBytes) = (max(intake.queuedBytes, 1), [], 0)
        }
        if intake.isOver, intake.queued.isEmpty, intake.stagingBytes == 0 {
            // Not even the closing item said that it is all.
            self.intake = intake
            return dropIntake(pausing: configuration.timing.statePause)
        }
        let window = configuration.bounds.stateWindowBytes
        let grant = window - intake.creditBytes - intake.queuedBytes - intake.stagingBytes
        if grant >= window / 2, !intake.isOver {
            intake.creditBytes += grant
            send(index, .credit(Frame.Credit(wantID: intake.id.rawValue, bytes: UInt64(grant), cancel: false)))
        }
        self.intake = intake
    }

    // MARK: Joining

    /// Checks the facts and ends of a staged state. Each history must be signed by its author at the end it claims. The
    /// facts, which come first, say which devices are authors.
    private mutating func noteReviewed(_ id: StateID, _ facts: [StateFact], _ tips: [StateTip]) {
        guard intake?.id == id else { return }
        var known = membership
        for fact in facts {
            _ = known.add(
                Membership.Addition(
                    author: fact.dot.replica.device, fact: fact.fact, wallMilliseconds: fact.wallMilliseconds))
        }
        for tip in tips where tip.tip.next > held.next(of: tip.replica) {
            guard let key = known.signingKey(of: tip.replica.device) else {
                return noteStateRefused(id, .unknownAuthor)
            }
            guard tip.isSigned(space: space, signingKey: key) else { return noteStateRefused(id, .badSignature) }
        }
        noteReturned(tips.filter { $0.tip.next > held.next(of: $0.replica) }.map(\.replica))
        intake?.phase = .reviewed
    }

    private mutating func noteJoined(_ id: StateID, _ joined: JoinedState) {
        let source = intake.flatMap { sessionIndex($0.connection) }.map { sessions[$0].device }
        if intake?.id == id { intake = nil }
        hasStaging = false
        firstHeld = joined.firstHeld
        floor = joined.floor
        var moved: [ReplicaID] = []
        for entry in joined.tips where held.next(of: entry.replica) < entry.tip.next {
            raiseHeld(entry.replica, entry.tip)
            moved.append(entry.replica)
        }
        // What waited was checked behind another end.
        room.remove(moved)
        for pull in pulls where moved.contains(pull.replica) {
            pulls.removeAll { $0 == pull }
            cancel(pull)
        }
        if let source { late[Supply(peer: source, author: source)] = nil }
        counters.statesTaken += 1
        if moved.isEmpty, let source, let index = sessions.firstIndex(where: { $0.device == source && $0.state == .up })
        {
            // Only what it knows of cuts was taken, or there was nothing else: once it knows ours there will be more.
            sessions[index].stateExchange.pausedUntil = now + configuration.timing.statePause
        }
        if let source { effects.append(.report(.stateTaken(source))) }
        noteDurable(joined.change)
        for index in upSessions {
            sessions[index].stateExchange.isOffered = false
            scheduleHave(index)
        }
    }

    // MARK: Ends

    /// Discards the intake, since what was asked for is not enough any more. A state that is being joined is judged by the
    /// store.
    mutating func restartIntake() {
        guard let intake, intake.phase != .joining else { return }
        self.intake = nil
        hasStaging = false
        effects.append(.state(.discard))
        if let index = sessionIndex(intake.connection) { cancelState(index, intake.id) }
    }

    /// Discards a state that is malformed or contradicts what is held. All of it is discarded: it may have been forged from
    /// the start.
    private mutating func noteStateRefused(_ id: StateID, _ error: StateDeltaError) {
        guard let intake, intake.id == id else { return }
        let index = sessionIndex(intake.connection)
        self.intake = nil
        hasStaging = false
        effects.append(.state(.discard))
        counters.statesRefused += 1
        guard let index else { return }
        guard error != .fork else {
            // Perhaps its author's fault, and none of the sender's.
            sessions[index].stateExchange.pausedUntil = now + configuration.timing.stateForkPause
            effects.append(.report(.refused(sessions[index].device, .badState, detail: error.code)))
            return cancelState(index, id)
        }
        refuse(index, .badState, detail: error.code)
    }

    private mutating func noteStateFailed(_ id: StateID, _ code: String) {
        if noteServingFailed(id) { return }
        guard intake?.id == id else { return }
        effects.append(.report(.storeRefused(code: code)))
        dropIntake(pausing: configuration.timing.storeRetry)
        stateRetryAt = now + configuration.timing.storeRetry
    }

    /// Ends the intake. The staged part stays, for this peer or another.
    private mutating func dropIntake(pausing span: Tick.Span) {
        guard let intake else { return }
        self.intake = nil
        counters.statesDropped += 1
        guard let index = sessionIndex(intake.connection), sessions[index].state == .up else { return }
        sessions[index].stateExchange.pausedUntil = now + span
        cancelState(index, intake.id)
    }

    private mutating func cancelState(_ index: Int, _ id: StateID) {
        guard sessions[index].state == .up else { return }
        send(index, .credit(Frame.Credit(wantID: id.rawValue, bytes: 0, cancel: true)))
    }

    /// Ends the intake from this connection. A join that has begun completes without the peer.
    mutating func abandonIntake(of connection: ConnectionID) {
        guard let intake, intake.connection == connection, intake.phase != .joining else { return }
        self.intake = nil
        counters.statesDropped += 1
    }

    var stateDeadlines: [Tick] {
        var deadlines = outlets.map { $0.progressAt + configuration.timing.stateIdle }
        if let intake, intake.isWaitingForPeer {
            let span = configuration.timing.stateProgress
            deadlines.append(min(intake.progressAt + span, intake.pace.since + span))
        }
        if let at = stateRetryAt { deadlines.append(at) }
        for index in upSessions {
            if let at = sessions[index].stateExchange.pausedUntil, at > now { deadlines.append(at) }
            if let at = sessions[index].stateExchange.holdsWantsUntil, at > now { deadlines.append(at) }
        }
        return deadlines
    }

    /// A peer's state is noted under its own name.
    private func isStateLate(_ device: DeviceID) -> Bool { isLate(Supply(peer: device, author: device)) }

    /// True if so little comes that changes, which are not asked for meanwhile, should come from another peer instead.
    private func isDragging(_ intake: StateIntake) -> Bool {
        // Once: a state of which most is staged moves few bytes, and may be the only one.
        let isLateAlready = sessionIndex(intake.connection).map { isStateLate(sessions[$0].device) } ?? false
        return !isLateAlready
            && intake.pace.bytes < min(configuration.bounds.leastBytesPerPace, configuration.bounds.stateWindowBytes)
            && upSessions.contains { index in
                sessions[index].id != intake.connection && sessions[index].claims.lacking > 0
                    && sessions[index].peerTipsAreComplete && !isSuspected(sessions[index])
                    && !isStateLate(sessions[index].device)
            }
    }

    private mutating func passStateDeadlines() {
        passOutletDeadlines()
        let span = configuration.timing.stateProgress
        guard let intake, intake.isWaitingForPeer, now >= min(intake.progressAt, intake.pace.since) + span else {
            return
        }
        guard now >= intake.progressAt + span || isDragging(intake) else {
            self.intake?.pace = (now, 0)
            return
        }
        if let index = sessionIndex(intake.connection) {
            recordLate(sessions[index].device, with: sessions[index].device)
        }
        let connection = intake.connection
        dropIntake(pausing: configuration.timing.statePause)
        if let index = sessionIndex(connection) { probe(index) }
    }
}
