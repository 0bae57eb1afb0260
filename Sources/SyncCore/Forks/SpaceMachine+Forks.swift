import SyncModel

// Forks: two histories under one replica. A machine was put back to an earlier moment while it ran, and went on from there.
//
// The author of a replica reverts what it holds of it as soon as a peer shows it another history that its own key has signed,
// and does that work again under a new replica: peers were told of both histories, and neither has a better claim. From then
// on the author's own history stays (`settled`). A peer that holds the other reverts it when the author shows its own. Two
// devices that hold different histories must never swap them. So until the replica is settled, the author shows neither to a
// peer that holds the other.
extension SpaceMachine {
    /// True if another history of the replica, shown by this peer, is to replace ours.
    func mayTakeBack(_ replica: ReplicaID, for session: SpacePeer) -> Bool {
        if replica.device == settings.own { return !forks.settled.contains(replica) }
        return replica.device == session.device
    }

    /// A peer said what it holds.
    mutating func handleTips(_ index: Int, _ step: inout CoreStep) {
        forks.setDue(peers[index].id, true)
        // Of what moved on neither side there is nothing new to say, unless a fork was seen meanwhile.
        let moved = peers[index].claims.takeMoved()
        let replicas = forks.forked.isEmpty ? moved : Set(moved + forks.forked).sorted()
        for replica in replicas { handleTip(index, replica, &step) }
        dropTakenBack(&step)
    }

    private mutating func handleTip(_ index: Int, _ replica: ReplicaID, _ step: inout CoreStep) {
        guard let tip = peers[index].peerTips[replica] else { return }
        let entry = TipTable.Entry(replica: replica, tip: tip)
        if replica.device == settings.own { forks.recordShown(entry, by: peers[index].device) }
        guard let ours = held[replica] else {
            // What waits is another one, and nothing of it is durable: the author's is taken in its place.
            guard forks.isForked(replica), replica.device == peers[index].device else { return }
            receiver.drop([replica])
            return endFork(replica, &step)
        }
        if ours.isSamePlace(as: tip) {
            if mayTakeBack(replica, for: peers[index]) { agree(index, replica, tip) }
            if forks.isForked(replica) { recordAgreement(index, replica, &step) }
        } else if ours.next == tip.next, !mayTakeBack(replica, for: peers[index]), !forks.settled.contains(replica) {
            contest(index, ContestedClaim(replica: replica, tip: tip, isConflict: true), &step)
        }
    }

    /// Records a fork: nothing of the replica is asked for any more.
    mutating func recordFork(_ replica: ReplicaID, seenFrom device: DeviceID, _ step: inout CoreStep) {
        guard forks.recordForked(replica, by: device) else { return }
        if replica.device == settings.own { step.emit(.closeIncarnation(replica)) }
        step.emit(.report(.forked(replica, device)))
    }

    /// Ends each fork whose other history was shown by revoked devices only: a person pairs a device again by that. If a member
    /// holds the other history as well, the fork is found again.
    mutating func endForksOfBarred(_ step: inout CoreStep) {
        for replica in forks.forked(only: cuts.isBarred) {
            endFork(replica, &step)
            for index in upPeers { handleTip(index, replica, &step) }
        }
    }

    /// The author's word ends it.
    mutating func recordAgreement(_ index: Int, _ replica: ReplicaID, _ step: inout CoreStep) {
        guard replica.device == peers[index].device else { return }
        endFork(replica, &step)
    }

    mutating func endFork(_ replica: ReplicaID, _ step: inout CoreStep) {
        guard forks.isForked(replica) else { return }
        forks.endForked(replica)
        step.emit(.report(.forkEnded(replica)))
    }

