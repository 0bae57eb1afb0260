import SyncModel

// What the exchange of states needs from the rest of the space: which peer may have ours, from which peer one is taken, and
// what follows from a joined one.
extension SpaceMachine {
    mutating func handleState(_ input: StateInput, _ step: inout CoreStep) {
        switch input {
        case .begun(let id, let since, let stagedEvents, let hasObjects):
            stateReceiver.handleBegun(id, since, stagedEvents, asks: hasObjects, &step)
        case .staged(let id, let isComplete): stateReceiver.handleStaged(id, isComplete: isComplete, &step)
        case .lookedUp(let id, let staged): stateReceiver.handleLookedUp(id, staged, &step)
        case .reviewed(let id, let facts, let tips, let trust): handleReviewed(id, facts, tips, trust, &step)
        case .joined(let id, let joined): handleJoined(id, joined, &step)
        case .refused(let id, let error):
            // The peer gets changes, by which it finds that it holds another history.
            if stateSender.handleFailed(id, &step) { return }
            if stateReceiver.isBeginning(id) { handleParting(&step) } else { handleStateRefused(id, error, &step) }
        case .failed(let id, let code):
            if !stateSender.handleFailed(id, &step) { stateReceiver.handleFailed(id, code, &step) }
        case .weighed(let id, let weight): stateSender.handleWeighed(id, weight, &step)
        case .opened(let id, let vector): stateSender.handleOpened(id, vector, &step)
        case .chunkRead(let id, let chunk): stateSender.handleChunk(id, chunk, at: step.now)
        }
    }

    /// Continues the intake under way; without one, asks a peer for state if there is a reason.
    mutating func planState(_ step: inout CoreStep) {
        stateSender.passDeadlines(&step)
        passIntakeDeadline(&step)
        // The rest came as changes, from peers that have a faster link perhaps.
        if stateReceiver.isArriving, isCaughtUp, !isIncomplete { stateReceiver.restart(&step) }
        stateReceiver.goOn(mayJoin: !receiver.isPersisting && !forks.isTakingBack, &step)
        forgetOldOffers()
        // In this order: asking ends a wait that is over, and its deadline with it.
        guard stateReceiver.mayBegin(at: step.now), receiver.storeRetryAt == nil else { return }
        if let index = stateSource(step) {
            stateReceiver.begin(from: peers[index].id, claims(by: peers[index]), &step)
        } else if stateReceiver.hasStaging, isCaughtUp, !isIncomplete {
            // The rest came as changes.
            stateReceiver.discardStaging(&step)
        }
    }

    // MARK: Handing state

    /// True if this device may hand state over. A reader relays changes, each of which is signed; no peer takes state from
    /// it.
    private var mayHandState: Bool {
        settings.exchangesState && !isIncomplete && log.isWriter(settings.own)
    }

    /// True unless what is void here counts for the peer: its state would hold what must not be here, and it cannot read ours.
    private func agreesOnRoles(_ peer: SpacePeer) -> Bool { peer.knowsRoles || cuts.trust.isEmpty }

    /// True while a peer that came lately may hold another history of ours. What was handed as changes is taken back from there with ours; of
    /// a state nothing can be. Not for longer: a peer that shows nothing would keep all others waiting.
    private func isOursInDoubt(_ step: CoreStep) -> Bool {
        upPeers.contains { step.now < peers[$0].openedAt + settings.timing.redoAfter && doubtsOurs(peers[$0]) }
    }

    /// Considers an offer of state, after a peer announced what it holds.
    mutating func considerOffer(_ index: Int, _ step: inout CoreStep) {
        let session = peers[index]
        guard stateSender.isSpoken(with: session.id), session.peerTipsAreComplete, mayHandState,
            agreesOnRoles(session), !forks[session.id].isDue, !disputesOurs(session)
        else { return }
        let lacking = held.operations(beyond: session.peerTips)
        guard lacking > 0 else { return }
        stateSender.considerOffer(to: session.id, holding: session.peerTips, lacking: lacking, floor: floor, &step)
    }

    mutating func handleStateRequest(_ index: Int, _ request: Frame.StateRequest, _ step: inout CoreStep) {
        let session = peers[index]
        let mayHand =
            mayHandState && agreesOnRoles(session) && !disputesOurs(session) && !doubtsOurs(session)
            && !isOursInDoubt(step)
        if let offence = stateSender.handleRequest(
            request, from: session.id, claims: claims(of: session, since: request.since), mayHand: mayHand, &step)
        {
            refuse(index, offence, &step)
        }
    }

