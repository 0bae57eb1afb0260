import SyncModel

// Pulling: what is missing, which peer to ask for it, and when to ask another peer.
extension SpaceMachine {
    mutating func planPulls(_ step: inout CoreStep) {
        newcomers.passDeadline(at: step.now)
        guard receiver.storeRetryAt == nil else { return }
        if puller.isEmpty, !stateReceiver.isTaking { askAboutMissedPushes(&step) }
        let sources = upPeers.filter { index in
            let session = peers[index]
            return session.peerTipsAreComplete && !step.isSuspected(session.id)
                && !puller.isPaused(session.id, at: step.now)
        }
        guard !sources.isEmpty else { return }
        let missing = newcomers.missing(in: receiver.waiting, held: held)
        puller.topUp(urgent: missing, receiver, &step)
        pullMissing(missing, from: sources, &step)
        for index in sources where peers[index].peerTips.digest != held.digest {
            pull(peers[index].claims.unfinished, of: index, from: sources, &step)
            pull(peers[index].claims.unknown, of: index, from: sources, &step)
        }
    }

    /// Pulls missing dependencies, which come first. A change may name thousands that no device has: one step looks at some,
    /// and the next goes on.
    private mutating func pullMissing(_ missing: [WaitingRoom.Missing], from sources: [Int], _ step: inout CoreStep) {
        for next in newcomers.turn(of: missing, atMost: settings.bounds.missingPerStep) {
            pull(next.replica, from: sources, isUrgent: true, isNamed: next.isNamedByOthers, &step)
        }
        if newcomers.hasRefused {
            for replica in stability.awaitedReplicas {
                pull(replica, from: sources, isUrgent: false, isNamed: true, &step)
            }
        }
    }

    /// Pulls what one peer claims, in the order of the replicas, as long as more can be asked of it: the same plan for the
    /// same state.
    private mutating func pull(_ claimed: SortedReplicas, of index: Int, from sources: [Int], _ step: inout CoreStep) {
        var position = 0
        while position < claimed.elements.count, puller.hasFreeWant(peers[index].id),
            puller.hasFreeShare(peers[index].id, receiver)
        {
            let replica = claimed.elements[position]
            step.counters.claimsVisited += 1
            if puller.freeBytes(peers[index].id, for: replica.device, receiver) < puller.leastGrant {
                position = claimed.index(behind: replica.device)
            } else if mayBegin(replica, isNamed: false, step) {
                pull(replica, from: sources, isUrgent: false, isNamed: false, &step)
                position += 1
            } else {
                newcomers.recordRefused(replica.device, &step)
                position = claimed.index(behind: replica.device)
            }
        }
    }

    private func mayBegin(_ replica: ReplicaID, isNamed: Bool, _ step: CoreStep) -> Bool {
        newcomers.mayBegin(replica, isNamed: isNamed, receiver.waiting, held: held, at: step.now)
    }

    /// Returns true if a replica that came may begin: waiting work of another device may name it, or a member's
    /// acknowledgement may.
    mutating func mayBegin(_ replica: ReplicaID, _ step: CoreStep) -> Bool {
        if mayBegin(replica, isNamed: false, step) { return true }
        return mayBegin(replica, isNamed: true, step)
            && (newcomers.missing(in: receiver.waiting, held: held)
                .contains { $0.replica == replica && $0.isNamedByOthers }
                || stability.awaitedReplicas.contains(replica))
    }

    private func isWalk(_ pull: Pull) -> Bool { forks.inquiry?.walk == pull.wantID }

    private mutating func askAboutMissedPushes(_ step: inout CoreStep) {
        for index in upPeers where puller.takeMissedPush(of: peers[index].id) {
            requestHave(index, &step)
        }
    }