    /// Handles changes that do not continue what we hold.
    ///
    /// - Parameter error: what is wrong with them; nil: no change of theirs begins where ours end.
    /// - Returns: true if that is looked into; otherwise the peer that sent them is responsible.
    mutating func suspectFork(_ index: Int, _ segment: Segment, _ error: SegmentError?) -> Bool {
        let replica = segment.replica
        let frontier = frontier(of: replica)
        // Where nothing is held nothing is contradicted.
        guard frontier.next > 0 else { return false }
        if isSettledWith(index, replica) || forks[peers[index].id].suspects[replica] != nil { return true }
        // A relay may have altered them, or its history is another one. They alone do not tell, since their signature is over what
        // came before them there; a walk does. Where the peer has not said yet that it holds that much it cannot be asked for it: it
        // says so at the next session.
        guard !forks[peers[index].id].givenUp.contains(replica), let claimed = peers[index].peerTips[replica],
            claimed.next >= segment.end,
            mayLookInto(replica, of: peers[index]) || mayBeAnothers(error) && mayWalk(index, replica)
                || isSigned(segment, as: claimed)
        else { return false }
        suspect(replica, .unfit(frontier), index)
        return true
    }

    /// True if another history may look like this from here: its stamps and heads are others, its form is not.
    private func mayBeAnothers(_ error: SegmentError?) -> Bool {
        switch error {
        case nil, .badSignature, .stampNotIncreasing: true
        case .codec, .misplacedContext, .notConsecutive: false
        }
    }

    /// True unless the peer was walked already, and had altered the history.
    private func mayWalk(_ index: Int, _ replica: ReplicaID) -> Bool {
        !forks.hasAltered(peers[index].device, replica)
    }

    func mayLookInto(_ replica: ReplicaID, of session: SpacePeer) -> Bool {
        mayTakeBack(replica, for: session) || forks.settled.contains(replica)
    }

    /// True if the peer holds a tip of a settled replica that is known to have given way, and will revert it.
    private func isSettledWith(_ index: Int, _ replica: ReplicaID) -> Bool {
        forks.settled.contains(replica)
            && peers[index].peerTips[replica].map { isGivingWay($0, replica) } ?? false
    }

    private mutating func suspect(_ replica: ReplicaID, _ suspicion: ForkExchange.Suspicion, _ index: Int) {
        forks.setDue(peers[index].id, true)
        guard forks[peers[index].id].suspects[replica] == nil else { return }
        forks.suspect(replica, suspicion, on: peers[index].id)
    }

    /// A peer has no changes behind ours although it says it holds more: ours may end within a change of another history.
    /// Looked into once on a session, for a peer may have other reasons; with one that is not the author, when it happens again.
    mutating func recordStall(_ index: Int, _ replica: ReplicaID) {
        let isKnown = mayLookInto(replica, of: peers[index])
        let ours = isKnown ? held.next(of: replica) : frontier(of: replica).next
        guard !isSettledWith(index, replica), ours > 0 else { return }
        let count = forks.recordStall(of: replica, on: peers[index].id)
        if count == (isKnown ? 1 : 2), isKnown || mayWalk(index, replica) {
            suspect(replica, .stalled(frontier(of: replica)), index)
        }
    }

    /// True if the author signed the head that a peer claims at the segment's end.
    func isSigned(_ segment: Segment, as claimed: ReplicaTip?) -> Bool {
        guard let claimed, claimed.next == segment.end,
            let signingKey = membership.signingKey(of: segment.replica.device)
        else { return false }
        return ChainSignature.isValid(
            segment.signature, space: space, replica: segment.replica, end: segment.end, head: claimed.head,
            signingKey: signingKey)
    }

    /// True if the peer's history of the replica is ours as far as it goes. Only our own work is withheld, from a peer that may hold
    /// another history of ours.
    func isShared(_ replica: ReplicaID, with session: SpacePeer) -> Bool {
        guard replica.device == settings.own else { return true }
        // Not before it is whole: our later ones build on it.
        if isDisputed(replica, session) || doubtsOurs(session) || isUnsettled(session) { return false }
        guard let theirs = session.peerTips[replica], theirs.next > 0, let ours = held[replica] else { return true }
        return isOnOurs(theirs, ours, replica, session)
    }

    /// True if the peer claims more than is here of a replica under which we have written since the start, and it may be another
    /// history: what we wrote since would be taken back with ours, and stay with the peer. Of a replica that a disk only lost the
    /// end of that is not said: nothing here is taken back for it, and all that a peer claims may never come.
    private func mayHoldMoreOfOurs(_ session: SpacePeer) -> Bool {
        session.claims.unfinished.contains(of: settings.own) { replica in
            forks.written.contains(replica) && !forks.settled.contains(replica) && !forks.isForked(replica)
                && !forks[session.id].givenUp.contains(replica)
                && !(session.peerTips[replica].map { isGivingWay($0, replica) } ?? false)
        }
    }

