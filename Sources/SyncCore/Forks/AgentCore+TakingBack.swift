import SyncModel

// What the store says of taking a history back, and how the core goes on from there.
extension AgentCore {
    /// The rest of a history may have come to the store in the middle of a stop.
    mutating func releaseHeldBack() {
        guard forks.mayRelease, persisting == nil, storeRetryAt == nil, !isJoiningState, !forks.isTakingBack else {
            return
        }
        let id = PersistID(rawValue: nextID())
        persisting = Persisting(id: id, segments: [], tips: TipTable())
        effects.append(.persist(id, []))
    }

    mutating func noteTakenBack(_ result: TakingBackResult) {
        guard let inquiry = forks.inquiry, inquiry.stage == .takingBack else { return }
        switch result {
        case .nothing:
            forks.inquiry = nil
            guard let index = sessionIndex(inquiry.connection), !refuseAltered(inquiry, index) else { return }
            // The beginning of ours; or ours is that of what the peer has, and then its changes continue it after all.
            agree(index, inquiry.replica, inquiry.goal)
            sessions[index].forks.suspects[inquiry.replica] = nil
            noteAgreement(index, inquiry.replica)
        case .impossible where held.next(of: inquiry.replica) > inquiry.depth:
            // Ours went on meanwhile.
            forks.inquiry = nil
        case .impossible:
            giveUp(isProven: true)
        case .refused(let code):
            forks.inquiry = nil
            waitForStore(code)
        case .done(let history):
            let device = sessionIndex(inquiry.connection).map { sessions[$0].device } ?? inquiry.replica.device
            begin(anew: history)
            effects.append(.report(.tookBack(inquiry.replica, device)))
        }
    }

    /// Resets everything known of the log, as after a start. Sessions and addresses stay.
    private mutating func begin(anew history: StoredHistory) {
        for index in sessions.indices { close(index, .historyChanged) }
        if intake != nil || hasStaging { effects.append(.state(.discard)) }
        guard let own = membership[configuration.own] else {
            preconditionFailure("a membership always holds its own device")
        }
        var members = Membership(own: own.fact, sinceMilliseconds: own.addedAtMilliseconds)
        for addition in history.additions { _ = members.add(addition) }
        var core = AgentCore(
            configuration: configuration, space: space, membership: members,
            tips: history.tips.map { ($0.replica, $0.tip) }, stateDigest: history.stateDigest,
            acknowledgements: history.acknowledgements, firstHeld: history.firstHeld, floor: history.floor,
            cuts: history.cuts, isIncomplete: history.isIncomplete, settled: history.settled, gaveWay: history.gaveWay,
            awaited: history.awaited,
            hasTakenBack: history.hasTakenBack, blocked: blocked, at: now)
        core.random = random
        (core.sessions, core.sessionNumber, core.bulkPeers) = (sessions, sessionNumber, bulkPeers)
        for index in core.sessions.indices { core.sessions[index].claims = PeerClaims() }
        (core.twins, core.haveOwnReturned, core.forks.shown) = (twins, haveOwnReturned, forks.shown)
        (core.book, core.instance, core.listenPort) = (book, instance, listenPort)
        (core.mayStayOpen, core.isSealing, core.isStoreRefusing) = (mayStayOpen, isSealing, isStoreRefusing)
        (core.counters, core.lastID, core.effects) = (counters, lastID, effects)
        self = core
        trustMembers()
        wakeDials()
    }
}
