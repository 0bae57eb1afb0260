import SyncModel

// Who holds what: what is announced here, and what follows from what a peer announces.
extension SpaceMachine {
    /// The tips that we announce.
    private var announced: TipTable {
        var tips = held
        if settings.faults.contains(.acknowledgeWaitingRoom) {
            for entry in held.entries {
                if let tip = receiver.waiting.tip(of: entry.replica) { tips.set(entry.replica, tip) }
            }
        }
        if settings.faults.contains(.offByOneVector), let last = tips.entries.last {
            tips.set(last.replica, ReplicaTip(next: last.tip.next + 1, head: last.tip.head, stamp: last.tip.stamp))
        }
        return tips
    }

    mutating func sendHave(_ index: Int, isComplete: Bool, _ step: inout CoreStep) {
        announcer.announce(holdings(for: index), to: peers[index].id, isComplete: isComplete, &step)
    }

    /// Tells the peer how far one replica is held.
    mutating func sendHave(of replica: ReplicaID, _ index: Int, _ step: inout CoreStep) {
        guard let tip = held[replica] else { return }
        let entry = TipTable.Entry(replica: replica, tip: tip)
        announcer.announce(entry, of: holdings(for: index), to: peers[index].id, &step)
    }

    private func holdings(for index: Int) -> Announcer.Holdings {
        Announcer.Holdings(
            space: space, tips: announced, stateDigest: stateDigest,
            acknowledgementsDigest: stability.digest(for: peers[index].id))
    }

    mutating func scheduleHave(_ index: Int, _ step: CoreStep) { announcer.schedule(peers[index].id, at: step.now) }

    /// Sends a postponed Have.
    mutating func sendDueHave(_ index: Int, _ step: inout CoreStep) {
        sendHave(index, isComplete: announcer.owesAll(peers[index].id), &step)
    }

    mutating func requestHave(_ index: Int, _ step: inout CoreStep) {
        announcer.request(space, of: peers[index].id, &step)
    }

    mutating func requestHave(of id: ConnectionID, _ step: inout CoreStep) {
        if let index = peerIndex(id), peers[index].isUp { requestHave(index, &step) }
    }

    mutating func handleHaveRequest(_ index: Int, _ request: Frame.HaveRequest, _ step: inout CoreStep) {
        guard request.space == space, announcer.handleRequest(from: peers[index].id, at: step.now) else { return }
        sendHave(index, isComplete: true, &step)
    }

    mutating func handleHave(_ index: Int, _ frame: Frame.Have, _ step: inout CoreStep) {
        guard frame.space == space else { return }
        switch announcer.collect(frame, from: peers[index].id) {
        case .unfinished: break
        case .tooLong: refuse(index, .badVector, detail: "size", &step)
        case .whole(let have): learn(index, have, &step)
        }
    }

    /// Handles all entries of a peer's announcement, after the last frame of it.
    private mutating func learn(_ index: Int, _ have: Frame.Have, _ step: inout CoreStep) {
        stability.handleDigest(have.acknowledgementsDigest, from: peers[index].id, log, &step)
        let entries = have.entries.map {
            TipTable.Entry(replica: $0.replica, tip: ReplicaTip(next: $0.next, head: $0.head, stamp: .zero))
        }
        let membership = membership
        peers[index].claims.take(
            entries, isComplete: have.complete, held: held, isAuthor: { membership.signingKey(of: $0) != nil })
        guard peers[index].peerTips.entries.count <= Limits.vectorEntries else {
            return refuse(index, .badVector, detail: "size", &step)
        }
        if peers[index].peerTips.digest != have.vectorDigest, have.vectorDigest == held.digest {
            peers[index].claims.agree(with: held)
        }
        let isKnown = peers[index].peerTips.digest == have.vectorDigest
        peers[index].peerTipsAreComplete = isKnown
        if !isKnown {
            if have.complete { return refuse(index, .badVector, detail: "digest", &step) }
            return requestHave(index, &step)
        }
        if have.complete { peers[index].wholeHaves += 1 }
        peers[index].progress.record(peers[index].claims.operations, at: step.now)
        sender.confirm(peers[index].claims.tips, by: peers[index].id)
        handleTips(index, &step)
        if have.vectorDigest == held.digest, have.stateDigest != stateDigest, !receiver.isPersisting {
            step.emit(.report(.diverged(peers[index].device)))
        }
    }
}