    /// True if the peer was found to hold another history of one of our replicas, and that history is not known to give way.
    func isDisputed(_ replica: ReplicaID, _ session: SpacePeer) -> Bool {
        replica.device == settings.own
            && (forks[session.id].suspects[replica] != nil || forks[session.id].givenUp.contains(replica))
    }

    /// True if the peer's claim of one of our replicas is still to be looked up or asked about.
    func doubtsOurs(_ session: SpacePeer) -> Bool {
        forks[session.id].isDue && doubtful(of: settings.own, session) != nil
    }

    private func isUnsettled(_ session: SpacePeer) -> Bool {
        retirement.hold.isOn || forks.hold.isOn || isAwaitingOurs || mayHoldMoreOfOurs(session)
    }

    private var isAwaitingOurs: Bool {
        // Work is redone in the end even if its history never comes; then nothing waits for that history any more. Nothing
        // waits either while the rest of the work waits for another member.
        forks.hasTakenBack && !forks.isRedoWaiting
            && forks.awaited.contains { $0.replica.device == settings.own && isAwaited($0.replica) }
    }

    /// True if the end of one of our own histories was reverted and no other history stays in its place.
    func hasGivenWay(_ replica: ReplicaID) -> Bool {
        forks.gaveWay[replica] != nil && !forks.settled.contains(replica)
    }

    /// Records that the peer's history lies on ours, and will when ours has gone on.
    mutating func agree(_ index: Int, _ replica: ReplicaID, _ tip: ReplicaTip) {
        if forks[peers[index].id].agreed[replica]?.isSamePlace(as: tip) ?? false { return }
        forks.agree(replica, tip, on: peers[index].id)
    }

    /// True if the peer holds another history of one of our replicas, as far as we know, or one of ours is awaited and not
    /// whole here.
    func disputesOurs(_ session: SpacePeer) -> Bool {
        isUnsettled(session)
            || (forks[session.id].suspects.keys + forks[session.id].givenUp).contains { $0.device == settings.own }
    }

    func isAwaited(_ replica: ReplicaID) -> Bool {
        forks.awaited.contains { $0.replica == replica && $0.tip.next > held.next(of: replica) }
    }

    /// True if state may be taken from the peer: it holds the awaited histories exactly as they are awaited.
    func holdsWhatIsAwaited(_ session: SpacePeer) -> Bool {
        forks.awaited.allSatisfy { awaited in
            !isAwaited(awaited.replica)
                || session.peerTips[awaited.replica]?.isSamePlace(as: awaited.tip) ?? false
        }
    }

    func isOnOurs(
        _ theirs: ReplicaTip, _ ours: ReplicaTip, _ replica: ReplicaID, _ session: SpacePeer
    ) -> Bool {
        isGivingWay(theirs, replica) || ours.isSamePlace(as: theirs)
            || forks[session.id].agreed[replica]?.isSamePlace(as: theirs) ?? false
            || sender.sentTip(of: replica, to: session.id)?.isSamePlace(as: theirs) ?? false
    }

    /// True if the peer may be about to revert its own writes: it holds what is known to have given way. Held here, those
    /// would stay, and stand twice. The wait is bounded, for peers that cannot revert.
    func mayTakeItsOwnBack(_ session: SpacePeer, _ step: CoreStep) -> Bool {
        step.now < session.openedAt + settings.timing.redoAfter
            && forks.settled.contains { replica in
                session.peerTips[replica].map { isGivingWay($0, replica) } ?? false
            }
    }

