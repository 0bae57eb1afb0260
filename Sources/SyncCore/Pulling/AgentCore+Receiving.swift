import SyncModel

// What comes in: parts become segments, segments are checked against the frontier, and wait until they may be applied.
extension AgentCore {
    /// The end of a replica's verified chain: waiting, being persisted, or durable.
    func frontier(of replica: ReplicaID) -> ReplicaTip {
        room.tip(of: replica) ?? persisting?.tips[replica] ?? held[replica]
            ?? ReplicaTip.empty(space: space, replica: replica)
    }

    mutating func noteChanges(_ index: Int, _ changes: Frame.Changes) {
        guard changes.space == space else { return }
        guard sessions[index].assembly == nil || changes.segments.first?.isPacked != true,
            let changes = try? changes.unpacked()
        else { return refuse(index, .badSegment, detail: "packed") }
        let id = sessions[index].id
        let byteCount = changes.segments.reduce(0) { $0 + $1.bytes.count }
        notePullProgress(id, changes.wantID, bytes: byteCount)
        noteProofProgress(index, changes.wantID)
        for part in changes.segments {
            guard let index = sessionIndex(id), sessions[index].state == .up else { return }
            guard let segment = assemble(index, changes, part) else { continue }
            if isProof(index, changes) {
                checkProof(index, segment)
            } else if isWalking(index, changes) {
                walk(index, segment)
            } else {
                take(index, segment, isPush: changes.wantID == 0)
            }
        }
        if changes.last {
            // Of what was asked for: whatever else a peer says that it does not have costs nothing.
            let isAnswer = pulls.contains { $0.connection == id && $0.wantID == changes.wantID }
            if changes.firstHeld > 0, isAnswer, let index = sessionIndex(id) {
                sessions[index].stateExchange.firstHeld.advance(changes.replica, to: changes.firstHeld)
            }
            endPull(id, changes.wantID)
            if let index = sessionIndex(id) { endProof(index, changes.wantID, firstHeld: changes.firstHeld) }
        }
    }

    /// Joins the parts of a segment; nil while it goes on.
    private mutating func assemble(_ index: Int, _ changes: Frame.Changes, _ part: Frame.SegmentPart) -> Segment? {
        var data = part.bytes
        if let open = sessions[index].assembly {
            guard open.wantID == changes.wantID, open.replica == changes.replica, open.start == part.start,
                open.end == part.end, open.bytes.count + part.bytes.count <= Limits.changeBytes
            else {
                refuse(index, .badSegment, detail: "parts")
                return nil
            }
            data = open.bytes + part.bytes
        }
        guard part.signature.isEmpty, !configuration.faults.contains(.applyBeyondSignature) else {
            sessions[index].assembly = nil
            return Segment(
                replica: changes.replica, start: part.start, end: part.end, bytes: data, signature: part.signature)
        }
        sessions[index].assembly = PeerSession.Assembly(
            wantID: changes.wantID, replica: changes.replica, start: part.start, end: part.end, bytes: data)
        return nil
    }

    private mutating func take(_ index: Int, _ segment: Segment, isPush: Bool) {
        counters.segmentsReceived += 1
        let replica = segment.replica
        let frontier = frontier(of: replica)
        if segment.end <= frontier.next {
            counters.segmentsDuplicate += 1
            return isPush ? noteDuplicate(index, segment, frontier) : ()
        }
        // What others build on that will not take it back is asked for, though it was done again.
        if isAwaited(replica) || isPush && hasGivenWay(replica) { return }
        if isPush, replica.device == sessions[index].device, mayTakeItsOwnBack(sessions[index]) {
            return requestHave(index)
        }
        guard let signingKey = membership.signingKey(of: replica.device), !forked.contains(replica) else {
            // The author is not a member yet, as far as we know. Its changes are wanted once it is.
            return isPush ? requestHave(index) : ()
        }
        guard segment.start <= frontier.next else {
            // A gap: what comes before was never sent on this session, or was dropped. Ask what the peer holds, and pull.
            // While another peer is asked for it that can wait, but must not be forgotten: the push was this peer's last
            // message about it.
            guard isPush else { return }
            if pulls.contains(where: { $0.replica == replica }) || intake != nil {
                sessions[index].missedPush = true
            } else {
                requestHave(index)
            }
            return
        }
        guard frontier.next > 0 || mayBegin(replica) else { return leaveOut(index, segment, isPush: isPush) }
        guard let fresh = segment.suffix(from: frontier.next) else {
            if suspectFork(index, segment) { return }
            return refuse(index, .badSegment, detail: "boundary")
        }
        do {
            let verified: VerifiedSegment
            if configuration.faults.contains(.applyBeyondSignature) {
                verified = try fresh.walked(from: frontier)
            } else {
                verified = try fresh.verified(from: frontier, space: space, signingKey: signingKey)
            }
            if frontier.next == 0 { replicas.beginning.take(replica.device, at: now) }
            room.append(verified)
            recordAdmissions(verified)
            recordReturning(verified, from: sessions[index].device)
            if isPush { claim(index, replica, verified.tip) }
            if configuration.faults.contains(.sendBeforeCommit) { pushUncommitted(verified, besides: index) }
            limitRoom()
        } catch {
            noteOwnKey(index, segment)
            if !suspectFork(index, segment) { noteBadSegment(index, error) }
        }
    }