    /// Where histories of third devices end that the peer holds in part: a state in which another one is longer would take their place.
    /// It looks at its own itself, and a peer that asks as if it held nothing takes all of it for what it has. Two histories of a revoked
    /// device stay two; no state would ever be exchanged over them.
    private func claims(of session: SpacePeer, since: VersionVector) -> [ReplicaID: ChainEnd] {
        if since.isEmpty { return [:] }
        let partial = session.peerTips.entries.filter {
            $0.replica.device != session.device && !cuts.isBarred($0.replica.device)
                && 0 < $0.tip.next && $0.tip.next < held.next(of: $0.replica)
        }
        return Dictionary(
            uniqueKeysWithValues: partial.map { ($0.replica, ChainEnd(end: $0.tip.next, head: $0.tip.head)) })
    }

    /// Where the peer's histories end that are as long here, or longer, and are others perhaps: what both touched would be put together of
    /// two. One that is incomplete takes all of the peer's objects for what it has.
    private func claims(by session: SpacePeer) -> [ReplicaID: ChainEnd] {
        if isIncomplete { return [:] }
        let shorter = session.peerTips.entries.filter { entry in
            guard !cuts.isBarred(entry.replica.device), entry.tip.next > 0, let ours = held[entry.replica] else {
                return false
            }
            return entry.tip.next <= ours.next && !isOnOurs(entry.tip, ours, entry.replica, session)
        }
        return Dictionary(
            uniqueKeysWithValues: shorter.map { ($0.replica, ChainEnd(end: $0.tip.next, head: $0.tip.head)) })
    }

    mutating func handleStateAnswer(_ index: Int, _ answer: Frame.StateAnswer, _ step: inout CoreStep) {
        if let offence = stateSender.handleAnswer(answer, from: peers[index].id, at: step.now) {
            refuse(index, offence, &step)
        }
    }

    /// Returns the first counter held of the replica if the want begins before it; otherwise nil.
    func refusedFrom(_ want: Frame.Want) -> UInt64? {
        let first = firstHeld.next(of: want.replica)
        return want.from < first ? first : nil
    }

    // MARK: Taking state

    /// Forgets offers that are obsolete: the changes came otherwise.
    private mutating func forgetOldOffers() {
        for index in upPeers where peers[index].peerTipsAreComplete && peers[index].claims.lacking == 0 {
            stateReceiver.forgetOffer(of: peers[index].id)
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
            return session.peerTipsAreComplete && !step.isSuspected(session.id)
                && stateReceiver.mayAsk(session.id, at: step.now)
                && log.isWriter(session.device) && agreesOnRoles(session) && holdsWhatIsAwaited(session)
                && (isIncomplete || session.claims.lacking > 0) && !mayHideOurs(session) && !maySendMixed(session)
        }
        // Those that dragged on are asked where no other one is there.
        let prompt = able.filter { !isStateLate(peers[$0].device, step) }
        let candidates = prompt.isEmpty ? able : prompt
        let offering = candidates.filter { stateReceiver.isOffered(by: peers[$0].id) }
        let needed = candidates.filter { isStateNeeded(from: $0) }
        let chosen =
            !offering.isEmpty
            ? offering : !needed.isEmpty ? needed : stateReceiver.hasStaging || isIncomplete ? candidates : []
        return chosen.max { peers[$0].claims.lacking < peers[$1].claims.lacking }
    }