    /// True if the replica gave way here, and the peer may be about to revert it, too. Where its histories of ours are those
    /// that stay, it will not: it never held the one that gave way, only what was written behind that.
    func mayBeReverted(_ replica: ReplicaID, by session: SpacePeer) -> Bool {
        guard hasGivenWay(replica) || session.peerTips[replica].map({ isGivingWay($0, replica) }) ?? false else {
            return false
        }
        guard !forks.settled.contains(replica), !forks.hasTakenBack, session.peerTipsAreComplete,
            !settings.faults.contains(.leaveGivenWay)
        else { return true }
        return forks.settled.contains { settled in
            session.peerTips[settled].map { isGivingWay($0, settled) } ?? false
        }
    }

    /// True if a peer that holds this tip of one of our replicas may revert it.
    func isGivingWay(_ theirs: ReplicaTip, _ replica: ReplicaID) -> Bool {
        forks.gaveWay[replica]?.contains(ChainEnd(end: theirs.next, head: theirs.head)) ?? false
    }

    /// The replicas of which a peer holds another history than ours.
    var forkedReplicas: [ReplicaID] { forks.forked }

    // MARK: Looking into it

    mutating func planForks(_ step: inout CoreStep) {
        goOnWithInquiry(&step)
        planRedoing(&step)
        reportKept(&step)
        if let at = forks.lookAt, step.now < at { return }
        forks.pauseLooking(until: nil)
        for index in upPeers where forks[peers[index].id].isDue && peers[index].peerTipsAreComplete {
            look(index, &step)
        }
    }

    /// Looks at the peer's claims, one replica after the other. Until all were looked at nothing is handed to the peer.
    private mutating func look(_ index: Int, _ step: inout CoreStep) {
        guard forks[peers[index].id].comparison == nil else { return }
        forgetSuspicions(index)
        let session = peers[index]
        // Our own replicas come first: for other devices' histories no peer waits for what we do.
        guard let entry = doubtful(of: settings.own, session) ?? doubtfulOfOthers(session) else {
            // What is still being written is compared once it is.
            forks.setDue(peers[index].id, forks[peers[index].id].suspects.keys.contains { held[$0] == nil })
            return considerOffer(index, &step)
        }
        if forks[peers[index].id].suspects[entry.replica] != nil || entry.tip.next > held.next(of: entry.replica) {
            let isPaused = puller.isPaused(peers[index].id, at: step.now)
            // What is being written is told to no peer yet, and would be taken back.
            if forks.inquiry == nil, !isPaused, receiver.storeRetryAt == nil, !receiver.isPersisting {
                walk(entry, index, &step)
            }
        } else {
            let id = ReadID(rawValue: step.nextID())
            forks.setComparison(ForkExchange.Comparison(id: id, entry: entry), on: peers[index].id)
            step.emit(.readHeads(id, [.init(replica: entry.replica, next: entry.tip.next)]))
        }
    }

    /// Removes suspicions that ended by themselves: the peer's history lies on ours by now.
    private mutating func forgetSuspicions(_ index: Int) {
        let session = peers[index]
        for replica in forks[session.id].suspects.keys where forks.inquiry?.replica != replica {
            let ours = held[replica] ?? .empty(space: space, replica: replica)
            let theirs = session.peerTips[replica] ?? .empty(space: space, replica: replica)
            // Nothing of it is held, nor being written.
            let isGone = frontier(of: replica).next == 0
            if isGone || theirs.next <= ours.next && isOnOurs(theirs, ours, replica, session) {
                _ = forks.endSuspicion(of: replica, on: peers[index].id)
            }
        }
    }

    /// - Returns: true if a comparison or an inquiry had asked for this.
    mutating func handleCompared(_ id: ReadID, _ heads: [ChainHead?], _ step: inout CoreStep) -> Bool {
        if case .anchoring(id, let place)? = forks.inquiry?.stage {
            anchor(place, heads, &step)
            return true
        }
        guard let index = peers.firstIndex(where: { forks[$0.id].comparison?.id == id }),
            let entry = forks[peers[index].id].comparison?.entry
        else { return false }
        forks.setComparison(nil, on: peers[index].id)
        guard let head = heads.first else {
            forks.pauseLooking(until: step.now + settings.timing.storeRetry)
            return true
        }
        // Within what came as state, or was dropped, the heads cannot be compared.
        let isUnknown = head == nil && entry.tip.next < firstHeld.next(of: entry.replica)
        if head == entry.tip.head || isUnknown {
            agree(index, entry.replica, entry.tip)
            recordAgreement(index, entry.replica, &step)
        } else if forks.settled.contains(entry.replica) {
            dispute(
                ContestedClaim(replica: entry.replica, tip: entry.tip, isConflict: true), isProven: false, index, &step)
        } else {
            suspect(entry.replica, .claimed(entry.tip), index)
        }
        return true
    }