    /// A history that may not begin here now. It is asked for once it may; until then no more of it is to be pushed.
    private mutating func leaveOut(_ index: Int, _ segment: Segment, isPush: Bool) {
        let replica = segment.replica
        noteReplicaRefused(replica.device)
        guard isPush, let walked = try? segment.walked(from: .empty(space: space, replica: replica)) else { return }
        claim(index, replica, walked.tip)
        prune(index, replica)
    }

    /// Closes our incarnation if the peer shows that we signed more than we hold: this machine may have signed it before it
    /// was put back to an earlier moment while it ran. Then nothing more is written there, whether or not these bytes are
    /// what was signed.
    private mutating func noteOwnKey(_ index: Int, _ segment: Segment) {
        let replica = segment.replica
        guard replica.device == configuration.own, isSigned(segment, as: sessions[index].peerTips[replica]) else {
            return
        }
        effects.append(.closeIncarnation(replica))
    }

    /// An offence of the relay, which checks before it forwards. (The bytes of a fork look the same from here: a signature
    /// that fits the head the peer claims proves that its author signed that head, not that these bytes lead to it.)
    private mutating func noteBadSegment(_ index: Int, _ error: SegmentError) {
        refuse(index, .badSegment, detail: "\(error)")
    }

    /// A push of what is here already: the peer holds it too, should push no more of it, and wants to hear that we have it.
    private mutating func noteDuplicate(_ index: Int, _ segment: Segment, _ frontier: ReplicaTip) {
        if segment.end == frontier.next {
            claim(index, segment.replica, frontier)
            sessions[index].confirm()
        } else {
            // Which head the peer has there is not kept; it says so itself.
            requestHave(index)
        }
        scheduleHave(index)
        prune(index, segment.replica)
    }

    /// Records that a peer holds what it sent.
    private mutating func claim(_ index: Int, _ replica: ReplicaID, _ tip: ReplicaTip) {
        sessions[index].claims.advance(
            replica, tip, held: held, isAuthor: { membership.signingKey(of: $0) != nil })
    }

    private mutating func prune(_ index: Int, _ replica: ReplicaID) {
        guard !sessions[index].pruned.contains(replica) else { return }
        sessions[index].pruned.append(replica)
        send(index, .prune(Frame.Prune(space: space, replica: replica)))
    }

    /// The planted bug `sendBeforeCommit`.
    private mutating func pushUncommitted(_ segment: VerifiedSegment, besides source: Int) {
        for index in upSessions where index != source { offer(segment, to: index) }
    }

    private mutating func limitRoom() {
        let before = room.bytes
        // One segment beyond the limit may always come: it may be what the others wait for.
        room.evict(to: configuration.bounds.waitingRoomBytes + Limits.segmentBytes, held: held)
        if room.bytes < before { counters.segmentsEvicted += 1 }
    }

    // MARK: Persisting

    mutating func persistReady() {
        guard persisting == nil, storeRetryAt == nil, !room.isEmpty, !isJoiningState, !forks.isTakingBack,
            forks.inquiry?.stage != .walked
        else { return }
        let batch = takeReady()
        forgetReturned()
        guard !batch.isEmpty else { return }
        let id = PersistID(rawValue: nextID())
        var tips = TipTable()
        for segment in batch { tips.set(segment.segment.replica, segment.tip) }
        persisting = Persisting(id: id, segments: batch, tips: tips)
        effects.append(.persist(id, batch))
    }

    mutating func notePersisted(_ id: PersistID, _ change: StoreChange) {
        guard let batch = persisting, batch.id == id else { return }
        persisting = nil
        forks.mayRelease = false
        // Others may have come with it that the store had, and more of those.
        room.remove(
            change.segments.filter { batch.tips.next(of: $0.segment.replica) < $0.tip.next }.map(\.segment.replica))
        noteReturned(batch.segments.map(\.segment.replica))
        if isStoreRefusing { effects.append(.report(.storeRecovered)) }
        isStoreRefusing = false
        noteDurable(change)
    }

    /// Reports once that changes of our own came back from a peer.
    mutating func noteReturned(_ replicas: [ReplicaID]) {
        guard !haveOwnReturned, replicas.contains(where: { $0.device == configuration.own }) else { return }
        haveOwnReturned = true
        effects.append(.report(.ownChangesReturned))
    }

    /// Handles a refused batch, of which nothing was written. Everything volatile is dropped and becomes wanted again once
    /// the store takes writes.
    mutating func notePersistFailed(_ id: PersistID, _ code: String) {
        guard persisting?.id == id else { return }
        persisting = nil
        if forks.inquiry?.isWalking ?? false { forks.inquiry = nil }
        room.removeAll()
        for pull in pulls { cancel(pull) }
        pulls = []
        waitForStore(code)
    }

    /// Pauses pulls after the store refused something that is asked for again.
    mutating func waitForStore(_ code: String) {
        storeRetryAt = now + configuration.timing.storeRetry
        if !isStoreRefusing { effects.append(.report(.storeRefused(code: code))) }
        isStoreRefusing = true
    }
}