    /// True if the peer has something that we lack and does not hold it as changes, and no other connected peer does.
    func isStateNeeded(from index: Int) -> Bool {
        stateReceiver.firstHeld(by: peers[index].id).entries.contains { entry in
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
        stateReceiver.firstHeld(by: peers[index].id).next(of: replica) <= from
    }

    mutating func handleStateOffer(_ index: Int, _ offer: Frame.StateOffer, _ step: inout CoreStep) {
        if let offence = stateReceiver.handleOffer(offer, from: peers[index].id) { refuse(index, offence, &step) }
    }

    mutating func handleStateItems(_ index: Int, _ items: Frame.StateItems, _ step: inout CoreStep) {
        switch stateReceiver.handleItems(items, from: peers[index].id, &step) {
        case .ignored, .taken: break
        case .covering: leavePullsToState(&step)
        case .malformed(let id, let error): handleStateRefused(id, error, &step)
        case .offence(let offence): refuse(index, offence, &step)
        }
    }

    /// Cancels pulls of changes that now come as state.
    private mutating func leavePullsToState(_ step: inout CoreStep) {
        let obsolete = puller.wants.filter {
            stateReceiver.comesAsState($0.replica, from: frontier(of: $0.replica).next)
        }
        puller.cancel(&step) { obsolete.contains($0) }
    }

    mutating func handleStateQuestion(_ index: Int, _ question: Frame.StateQuestion, _ step: inout CoreStep) {
        if let offence = stateReceiver.handleQuestion(question, from: peers[index].id, &step) {
            refuse(index, offence, &step)
        }
    }

    /// Checks the facts and ends of a staged state. Each history must be signed by its author at the end it claims, and
    /// each statement on roles. The facts, which come first, say which devices are authors.
    private mutating func handleReviewed(
        _ id: StateID, _ facts: [StateFact], _ tips: [StateTip], _ trust: TrustTable, _ step: inout CoreStep
    ) {
        guard stateReceiver.isTaking(id) else { return }
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
        guard trust.isSigned(besides: cuts.trust, in: space, by: { known.signingKey(of: $0) }) else {
            return handleStateRefused(id, .badSignature, &step)
        }
        if let tip = tips.first(where: { hidesOurs($0) }) { return refuseHiding(tip, &step) }
        if tips.contains(where: { isMixed($0.replica, $0.tip) }) {
            // A fork was seen while it came.
            if let source = stateReceiver.source {
                stateReceiver.pause(source, until: step.now + settings.timing.statePause)
            }
            return stateReceiver.restart(&step)
        }
        let returned = tips.filter { $0.tip.next > held.next(of: $0.replica) }.map(\.replica)
        // What is written from now on would be taken for a part of them.
        for replica in returned where replica.device == settings.own { step.emit(.closeIncarnation(replica)) }
        recordReturned(returned, &step)
        stateReceiver.recordReviewed()
    }

    private mutating func handleJoined(_ id: StateID, _ joined: JoinedState, _ step: inout CoreStep) {
        let source = stateReceiver.handleJoined(id).flatMap { peerIndex($0) }.map { peers[$0].device }
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
            stateReceiver.pause(peers[index].id, until: step.now + settings.timing.statePause)
        }
        if let source { step.emit(.report(.stateTaken(source))) }
        handleDurable(joined.change, &step)
        for index in upPeers {
            stateReceiver.forgetOffer(of: peers[index].id)
            scheduleHave(index, step)
        }
    }

    /// A history that the peer claims parts from ours. Its claim alone says so: the two differ, and a fork counts once its author's signature
    /// is seen.
    private mutating func handleParting(_ step: inout CoreStep) {
        guard let connection = stateReceiver.source, let index = peerIndex(connection) else { return }
        let device = peers[index].device
        stateReceiver.drop(pausing: settings.timing.stateForkPause, &step)
        step.emit(.report(.diverged(device)))
    }

    private mutating func handleStateRefused(_ id: StateID, _ error: StateDeltaError, _ step: inout CoreStep) {
        guard let index = stateReceiver.handleRefused(id, &step).flatMap({ peerIndex($0) }) else { return }
        guard error != .fork else {
            // Perhaps its author's fault, and none of the sender's.
            stateReceiver.pause(peers[index].id, until: step.now + settings.timing.stateForkPause)
            step.emit(.report(.refused(peers[index].device, .badState, detail: error.code)))
            return stateReceiver.cancel(id, of: peers[index].id, &step)
        }
        refuse(index, .badState, detail: error.code, &step)
    }

    /// A peer's state is noted under its own name.
    private func isStateLate(_ device: DeviceID, _ step: CoreStep) -> Bool {
        puller.isLate(Supply(peer: device, author: device), at: step.now)
    }

    /// True if changes, which are not asked for while a state comes slowly, should come from another peer instead.
    private func hasOtherSource(than connection: ConnectionID, _ step: CoreStep) -> Bool {
        // Once: a state of which most is staged moves few bytes, and may be the only one.
        let isLateAlready = peerIndex(connection).map { isStateLate(peers[$0].device, step) } ?? false
        return !isLateAlready
            && upPeers.contains { index in
                peers[index].id != connection && peers[index].claims.lacking > 0
                    && peers[index].peerTipsAreComplete && !step.isSuspected(peers[index].id)
                    && !isStateLate(peers[index].device, step)
            }
    }

    private mutating func passIntakeDeadline(_ step: inout CoreStep) {
        guard let lapse = stateReceiver.lapse(at: step.now) else { return }
        guard lapse.isSilent || lapse.isSlow && hasOtherSource(than: lapse.connection, step) else {
            return stateReceiver.restartPace(at: step.now)
        }
        if let index = peerIndex(lapse.connection) {
            puller.recordLate(Supply(peer: peers[index].device, author: peers[index].device), at: step.now)
        }
        stateReceiver.drop(pausing: settings.timing.statePause, &step)
        if let index = peerIndex(lapse.connection) { probe(index, &step) }
    }
}
