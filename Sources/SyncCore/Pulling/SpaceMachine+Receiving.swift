import SyncModel

// What comes in: parts become segments, segments are checked against the frontier, and wait until they may be applied.
extension SpaceMachine {
    /// The end of a replica's verified chain: waiting, being persisted, or durable.
    func frontier(of replica: ReplicaID) -> ReplicaTip {
        receiver.tip(of: replica) ?? held[replica]
            ?? ReplicaTip.empty(space: space, replica: replica)
    }

    /// Handles segments, or parts of them, that a peer pushed or was asked for. Each whole one is taken in, unless it answers a
    /// question about a fork: for a signature (`checkProof`), or for another history (`walk`).
    mutating func handleChanges(_ index: Int, _ changes: Frame.Changes, _ step: inout CoreStep) {
        guard changes.space == space else { return }
        guard !receiver.isAssembling(peers[index].id) || changes.segments.first?.isPacked != true,
            let changes = try? changes.unpacked()
        else { return refuse(index, .badSegment, detail: "packed", &step) }
        let id = peers[index].id
        let byteCount = changes.segments.reduce(0) { $0 + $1.bytes.count }
        puller.recordProgress(id, changes.wantID, bytes: byteCount, at: step.now)
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
            // Only for a want of ours: a peer may say of other replicas what it likes, and is not believed.
            let isAnswer = puller.contains(wantID: changes.wantID, on: id)
            if changes.firstHeld > 0, isAnswer, let index = peerIndex(id) {
                stateReceiver.recordFirstHeld(changes.replica, changes.firstHeld, by: peers[index].id)
            }
            endPull(id, changes.wantID, step)
            if let index = peerIndex(id) { endProof(index, changes.wantID, firstHeld: changes.firstHeld, &step) }
        }
    }

    /// Joins the parts of a segment; nil while it goes on, and where a part does not fit.
    private mutating func assemble(
        _ index: Int, _ changes: Frame.Changes, _ part: Frame.SegmentPart, _ step: inout CoreStep
    ) -> Segment? {
        switch receiver.assemble(changes, part, from: peers[index].id) {
        case .unfinished: return nil
        case .unfit:
            refuse(index, .badSegment, detail: "parts", &step)
            return nil
        case .whole(let segment): return segment
        }
    }

    /// Checks a segment before it is stored, and puts what is new of it into the waiting room.
    ///
    /// The author must be a member, the segment must continue the frontier, and `Segment.verified` checks form, chain and
    /// signature. A segment that fails this is an offence of the peer, or shows a fork. One that comes too early, or whose author
    /// is unknown, is dropped and asked for later.
    private mutating func take(_ index: Int, _ segment: Segment, isPush: Bool, _ step: inout CoreStep) {
        step.counters.segmentsReceived += 1
        let replica = segment.replica
        let frontier = frontier(of: replica)
        if segment.end <= frontier.next {
            step.counters.segmentsDuplicate += 1
            return isPush ? handleDuplicate(index, segment, frontier, &step) : ()
        }
        // Parts of a fork. An awaited history comes from the store: a peer may hold the one that gave way. Work of ours that
        // gave way was redone; it is taken only if it was asked for, since others build on it that will not revert it.
        if isAwaited(replica) || isPush && hasGivenWay(replica) { return }
        if isPush, replica.device == peers[index].device, mayTakeItsOwnBack(peers[index], step) {
            return requestHave(index, &step)
        }
        guard let signingKey = membership.signingKey(of: replica.device), !forks.isForked(replica) else {
            // The author is not a member yet, as far as we know. Its changes are wanted once it is.
            return isPush ? requestHave(index, &step) : ()
        }
        guard segment.start <= frontier.next else {
            // A gap: what comes before was never sent on this session, or was dropped. Ask what the peer holds, and pull.
            // While another peer is asked for it that can wait, but must not be forgotten: the push was this peer's last
            // message about it.
            guard isPush else { return }
            if puller.contains(replica) || stateReceiver.isTaking {
                puller.recordMissedPush(of: peers[index].id)
            } else {
                requestHave(index, &step)
            }
            return
        }
        guard frontier.next > 0 || mayBegin(replica, step) else {
            return leaveOut(index, segment, isPush: isPush, &step)
        }
        guard let fresh = segment.suffix(from: frontier.next) else {
            if suspectFork(index, segment, nil) { return }
            return refuse(index, .badSegment, detail: "boundary", &step)
        }
        do {
            let verified: VerifiedSegment
            if settings.faults.contains(.applyBeyondSignature) {
                verified = try fresh.walked(from: frontier)
            } else {
                verified = try fresh.verified(from: frontier, space: space, signingKey: signingKey)
            }
            if frontier.next == 0 { newcomers.recordBegun(by: replica.device, at: step.now) }
            receiver.append(verified)
            newcomers.recordAdmissions(verified, receiver.waiting, membership)
            returning.record(verified, from: peers[index].device, in: receiver.waiting, log, at: step.now)
            if isPush { claim(index, replica, verified.tip) }
            if settings.faults.contains(.sendBeforeCommit) { pushUncommitted(verified, besides: index, &step) }
            if receiver.limitRoom(held: held) { step.counters.segmentsEvicted += 1 }
        } catch {
            recordOwnKey(index, segment, &step)
            if !suspectFork(index, segment, error) { refuseBadSegment(index, error, &step) }
        }
    }

    /// Leaves out a history that may not begin here now. It is asked for once it may; the peer is told to push no more of it.
    private mutating func leaveOut(_ index: Int, _ segment: Segment, isPush: Bool, _ step: inout CoreStep) {
        let replica = segment.replica
        newcomers.recordRefused(replica.device, &step)
        guard isPush, let walked = try? segment.walked(from: .empty(space: space, replica: replica)) else { return }
        claim(index, replica, walked.tip)
        prune(index, replica, &step)
    }

    /// Closes our incarnation if the peer shows that we signed more than we hold: this machine may have signed it before it
    /// was put back to an earlier moment while it ran. Then nothing more is written there, whether or not these bytes are
    /// what was signed.
    private mutating func recordOwnKey(_ index: Int, _ segment: Segment, _ step: inout CoreStep) {
        let replica = segment.replica
        guard replica.device == settings.own, isSigned(segment, as: peers[index].peerTips[replica]) else {
            return
        }
        step.emit(.closeIncarnation(replica))
    }

    /// Ends the session with a peer that sent a bad segment: every honest peer checks before it forwards. (The bytes of a fork
    /// look the same from here: a signature that fits the head the peer claims proves that its author signed that head, not
    /// that these bytes lead to it.)
    private mutating func refuseBadSegment(_ index: Int, _ error: SegmentError, _ step: inout CoreStep) {
        refuse(index, .badSegment, detail: error.code, &step)
    }

    /// Handles a push of what is here already: the peer holds it too, should push no more of it, and wants to hear that we have
    /// it.
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
        receiver.prune(replica, in: space, by: peers[index].id, &step)
    }

    /// Pushes a segment before it is durable: the planted bug `sendBeforeCommit`.
    private mutating func pushUncommitted(_ segment: VerifiedSegment, besides source: Int, _ step: inout CoreStep) {
        for index in upPeers where index != source { offer(segment, to: index, &step) }
    }

    // MARK: Persisting

    /// Has the store write what may be applied now, one batch at a time.
    mutating func persistReady(_ step: inout CoreStep) {
        guard !receiver.isPersisting, receiver.storeRetryAt == nil, !receiver.waiting.isEmpty,
            !stateReceiver.isReadyOrJoining,
            !forks.isTakingBack, forks.inquiry?.stage != .walked
        else { return }
        let batch = newcomers.takeReady(
            of: &receiver, held: held, byteBudget: returning.persistBudgetBytes,
            heldUp: returning.waiting(in: receiver.waiting, held: held, at: step.now), at: step.now)
        returning.forgetReturned(in: receiver.waiting, at: step.now)
        if !batch.isEmpty { receiver.persist(batch, &step) }
    }

    /// Handles a batch that is durable: now it is announced and pushed on.
    mutating func handlePersisted(_ id: PersistID, _ change: StoreChange, _ step: inout CoreStep) {
        guard let batch = receiver.handlePersisted(id) else { return }
        forks.recordReleased()
        // Others may have come with it that the store had, and more of those.
        receiver.drop(
            change.segments.filter { batch.tips.next(of: $0.segment.replica) < $0.tip.next }.map(\.segment.replica))
        recordReturned(batch.segments.map(\.segment.replica), &step)
        receiver.recordStoreRecovered(&step)
        handleDurable(change, &step)
    }

    /// Reports once that changes of our own came back from a peer.
    mutating func recordReturned(_ replicas: [ReplicaID], _ step: inout CoreStep) {
        guard !haveOwnReturned, replicas.contains(where: { $0.device == settings.own }) else { return }
        haveOwnReturned = true
        step.emit(.report(.ownChangesReturned))
    }

    /// Handles a refused batch: what waited is asked for again once the store takes writes.
    mutating func handlePersistFailed(_ id: PersistID, _ code: String, _ step: inout CoreStep) {
        guard receiver.handlePersistFailed(id) else { return }
        if forks.inquiry?.isWalking ?? false { forks.endInquiry() }
        puller.cancel(&step) { _ in true }
        receiver.waitForStore(code, &step)
    }
}