    /// Asks the peer for its history, as changes: all of it, or from where on both hold it so.
    private mutating func walk(_ entry: TipTable.Entry, _ index: Int, _ step: inout CoreStep) {
        // Its author would show us its own, not having heard of this one, and both would take it: this one would be nowhere.
        if entry.replica.device == peers[index].device { sendHave(of: entry.replica, index, &step) }
        var depth = frontier(of: entry.replica).next
        let place = forks[peers[index].id].suspects[entry.replica]?.place
        if let place { depth = max(depth, place.next) }
        let inquiry = ForkInquiry(
            replica: entry.replica, connection: peers[index].id, goal: entry.tip, depth: depth,
            place: mayLookInto(entry.replica, of: peers[index]) ? nil : place, space: space)
        forks.setInquiry(inquiry)
        endServes(of: inquiry.replica, index, &step)
        let theirFirst = stateReceiver.firstHeld(by: peers[index].id).next(of: inquiry.replica)
        let start = max(firstHeld.next(of: inquiry.replica), theirFirst)
        guard start > 0 else { return askForHistory(&step) }
        guard start <= min(held.next(of: inquiry.replica), inquiry.goal.next) else { return giveUp(&step) }
        let id = ReadID(rawValue: step.nextID())
        forks.advanceInquiry(to: .anchoring(id, at: start))
        step.emit(.readHeads(id, [.init(replica: inquiry.replica, next: start)]))
    }

    /// - Parameter heads: our heads; nil where no change of ours ends.
    private mutating func anchor(_ place: UInt64, _ heads: [ChainHead?], _ step: inout CoreStep) {
        guard let found = heads.first else {
            forks.endInquiry()
            forks.pauseLooking(until: step.now + settings.timing.storeRetry)
            return
        }
        guard let inquiry = forks.inquiry else { return }
        guard let head = found else {
            if inquiry.isDropped { reportHidden(inquiry, &step) }
            return giveUp(&step)
        }
        forks.beginWalk(at: ChainEnd(end: place, head: head))
        if inquiry.isDropped { forks.advanceInquiry(to: .walked) } else { askForHistory(&step) }
    }

    private mutating func askForHistory(_ step: inout CoreStep) {
        guard var inquiry = forks.inquiry, let index = peerIndex(inquiry.connection) else { return }
        if mayTakeBack(inquiry.replica, for: peers[index]) {
            cancelPulls(of: inquiry.replica, &step)
            receiver.drop([inquiry.replica])
        } else {
            cancelPulls(of: inquiry.replica, on: inquiry.connection, &step)
        }
        let wantID = puller.ask(
            inquiry.connection, for: inquiry.replica, from: inquiry.start.end, to: inquiry.goal.next,
            creditBytes: settings.bounds.wantWindowBytes, &step)
        inquiry.stage = .walking(wantID: wantID)
        forks.setInquiry(inquiry)
    }

    /// True if our history of the replica may be about to be reverted: nothing else of it is asked for. A history that is
    /// only judged holds up nothing.
    func isBeingTakenBack(_ replica: ReplicaID) -> Bool {
        guard let inquiry = forks.inquiry, inquiry.replica == replica else { return false }
        guard let index = peerIndex(inquiry.connection) else { return true }
        return mayTakeBack(replica, for: peers[index])
    }

    /// True if the changes are what the inquiry asked this peer for.
    func isWalking(_ index: Int, _ changes: Frame.Changes) -> Bool {
        guard let inquiry = forks.inquiry, inquiry.connection == peers[index].id else { return false }
        return inquiry.walk == changes.wantID
    }

