import SyncModel

// Another of our histories that no device has as changes any more, so that it cannot be walked: all had acknowledged it, and this machine
// was put back to before that while it ran. What was written here since reaches no other device, and a state in which that history is
// longer would hide it: its counters are taken.
extension SpaceMachine {
    /// True if no state may be taken from the peer yet, or at all: one of our histories goes further there. It is pulled while any peer
    /// has it as changes, since they tell whether they continue ours.
    func mayHideOurs(_ session: SpacePeer) -> Bool {
        forks.written.contains { replica in
            let from = frontier(of: replica).next
            guard from > 0, !forks.settled.contains(replica), session.peerTips.next(of: replica) > from else {
                return false
            }
            return forks.hidden.contains(replica)
                || upPeers.contains {
                    peers[$0].peerTips.next(of: replica) > from && hasChanges($0, of: replica, from: from)
                }
        }
    }

    /// True if a state with this tip may be put together of two histories: a fork was seen, and it holds more of one of them than is here,
    /// which may be the other one. What a revoked device wrote counts for nothing behind its end, and one that is incomplete takes all.
    func isMixed(_ replica: ReplicaID, _ tip: ReplicaTip) -> Bool {
        guard forks.isForked(replica), !isIncomplete, !cuts.isBarred(replica.device), let ours = held[replica] else {
            return false
        }
        return tip.next >= ours.next && !tip.isSamePlace(as: ours)
    }

    /// True if the peer's state would be, or if that is not known yet: the peer is asked for the signature under another history.
    func maySendMixed(_ session: SpacePeer) -> Bool {
        forks[session.id].isInQuestion
            || forks.forked.contains { replica in session.peerTips[replica].map { isMixed(replica, $0) } ?? false }
    }

    /// True if a state with this tip would hide what was written here.
    ///
    /// An older disk that was put back begins a new replica, so its own histories go on in those of the others.
    func hidesOurs(_ tip: StateTip) -> Bool {
        let ours = held.next(of: tip.replica)
        guard forks.written.contains(tip.replica), !forks.settled.contains(tip.replica), ours > 0, tip.tip.next > ours
        else { return false }
        // Its changes continue ours and wait for what they build on.
        if let waiting = receiver.tip(of: tip.replica), waiting.isSamePlace(as: tip.tip) { return false }
        guard let common = common(of: tip.replica, with: tip.tip) else { return true }
        return common < ours
    }

    /// Takes no such state before what it would hide is taken back.
    ///
    /// - Parameter tip: signed by this device.
    mutating func refuseHiding(_ tip: StateTip, _ step: inout CoreStep) {
        guard let connection = stateReceiver.source, let index = peerIndex(connection) else { return }
        stateReceiver.drop(pausing: settings.timing.statePause, &step)
        takeBackUnconfirmed(tip.replica, for: tip.tip, index, &step)
    }

    /// Takes back what may be ours alone, to be written again once the other history is here as state. Work that is common to both is
    /// written a second time if no other member had acknowledged it before the machine was put back.
    ///
    /// - Parameter theirs: the end of the other history at this peer.
    mutating func takeBackUnconfirmed(
        _ replica: ReplicaID, for theirs: ReplicaTip, _ index: Int, _ step: inout CoreStep
    ) {
        if forks.inquiry != nil { return }
        guard forks.written.contains(replica), !forks.settled.contains(replica) else {
            return recordFork(replica, seenFrom: peers[index].device, &step)
        }
        let inquiry = ForkInquiry(
            replica: replica, connection: peers[index].id, goal: theirs, depth: held.next(of: replica), place: nil,
            isDropped: true, space: space)
        guard let common = common(of: replica, with: theirs), common < theirs.next else {
            return reportHidden(inquiry, &step)
        }
        forks.setInquiry(inquiry)
        if common == 0 { return forks.advanceInquiry(to: .walked) }
        let id = ReadID(rawValue: step.nextID())
        forks.advanceInquiry(to: .anchoring(id, at: common))
        step.emit(.readHeads(id, [.init(replica: replica, next: common)]))
    }

    /// Reports a fork of which ours cannot be taken back. The replica is not closed: after a restart it would be taken for one that others
    /// have gone on with.
    mutating func reportHidden(_ inquiry: ForkInquiry, _ step: inout CoreStep) {
        forks.recordHidden(inquiry.replica)
        guard let index = peerIndex(inquiry.connection) else { return }
        let device = peers[index].device
        if forks.recordForked(inquiry.replica, by: device) { step.emit(.report(.forked(inquiry.replica, device))) }
    }

    /// Returns the counter up to which members that hold the other history had acknowledged ours before; nil if that is not known, or if
    /// others have acknowledged more of ours.
    private func common(of replica: ReplicaID, with theirs: ReplicaTip) -> UInt64? {
        var (common, kept): (UInt64?, UInt64) = (nil, 0)
        for device in log.remainingDevices where device != settings.own {
            let counted = stability.counted(of: device)?.next(of: replica)
            let isHolder =
                stability.isBeyond(held.next(of: replica), device, of: replica)
                || upPeers.contains {
                    peers[$0].device == device && peers[$0].peerTips[replica]?.isSamePlace(as: theirs) ?? false
                }
            if isHolder {
                if let counted { common = max(common ?? 0, counted) }
            } else {
                kept = max(kept, counted ?? 0)
            }
        }
        guard let common, kept <= common else { return nil }
        return common
    }

    /// Records the replicas under which this device writes.
    mutating func recordWritten(_ change: StoreChange) {
        for verified in change.segments where verified.segment.replica.device == settings.own {
            forks.recordWritten(verified.segment.replica)
        }
    }
}
