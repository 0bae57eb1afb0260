import SyncModel

// What the store says of taking a history back, and how the core goes on from there.
extension SpaceMachine {
    /// The rest of a history may have come to the store in the middle of a stop.
    mutating func releaseHeldBack(_ step: inout CoreStep) {
        guard forks.mayRelease, !receiver.isPersisting, receiver.storeRetryAt == nil, !stateReceiver.isReadyOrJoining,
            !forks.isTakingBack
        else {
            return
        }
        receiver.persist([], &step)
    }

    mutating func handleTakenBack(_ result: TakingBackResult, _ step: inout CoreStep) {
        guard let inquiry = forks.inquiry, inquiry.stage == .takingBack else { return }
        switch result {
        case .nothing:
            forks.endInquiry()
            guard let index = peerIndex(inquiry.connection), !refuseAltered(inquiry, index, &step) else { return }
            // The beginning of ours; or ours is that of what the peer has, and then its changes continue it after all.
            agree(index, inquiry.replica, inquiry.goal)
            _ = forks.endSuspicion(of: inquiry.replica, on: peers[index].id)
            recordAgreement(index, inquiry.replica, &step)
        case .impossible where inquiry.isDropped:
            giveUp(&step)
            reportHidden(inquiry, &step)
        case .impossible where held.next(of: inquiry.replica) > inquiry.depth:
            // Ours went on meanwhile.
            forks.endInquiry()
        case .impossible:
            giveUp(isProven: true, &step)
        case .refused(let code):
            forks.endInquiry()
            receiver.waitForStore(code, &step)
        case .done(let history):
            let device = peerIndex(inquiry.connection).map { peers[$0].device } ?? inquiry.replica.device
            begin(anew: history, &step)
            if inquiry.isDropped { forks.recordComing(inquiry.replica, inquiry.goal) }
            step.emit(.report(.tookBack(inquiry.replica, device)))
        }
    }

    /// Drops changes that wait here for what no peer holds, if their author holds less of its own by now: it has taken them
    /// back, with what they build on, or was itself put back.
    mutating func dropTakenBack(_ step: inout CoreStep) {
        let waiting = receiver.waiting
        for index in upPeers where peers[index].peerTipsAreComplete {
            let claimed = peers[index].peerTips
            for replica in waiting.replicas(of: peers[index].device, beyond: claimed) {
                let missing = waiting.missing(of: replica, held: held)
                let isElsewhere = missing.allSatisfy { entry in
                    upPeers.contains { peers[$0].peerTips.next(of: entry.replica) >= entry.next }
                        || receiver.tip(of: entry.replica).map { $0.next >= entry.next } ?? false
                }
                guard !isElsewhere else { continue }
                cancelPulls(of: replica, &step)
                receiver.drop([replica])
            }
        }
    }

    /// Resets everything known of the log, as after a start.
    private mutating func begin(anew history: StoredHistory, _ step: inout CoreStep) {
        for index in peers.indices { close(index, .historyChanged, &step) }
        if stateReceiver.isTaking || stateReceiver.hasStaging { step.emit(.state(.discard)) }
        guard let own = membership[settings.own] else {
            preconditionFailure("a membership always holds its own device")
        }
        var members = Membership(own: own.fact, sinceMilliseconds: own.addedAtMilliseconds)
        for addition in history.additions { _ = members.add(addition) }
        var machine = SpaceMachine(
            settings: settings, space: space, membership: members, history: history, hasStaging: false,
            at: step.now)
        machine.peers = peers
        (machine.announcer, machine.sender) = (announcer, sender)
        for index in machine.peers.indices {
            machine.peers[index].claims = PeerClaims()
            machine.stateSender.open(peers[index].id)
            machine.stateReceiver.open(peers[index].id)
        }
        machine.haveOwnReturned = haveOwnReturned
        machine.forks.continueSessions(of: forks)
        machine.sealer = sealer
        machine.receiver.continueSessions(of: receiver)
        machine.puller.continueSessions(of: puller)
        self = machine
        trustMembers(&step)
        step.network.wakeDials(at: step.now)
    }
}
