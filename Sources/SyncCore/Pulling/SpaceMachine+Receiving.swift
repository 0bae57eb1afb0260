import SyncModel

// What comes in: parts become segments, segments are checked against the frontier, and wait until they may be applied.
extension SpaceMachine {
    /// The end of a replica's verified chain: waiting, being persisted, or durable.
    func frontier(of replica: ReplicaID) -> ReplicaTip {
        room.tip(of: replica) ?? persisting?.tips[replica] ?? held[replica]
            ?? ReplicaTip.empty(space: space, replica: replica)
    }

    mutating func handleChanges(_ index: Int, _ changes: Frame.Changes, _ step: inout CoreStep) {
        guard changes.space == space else { return }
        guard peers[index].assembly == nil || changes.segments.first?.isPacked != true,
            let changes = try? changes.unpacked()
        else { return refuse(index, .badSegment, detail: "packed", &step) }
        let id = peers[index].id
        let byteCount = changes.segments.reduce(0) { $0 + $1.bytes.count }
        recordPullProgress(id, changes.wantID, bytes: byteCount, step)
        recordProofProgress(index, changes.wantID, step)
        for part in changes.segments {
            guard let index = peerIndex(id), peers[index].isUp else { return }
            guard let segment = assemble(index, changes, part, &step) else { continue }
            if isProof(index, changes) {
                checkProof(index, segment, &step)
            } else if isWalking(index, changes) {
                walk(index, segment, &step)
            } else {
                take(index, segment, isPush: changes.wantID == 0, &step)
            }
        }
        if changes.last {
            // Of what was asked for: whatever else a peer says that it does not have costs nothing.
            let isAnswer = pulls.contains { $0.connection == id && $0.wantID == changes.wantID }
            if changes.firstHeld > 0, isAnswer, let index = peerIndex(id) {
                peers[index].stateExchange.firstHeld.advance(changes.replica, to: changes.firstHeld)
            }
            endPull(id, changes.wantID, step)
            if let index = peerIndex(id) { endProof(index, changes.wantID, firstHeld: changes.firstHeld, &step) }
        }
    }

    /// Joins the parts of a segment; nil while it goes on.
    private mutating func assemble(
        _ index: Int, _ changes: Frame.Changes, _ part: Frame.SegmentPart, _ step: inout CoreStep
    ) -> Segment? {
        var data = part.bytes
        if let open = peers[index].assembly {
            guard open.wantID == changes.wantID, open.replica == changes.replica, open.start == part.start,
                open.end == part.end, open.bytes.count + part.bytes.count <= Limits.changeBytes
            else {
                refuse(index, .badSegment, detail: "parts", &step)
                return nil
            }
            data = open.bytes + part.bytes
        }
        guard part.signature.isEmpty, !configuration.faults.contains(.applyBeyondSignature) else {
            peers[index].assembly = nil
            return Segment(
                replica: changes.replica, start: part.start, end: part.end, bytes: data, signature: part.signature)
        }
        peers[index].assembly = SpacePeer.Assembly(
            wantID: changes.wantID, replica: changes.replica, start: part.start, end: part.end, bytes: data)
        return nil
    }

    private mutating func take(_ index: Int, _ segment: Segment, isPush: Bool, _ step: inout CoreStep) {
        step.counters.segmentsReceived += 1
        let replica = segment.replica
        let frontier = frontier(of: replica)
        if segment.end <= frontier.next {
            step.counters.segmentsDuplicate += 1
            return isPush ? handleDuplicate(index, segment, frontier, &step) : ()
        }
        // What others build on that will not take it back is asked for, though it was done again.
        if isAwaited(replica) || isPush && hasGivenWay(replica) { return }
        if isPush, replica.device == peers[index].device, mayTakeItsOwnBack(peers[index], step) {
            return requestHave(index, &step)
        }
        guard let signingKey = membership.signingKey(of: replica.device), !forked.contains(replica) else {
            // The author is not a member yet, as far as we know. Its changes are wanted once it is.
            return isPush ? requestHave(index, &step) : ()
        }
        guard segment.start <= frontier.next else {
            // A gap: what comes before was never sent on this session, or was dropped. Ask what the peer holds, and pull.
            // While another peer is asked for it that can wait, but must not be forgotten: the push was this peer's last
            // message about it.
            guard isPush else { return }
            if pulls.contains(where: { $0.replica == replica }) || intake != nil {
                peers[index].missedPush = true
            } else {
                requestHave(index, &step)
            }
            return
        }
        guard frontier.next > 0 || mayBegin(replica, step) else {
            return leaveOut(index, segment, isPush: isPush, &step)
        }
        guard let fresh = segment.suffix(from: frontier.next) else {
            if suspectFork(index, segment) { return }
            return refuse(index, .badSegment, detail: "boundary", &step)
        }
        do {
            let verified: VerifiedSegment
            if configuration.faults.contains(.applyBeyondSignature) {
                verified = try fresh.walked(from: frontier)
            } else {
                verified = try fresh.verified(from: frontier, space: space, signingKey: signingKey)
            }
            if frontier.next == 0 { replicas.beginning.take(replica.device, at: step.now) }
            room.append(verified)
            recordAdmissions(verified)
            recordReturning(verified, from: peers[index].device, step)
            if isPush { claim(index, replica, verified.tip) }
            if configuration.faults.contains(.sendBeforeCommit) { pushUncommitted(verified, besides: index, &step) }
            limitRoom(&step)
        } catch {
            recordOwnKey(index, segment, &step)
            if !suspectFork(index, segment) { refuseBadSegment(index, error, &step) }
        }
    }

