import SyncModel

// What becomes of durable changes, and which peers get them.
extension SpaceMachine {
    /// Handles what became durable: only now is it ours to announce and to send.
    mutating func handleDurable(_ change: StoreChange, _ step: inout CoreStep) {
        for segment in change.segments { raiseHeld(segment.segment.replica, segment.tip) }
        log.record(stateDigest: change.stateDigest)
        compactor.recordWritten()
        let admitted = log.add(change.additions)
        if !change.additions.isEmpty {
            step.network.update(members: networkMembers, statements: recoveryStatements)
            forks.recordAdditions()
            let devices = Set(admitted + change.additions.map(\.fact.device)).sorted()
            for device in devices where membership.signingKey(of: device) != nil {
                for index in peers.indices { peers[index].claims.recordAuthor(device, held: held) }
            }
        }
        if !admitted.isEmpty {
            for device in admitted { step.emit(.report(.memberAdmitted(device))) }
            stability.recordMembersChanged()
            trustMembers(&step)
            step.network.wakeDials(at: step.now)
        }
        recordCompleteness(isIncomplete: change.isIncomplete, &step)
        if let cuts = change.cuts { recordCuts(cuts, &step) }
        for ignored in change.ignoredRevocations { step.emit(.report(.revocationIgnored(ignored))) }
        for index in upPeers {
            for segment in change.segments { offer(segment, to: index, &step) }
        }
    }

    /// Raises the durable tip of a replica.
    mutating func raiseHeld(_ replica: ReplicaID, _ tip: ReplicaTip) {
        guard let before = log.raise(replica, to: tip) else { return }
        for index in peers.indices { peers[index].claims.recordHeld(replica, from: before, to: tip.next) }
    }

    /// Pushes a segment to a peer that lacks just this and can apply it at once, or schedules its announcement.
    mutating func offer(_ segment: VerifiedSegment, to index: Int, _ step: inout CoreStep) {
        let peer = peers[index]
        let replica = segment.segment.replica
        guard peer.peerTips.next(of: replica) < segment.tip.next, peer.peerTipsAreComplete,
            replica.device != settings.own || !disputesOurs(peer), sender.canPush(segment, to: peer, step)
        else { return scheduleHave(index, step) }
        sender.push(segment, to: peer.id, &step)
        // The push itself tells the peer that we hold this much.
        announcer.recordPushed(replica, segment.tip, to: peer.id)
        probe(index, &step)
    }

    mutating func handlePrune(_ index: Int, _ prune: Frame.Prune) {
        guard prune.space == space, held[prune.replica] != nil else { return }
        sender.handlePrune(of: prune.replica, by: peers[index].id)
    }

    mutating func handleWant(_ index: Int, _ want: Frame.Want, _ step: inout CoreStep) {
        guard want.space == space else { return }
        let id = peers[index].id
        guard !sender.isFull(id) else { return refuse(index, .unexpectedFrame, detail: "wants", &step) }
        sender.recordWanted(want.replica, by: id)
        if let first = refusedFrom(want) {
            // Changes from there on are no use to it before it has what came before them.
            let said = stateSender.isSpoken(with: peers[index].id) ? first : 0
            let changes = Frame.Changes(
                space: space, replica: want.replica, wantID: want.id, segments: [], last: true, firstHeld: said)
            return send(index, .changes(changes), &step)
        }
        let to = min(want.to, held.next(of: want.replica))
        // Of ours that it may hold otherwise it gets nothing.
        guard !isDisputed(want.replica, peers[index]), want.from < to else {
            return sender.endEmpty(want.id, of: want.replica, for: id, &step)
        }
        sender.serve(want, to: to, for: id)
        // Not before it is known to hold the same.
        if want.replica.device == settings.own { forks.setDue(peers[index].id, true) }
    }

    mutating func handleCredit(_ index: Int, _ credit: Frame.Credit, _ step: inout CoreStep) {
        guard !sender.handleCredit(credit, from: peers[index].id) else { return }
        _ = stateSender.handleCredit(credit, from: peers[index].id, &step)
    }

    /// Starts reads for wants that are not held up.
    mutating func pumpServes(_ step: inout CoreStep) {
        for index in upPeers where !stateSender.holdsWants(of: peers[index].id, at: step.now) {
            let peer = peers[index]
            guard let serve = sender.readyServe(for: peer.id, step, isShared: { isShared($0, with: peer) }) else {
                continue
            }
            sender.startRead(for: serve, of: peer.id, &step)
        }
    }

    mutating func serveRead(_ id: ReadID, _ segments: [Segment], _ step: inout CoreStep) {
        let up = upPeers.map { peers[$0].id }
        sender.handleRead(id, segments, held: held, isUp: { up.contains($0) }, &step)
    }
}