    /// The next segment of the peer's history, to its end.
    mutating func walk(_ index: Int, _ segment: Segment, _ step: inout CoreStep) {
        guard var inquiry = forks.inquiry, inquiry.isWalking else { return }
        // Not held twice: it is long.
        forks.endInquiry()
        let replica = inquiry.replica
        guard segment.replica == replica, let signingKey = membership.signingKey(of: replica.device),
            let fresh = segment.suffix(from: inquiry.tip.next),
            let verified = try? fresh.verified(from: inquiry.tip, space: space, signingKey: signingKey)
        else {
            let isBeginning = inquiry.start.end > 0 && inquiry.tip.next == inquiry.start.end
            forks.setInquiry(isBeginning ? inquiry : nil)
            // The two may have parted before it. Otherwise the bytes are unsigned, and nothing follows from them but this.
            guard isBeginning else { return handleAltered(inquiry, index, &step) }
            if replica.device == peers[index].device { step.emit(.report(.diverged(replica.device))) }
            return giveUp(&step)
        }
        inquiry.advance(by: verified)
        if inquiry.tip.next >= inquiry.goal.next {
            guard inquiry.isAtGoal else { return refuse(index, .badVector, detail: "head", &step) }
            guard mayTakeBack(replica, for: peers[index]) else {
                cancelWalk(inquiry, &step)
                return judge(inquiry, index, &step)
            }
            cancelPulls(of: replica, &step)
            inquiry.stage = .walked
            if replica.device == settings.own { step.emit(.closeIncarnation(replica)) }
        }
        forks.setInquiry(inquiry)
    }

    private mutating func goOnWithInquiry(_ step: inout CoreStep) {
        guard let inquiry = forks.inquiry else { return }
        switch inquiry.stage {
        case .beginning, .anchoring, .takingBack: break
        case .walking(let wantID):
            // The peer did not answer in time: later again.
            if !puller.contains(wantID: wantID) { forks.endInquiry() }
        case .cutShort:
            // Where it said meanwhile from where on it has changes, those are looked at.
            guard let index = peerIndex(inquiry.connection),
                !hasChanges(index, of: inquiry.replica, from: inquiry.start.end)
            else { return giveUp(&step) }
            forks.endInquiry()
            walk(TipTable.Entry(replica: inquiry.replica, tip: inquiry.goal), index, &step)
        case .walked:
            guard let index = peerIndex(inquiry.connection), isStoreIdle else { return }
            // Ours went on meanwhile: not compared as far as that. Or a step of compaction took where the walk began.
            guard inquiry.isDropped || held.next(of: inquiry.replica) <= inquiry.depth,
                firstHeld.next(of: inquiry.replica) <= inquiry.start.end
            else {
                if inquiry.isDropped { reportHidden(inquiry, &step) }
                forks.endInquiry()
                return
            }
            forks.advanceInquiry(to: .takingBack)
            let other = OtherHistory(
                replica: inquiry.replica, start: inquiry.start, ends: inquiry.ends, segments: inquiry.segments,
                tip: inquiry.isDropped ? inquiry.goal : inquiry.tip,
                elsewhere: peers[index].peerTips.entries.map { KnownReplica(replica: $0.replica, tip: $0.tip) },
                kept: shown)
            step.emit(.takeBack(other))
        }
    }

    /// The vector of this device's work that other devices said they hold.
    private var shown: VersionVector {
        var shown = stability.acknowledgedByOthers
        for vector in forks.shown.values { shown.join(vector) }
        return shown
    }

    /// True if the store works on nothing. Otherwise the answer to what is under way would arrive when it means something
    /// else.
    private var isStoreIdle: Bool {
        if receiver.isPersisting || stability.isAcknowledging || stateReceiver.isJoining { return false }
        return !collector.isStepping && !compactor.isStepping
    }

    /// The session is over, and with it what was asked on it. What the store was asked for it does.
    mutating func abandonInquiry(of connection: ConnectionID) {
        guard let inquiry = forks.inquiry, inquiry.connection == connection, !forks.isTakingBack else { return }
        forks.endInquiry()
    }
}

extension ReplicaTip {
    /// True if both tips have the same end and the same head there.
    func isSamePlace(as other: ReplicaTip) -> Bool { next == other.next && head == other.head }
}
