import SyncModel

// What follows from a peer's history that was walked and is not to be put in place of ours.
extension SpaceMachine {
    /// Ends an inquiry in which the peer's history is compared with ours, and not put in its place.
    mutating func judge(_ inquiry: ForkInquiry, _ index: Int, _ step: inout CoreStep) {
        if refuseAltered(inquiry, index, &step) { return }
        let (replica, id) = (inquiry.replica, peers[index].id)
        guard let place = inquiry.place else { return judgeSettled(inquiry, index, &step) }
        // Dropped from the waiting room meanwhile: what the peer holds may continue what is left.
        guard place.next <= frontier(of: replica).next else {
            _ = forks.endSuspicion(of: replica, on: id)
            return
        }
        // However far ours has gone meanwhile.
        let isCompared = inquiry.start.end <= place.next && place.next <= inquiry.tip.next
        if isCompared, inquiry.contains(place) {
            _ = forks.endSuspicion(of: replica, on: id)
            return agree(index, replica, inquiry.goal)
        }
        // The suspicion stays, so that the peer is not asked again on this session, whatever the author says.
        forks.giveUp(replica, on: id)
        if isCompared { recordFork(replica, seenFrom: peers[index].device, &step) }
    }

    /// The author of the replica has decided: it is this device.
    private mutating func judgeSettled(_ inquiry: ForkInquiry, _ index: Int, _ step: inout CoreStep) {
        let replica = inquiry.replica
        _ = forks.endSuspicion(of: replica, on: peers[index].id)
        // Ours went on meanwhile: compared where theirs ends.
        guard let ours = held[replica], ours.next <= inquiry.tip.next else { return }
        if inquiry.contains(ours) {
            agree(index, replica, inquiry.goal)
            endFork(replica, &step)
        } else {
            let claim = ContestedClaim(replica: replica, tip: inquiry.goal, isConflict: true)
            dispute(claim, isProven: true, index, &step)
        }
    }

    /// The peer's history goes on from ours, and what it had sent did not: it had altered that.
    /// - Returns: whether that ended the session.
    mutating func refuseAltered(_ inquiry: ForkInquiry, _ index: Int, _ step: inout CoreStep) -> Bool {
        guard case .unfit(let place) = forks[peers[index].id].suspects[inquiry.replica], inquiry.contains(place) else {
            return false
        }
        handleAltered(inquiry, index, &step)
        return true
    }

    /// Handles bytes in a walk that the author has not signed: the session ends, unless the peer had sent none before it was walked. It
    /// is not walked again: that costs the whole history, and a damaged disk sends the same at each session.
    mutating func handleAltered(_ inquiry: ForkInquiry, _ index: Int, _ step: inout CoreStep) {
        if inquiry.place != nil { forks.recordAltered(by: peers[index].device, inquiry.replica) }
        if inquiry.place != nil, case .stalled = forks[peers[index].id].suspects[inquiry.replica] {
            cancelWalk(inquiry, &step)
            return forks.giveUp(inquiry.replica, on: peers[index].id)
        }
        refuse(index, .badSegment, detail: "history", &step)
    }

    /// Reports peers that do not revert what gave way to a settled history of ours: they have it as state alone, or have dropped what comes
    /// before it. That stops nothing, since one of them may do so yet.
    mutating func reportKept(_ step: inout CoreStep) {
        if forks.gaveWay.isEmpty { return }
        for index in upPeers where peers[index].peerTipsAreComplete && !forks[peers[index].id].isReported {
            guard step.now >= peers[index].openedAt + settings.timing.revertWait else { continue }
            let isKept = forks.settled.contains { replica in
                peers[index].peerTips[replica].map { isGivingWay($0, replica) } ?? false
            }
            guard isKept else { continue }
            forks.recordReported(on: peers[index].id)
            step.emit(.report(.diverged(peers[index].device)))
        }
    }
}