    /// - Parameter isNamed: true if the work of another device than the replica's builds on it.
    private mutating func pull(
        _ replica: ReplicaID, from sources: [Int], isUrgent: Bool, isNamed: Bool, _ step: inout CoreStep
    ) {
        guard !puller.wants.contains(where: { $0.replica == replica && !isWalk($0) }), !forks.isForked(replica),
            !isBeingTakenBack(replica), !isAwaited(replica),
            !sealer.isSealing || replica.device != settings.own,
            membership.signingKey(of: replica.device) != nil
        else { return }
        let from = frontier(of: replica).next
        guard !stateReceiver.comesAsState(replica, from: from), from > 0 || mayBegin(replica, isNamed: isNamed, step)
        else { return }
        let candidates = sources.filter { index in
            peers[index].peerTips.next(of: replica) > from && hasChanges(index, of: replica, from: from)
                && forks[peers[index].id].suspects[replica] == nil && !isDisputed(replica, peers[index])
                && !(replica.device == peers[index].device && mayTakeItsOwnBack(peers[index], step))
                && (isUrgent || !mayBeReverted(replica, by: peers[index]))
                && puller.hasFreeWant(peers[index].id)
        }
        // A peer that kept changes of this author back is asked last.
        func rank(_ index: Int) -> (Int, Int) {
            let id = peers[index].id
            return (
                puller.isLate(peers[index].device, of: replica, at: step.now) ? 1 : 0, puller.outstandingBytes(of: id)
            )
        }
        guard let index = candidates.min(by: { rank($0) < rank($1) }) else { return }
        let id = peers[index].id
        var credit = min(
            settings.bounds.wantWindowBytes, puller.freeBytes(id, for: replica.device, receiver))
        if credit < puller.leastGrant {
            // The first missing dependency may always be asked for: the room is full of what waits for it. One change for each
            // round trip would take long.
            guard isUrgent else { return }
            credit = puller.outstandingBytes < puller.leastGrant ? puller.leastGrant : 1
        }
        receiver.allowPush(of: replica, by: id)
        _ = puller.ask(
            id, for: replica, from: from, to: peers[index].peerTips.next(of: replica), creditBytes: credit, &step)
    }

    /// Handles the end of a want, as its peer says.
    mutating func endPull(_ connection: ConnectionID, _ wantID: UInt64, _ step: CoreStep) {
        guard let pull = puller.end(connection, wantID) else { return }
        if forks.inquiry?.walk == wantID {
            forks.advanceInquiry(to: .cutShort)
            return
        }
        guard let index = peerIndex(connection) else { return }
        let supply = Supply(peer: peers[index].device, author: pull.replica.device)
        let reached = frontier(of: pull.replica).next
        guard reached < pull.to else { return puller.recordPrompt(supply) }
        // Another peer may have what this one does not have as changes.
        if !hasChanges(index, of: pull.replica, from: reached) { return }
        if reached == pull.from { recordStall(index, pull.replica) }
        // The peer ended a want that it said it could fill. A pause, so that empty answers cannot make us spin.
        puller.pause(connection, until: step.now + settings.timing.emptyAnswerPause)
        puller.recordLate(supply, at: step.now)
    }

    /// True if the peer sends so little that another one should be asked, and there is one that was not late.
    private func isTooSlow(_ pull: Pull, _ step: CoreStep) -> Bool {
        guard puller.isBelowPace(pull), !isWalk(pull) else { return false }
        let from = frontier(of: pull.replica).next
        return upPeers.contains { index in
            peers[index].id != pull.connection && peers[index].peerTips.next(of: pull.replica) > from
                && hasChanges(index, of: pull.replica, from: from) && !step.isSuspected(peers[index].id)
                && !puller.isLate(peers[index].device, of: pull.replica, at: step.now)
        }
    }

    /// A want without a byte of progress goes to another peer.
    mutating func passPullDeadlines(_ step: inout CoreStep) {
        for pull in puller.overdue(at: step.now) {
            guard puller.isWithoutProgress(pull, at: step.now) || isTooSlow(pull, step) else {
                puller.restartPace(of: pull, at: step.now)
                continue
            }
            puller.cancel(&step) { $0 == pull }
            step.counters.wantsReassigned += 1
            guard let index = peerIndex(pull.connection) else { continue }
            puller.recordLate(Supply(peer: peers[index].device, author: pull.replica.device), at: step.now)
            // Others first; this peer again after the same time.
            puller.pause(pull.connection, until: step.now + settings.timing.wantProgress)
            probe(index, &step)
        }
    }
}