    /// A history that may not begin here now. It is asked for once it may; until then no more of it is to be pushed.
    private mutating func leaveOut(_ index: Int, _ segment: Segment, isPush: Bool, _ step: inout CoreStep) {
        let replica = segment.replica
        recordRefusedReplica(replica.device, &step)
        guard isPush, let walked = try? segment.walked(from: .empty(space: space, replica: replica)) else { return }
        claim(index, replica, walked.tip)
        prune(index, replica, &step)
    }

    /// Closes our incarnation if the peer shows that we signed more than we hold: this machine may have signed it before it
    /// was put back to an earlier moment while it ran. Then nothing more is written there, whether or not these bytes are
    /// what was signed.
    private mutating func recordOwnKey(_ index: Int, _ segment: Segment, _ step: inout CoreStep) {
        let replica = segment.replica
        guard replica.device == configuration.own, isSigned(segment, as: peers[index].peerTips[replica]) else {
            return
        }
        step.emit(.closeIncarnation(replica))
    }

    /// An offence of the relay, which checks before it forwards. (The bytes of a fork look the same from here: a signature
    /// that fits the head the peer claims proves that its author signed that head, not that these bytes lead to it.)
    private mutating func refuseBadSegment(_ index: Int, _ error: SegmentError, _ step: inout CoreStep) {
        refuse(index, .badSegment, detail: "\(error)", &step)
    }

    /// A push of what is here already: the peer holds it too, should push no more of it, and wants to hear that we have it.
    private mutating func handleDuplicate(
        _ index: Int, _ segment: Segment, _ frontier: ReplicaTip, _ step: inout CoreStep
    ) {
        if segment.end == frontier.next {
            claim(index, segment.replica, frontier)
            sender.confirm(peers[index].claims.tips, by: peers[index].id)
        } else {
            // Which head the peer has there is not kept; it says so itself.
            requestHave(index, &step)
        }
        scheduleHave(index, step)
        prune(index, segment.replica, &step)
    }

    /// Records that a peer holds what it sent.
    private mutating func claim(_ index: Int, _ replica: ReplicaID, _ tip: ReplicaTip) {
        let membership = membership
        peers[index].claims.advance(
            replica, tip, held: held, isAuthor: { membership.signingKey(of: $0) != nil })
    }

    private mutating func prune(_ index: Int, _ replica: ReplicaID, _ step: inout CoreStep) {
        guard !peers[index].pruned.contains(replica) else { return }
        peers[index].pruned.append(replica)
        send(index, .prune(Frame.Prune(space: space, replica: replica)), &step)
    }

    /// The planted bug `sendBeforeCommit`.
    private mutating func pushUncommitted(_ segment: VerifiedSegment, besides source: Int, _ step: inout CoreStep) {
        for index in upPeers where index != source { offer(segment, to: index, &step) }
    }

    private mutating func limitRoom(_ step: inout CoreStep) {
        let before = room.bytes
        // One segment beyond the limit may always come: it may be what the others wait for.
        room.evict(to: configuration.bounds.waitingRoomBytes + Limits.segmentBytes, held: held)
        if room.bytes < before { step.counters.segmentsEvicted += 1 }
    }

    // MARK: Persisting

    mutating func persistReady(_ step: inout CoreStep) {
        guard persisting == nil, storeRetryAt == nil, !room.isEmpty, !isJoiningState, !forks.isTakingBack,
            forks.inquiry?.stage != .walked
        else { return }
        let batch = takeReady(step)
        forgetReturned(step)
        guard !batch.isEmpty else { return }
        let id = PersistID(rawValue: step.nextID())
        var tips = TipTable()
        for segment in batch { tips.set(segment.segment.replica, segment.tip) }
        persisting = Persisting(id: id, segments: batch, tips: tips)
        step.emit(.persist(id, batch))
    }

    mutating func handlePersisted(_ id: PersistID, _ change: StoreChange, _ step: inout CoreStep) {
        guard let batch = persisting, batch.id == id else { return }
        persisting = nil
        forks.mayRelease = false
        // Others may have come with it that the store had, and more of those.
        room.remove(
            change.segments.filter { batch.tips.next(of: $0.segment.replica) < $0.tip.next }.map(\.segment.replica))
        recordReturned(batch.segments.map(\.segment.replica), &step)
        if isStoreRefusing { step.emit(.report(.storeRecovered)) }
        isStoreRefusing = false
        handleDurable(change, &step)
    }

    /// Reports once that changes of our own came back from a peer.
    mutating func recordReturned(_ replicas: [ReplicaID], _ step: inout CoreStep) {
        guard !haveOwnReturned, replicas.contains(where: { $0.device == configuration.own }) else { return }
        haveOwnReturned = true
        step.emit(.report(.ownChangesReturned))
    }

    /// Handles a refused batch, of which nothing was written. Everything volatile is dropped and becomes wanted again once
    /// the store takes writes.
    mutating func handlePersistFailed(_ id: PersistID, _ code: String, _ step: inout CoreStep) {
        guard persisting?.id == id else { return }
        persisting = nil
        if forks.inquiry?.isWalking ?? false { forks.inquiry = nil }
        room.removeAll()
        for pull in pulls { cancel(pull, &step) }
        pulls = []
        waitForStore(code, &step)
    }

    /// Pauses pulls after the store refused something that is asked for again.
    mutating func waitForStore(_ code: String, _ step: inout CoreStep) {
        storeRetryAt = step.now + configuration.timing.storeRetry
        if !isStoreRefusing { step.emit(.report(.storeRefused(code: code))) }
        isStoreRefusing = true
    }
}
