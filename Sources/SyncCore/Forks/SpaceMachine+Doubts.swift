import SyncModel

// Which of the histories that a peer claims may be others than ours. Only those held here are looked at: a peer may claim many.
extension SpaceMachine {
    /// The first replica of the device that the peer may hold otherwise: one of those held here.
    func doubtful(of device: DeviceID, _ session: SpacePeer) -> TipTable.Entry? {
        for ours in held.entries(of: device) {
            guard let tip = session.peerTips[ours.replica] else { continue }
            let entry = TipTable.Entry(replica: ours.replica, tip: tip)
            if isDoubtful(entry, session) { return entry }
        }
        return nil
    }

    /// The first doubtful replica of another device. Such a replica is looked into with its author, and where there is a
    /// suspicion.
    func doubtfulOfOthers(_ session: SpacePeer) -> TipTable.Entry? {
        var found = doubtful(of: session.device, session)
        for replica in forks[session.id].suspects.keys where found.map({ replica < $0.replica }) ?? true {
            guard let tip = session.peerTips[replica] else { continue }
            let entry = TipTable.Entry(replica: replica, tip: tip)
            if isDoubtful(entry, session) { found = entry }
        }
        return found
    }

    private func isDoubtful(_ entry: TipTable.Entry, _ session: SpacePeer) -> Bool {
        let (replica, theirs) = (entry.replica, entry.tip)
        let isSuspected = forks[session.id].suspects[replica] != nil
        // Whatever was reported meanwhile, its author's word ends it.
        let isAuthors = forks.isForked(replica) && replica.device == session.device
        // What waits is ours as well, where it is only compared: what it waits for may never come.
        let waiting = isSuspected && !mayLookInto(replica, of: session) ? receiver.tip(of: replica) : nil
        guard mayLookInto(replica, of: session) || isSuspected, theirs.next > 0,
            let ours = held[replica] ?? waiting, !forks[session.id].givenUp.contains(replica), !isAwaited(replica)
        else { return false }
        if !isSuspected, !isAuthors, forks[session.id].agreed[replica]?.isSamePlace(as: theirs) ?? false {
            return false
        }
        if theirs.next <= ours.next { return !isOnOurs(theirs, ours, replica, session) }
        return isSuspected || forks.isForked(replica)
    }
}
