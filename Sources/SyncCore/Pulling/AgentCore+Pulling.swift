import SyncModel

/// A want under way: a range of one replica, asked of one peer. A replica has at most one, apart from the walk of a history
/// that is judged.
struct Pull: Sendable, Equatable {
    let wantID: UInt64
    let connection: ConnectionID
    let replica: ReplicaID
    let from: UInt64
    let to: UInt64
    /// The bytes granted and not yet used.
    var creditBytes: Int
    var progressAt: Tick
    /// The bytes that came since `since`: a peer that sends a byte a second holds a history up like one that sends none.
    var pace: (since: Tick, bytes: Int)

    static func == (left: Pull, right: Pull) -> Bool { left.wantID == right.wantID }
}

/// A peer and an author whose changes it was asked for.
struct Supply: Hashable, Sendable {
    let peer: DeviceID
    let author: DeviceID
}

// Pulling: what is missing, which peer to ask for it, and when to ask another peer.
extension AgentCore {
    private var outstandingBytes: Int { pulls.reduce(0) { $0 + max(0, $1.creditBytes) } }

    private func outstandingBytes(_ session: PeerSession) -> Int {
        pulls.reduce(0) { $0 + ($1.connection == session.id ? max(0, $1.creditBytes) : 0) }
    }

    /// The bytes that may still be asked for of what a device wrote. Outstanding bytes never exceed the free part of the
    /// waiting room, of which waiting changes of another device take half at most. So the room may hold half as much again.
    private func freeBytes(for author: DeviceID) -> Int {
        unclaimedBytes - room.occupiedBytes(for: author, atMost: configuration.bounds.waitingRoomBytes / 2)
    }

    /// The same where nothing waits.
    private var unclaimedBytes: Int {
        let persistingBytes = persisting?.segments.reduce(0) { $0 + $1.segment.bytes.count } ?? 0
        return configuration.bounds.waitingRoomBytes - persistingBytes - outstandingBytes
    }

    /// The bytes that may still be asked of one peer of what a device wrote: at most the peer's share.
    private func freeBytes(_ session: PeerSession, for author: DeviceID) -> Int {
        min(freeBytes(for: author), shareBytes(session) - outstandingBytes(session))
    }

    /// Three quarters of the room are shared out among the peers that are asked for something, and one is kept for the next
    /// peer: one that claims much and sends nothing keeps its share, and not those of others.
    private func shareBytes(_ session: PeerSession) -> Int {
        let others = Set(pulls.map(\.connection)).subtracting([session.id]).count
        return max(leastGrant, configuration.bounds.waitingRoomBytes / 4 * 3 / (others + 1))
    }

    /// The least grant worth a frame. A small room (tests have one) grants by halves of its window.
    private var leastGrant: Int { min(Limits.segmentBytes, configuration.bounds.wantWindowBytes / 2) }

    mutating func planPulls() {
        if let at = replicas.lookAt, now >= at { replicas.lookAt = nil }
        guard storeRetryAt == nil else { return }
        if pulls.isEmpty, intake == nil { askAboutMissedPushes() }
        let sources = upSessions.filter { index in
            let session = sessions[index]
            return session.peerTipsAreComplete && !isSuspected(session)
                && session.pullsPausedUntil.map { $0 <= now } ?? true
        }
        guard !sources.isEmpty else { return }
        let missing = missingReplicas()
        topUp(urgent: missing)
        pullMissing(missing, from: sources)
        for index in sources where sessions[index].peerTips.digest != held.digest {
            pull(sessions[index].claims.unfinished, of: index, from: sources)
            pull(sessions[index].claims.unknown, of: index, from: sources)
        }
    }

    /// Pulls missing dependencies, which come first. A change may name thousands that no device has: one step looks at some,
    /// and the next goes on.
    private mutating func pullMissing(_ missing: [WaitingRoom.Missing], from sources: [Int]) {
        let count = min(missing.count, configuration.bounds.missingPerStep)
        for number in 0..<count {
            let next = missing[(replicas.missingOffset + number) % missing.count]
            pull(next.replica, from: sources, isUrgent: true, isNamed: next.isNamedByOthers)
        }
        replicas.missingOffset = missing.count > count ? (replicas.missingOffset + count) % missing.count : 0
        if !replicas.reported.isEmpty {
            for replica in acknowledgedElsewhere { pull(replica, from: sources, isUrgent: false, isNamed: true) }
        }
    }

    /// Pulls what one peer claims, in the order of the replicas, as long as more can be asked of it: the same plan for the
    /// same state.
    private mutating func pull(_ claimed: SortedReplicas, of index: Int, from sources: [Int]) {
        var position = 0
        while position < claimed.elements.count, hasFreeWant(sessions[index]), hasFreeShare(sessions[index]) {
            let replica = claimed.elements[position]
            counters.claimsVisited += 1
            if freeBytes(sessions[index], for: replica.device) < leastGrant {
                position = claimed.index(behind: replica.device)
            } else if mayBegin(replica, isNamed: false) {
                pull(replica, from: sources, isUrgent: false, isNamed: false)
                position += 1
            } else {
                noteReplicaRefused(replica.device)
                position = claimed.index(behind: replica.device)
            }
        }
    }

    private func hasFreeWant(_ session: PeerSession) -> Bool {
        pulls.count { $0.connection == session.id } < configuration.bounds.wantsPerSession
    }

    /// True if more may be asked of the peer, for an author of which nothing waits.
    private func hasFreeShare(_ session: PeerSession) -> Bool {
        min(unclaimedBytes, shareBytes(session) - outstandingBytes(session)) >= leastGrant
    }

    private func isWalk(_ pull: Pull) -> Bool { forks.inquiry?.stage == .walking(wantID: pull.wantID) }

    private mutating func askAboutMissedPushes() {
        for index in upSessions where sessions[index].missedPush {
            sessions[index].missedPush = false
            requestHave(index)
        }
    }

    /// - Parameter isNamed: true if the work of another device than the replica's builds on it.
    private mutating func pull(_ replica: ReplicaID, from sources: [Int], isUrgent: Bool, isNamed: Bool) {
        guard !pulls.contains(where: { $0.replica == replica && !isWalk($0) }), !forked.contains(replica),
            !isBeingTakenBack(replica), !isAwaited(replica), isUrgent || !hasGivenWay(replica),
            !isSealing || replica.device != configuration.own,
            membership.signingKey(of: replica.device) != nil
        else { return }
        let from = frontier(of: replica).next
        guard !comesAsState(replica, from: from), from > 0 || mayBegin(replica, isNamed: isNamed) else { return }
        let candidates = sources.filter { index in
            sessions[index].peerTips.next(of: replica) > from && hasChanges(index, of: replica, from: from)
                && sessions[index].forks.suspects[replica] == nil && !isDisputed(replica, sessions[index])
                && !(replica.device == sessions[index].device && mayTakeItsOwnBack(sessions[index]))
                && (isUrgent || !(sessions[index].peerTips[replica].map { isGivingWay($0, replica) } ?? false))
                && hasFreeWant(sessions[index])
        }
        // A peer that kept changes of this author back is asked last.
        func rank(_ index: Int) -> (Int, Int) {
            (isLate(sessions[index].device, of: replica) ? 1 : 0, outstandingBytes(sessions[index]))
        }
        guard let index = candidates.min(by: { rank($0) < rank($1) }) else { return }
        var credit = min(configuration.bounds.wantWindowBytes, freeBytes(sessions[index], for: replica.device))
        if credit < leastGrant {
            // The first missing dependency may always be asked for: the room is full of what waits for it. One change for each
            // round trip would take long.
            guard isUrgent else { return }
            credit = outstandingBytes < leastGrant ? leastGrant : 1
        }
        sessions[index].pruned.removeAll { $0 == replica }
        _ = ask(index, for: replica, from: from, to: sessions[index].peerTips.next(of: replica), creditBytes: credit)
    }

    /// - Returns: the id of the want.
    mutating func ask(
        _ index: Int, for replica: ReplicaID, from: UInt64, to: UInt64, creditBytes credit: Int
    ) -> UInt64 {
        let pull = Pull(
            wantID: nextID(), connection: sessions[index].id, replica: replica, from: from, to: to,
            creditBytes: credit, progressAt: now, pace: (now, 0))
        pulls.append(pull)
        counters.wantsSent += 1
        send(
            index,
            .want(
                Frame.Want(
                    id: pull.wantID, space: space, replica: replica, from: from, to: pull.to,
                    creditBytes: UInt64(credit))))
        probe(index)
        return pull.wantID
    }

    /// Grants more credit once half of the window is used and there is room. A replica that others wait for gets another
    /// segment even when the room is full of those others: otherwise nothing would ever move again.
    private mutating func topUp(urgent: [WaitingRoom.Missing]) {
        for number in pulls.indices {
            let window = configuration.bounds.wantWindowBytes
            let isEmptyHanded = pulls[number].creditBytes <= 0
            let isStarved =
                isEmptyHanded
                && (room.isEmpty && persisting == nil || urgent.contains { $0.replica == pulls[number].replica })
            guard pulls[number].creditBytes < window / 2, let index = sessionIndex(pulls[number].connection) else {
                continue
            }
            let grant = max(
                min(window - pulls[number].creditBytes, freeBytes(sessions[index], for: pulls[number].replica.device)),
                isStarved ? 1 - pulls[number].creditBytes : 0)
            guard grant >= leastGrant || isStarved else { continue }
            if pulls[number].creditBytes <= 0 {
                pulls[number].progressAt = now
                pulls[number].pace = (now, 0)
            }
            pulls[number].creditBytes += grant
            send(
                index,
                .credit(Frame.Credit(wantID: pulls[number].wantID, bytes: UInt64(grant), cancel: false)))
        }
    }

    mutating func notePullProgress(_ connection: ConnectionID, _ wantID: UInt64, bytes: Int) {
        guard wantID != 0,
            let number = pulls.firstIndex(where: { $0.connection == connection && $0.wantID == wantID })
        else { return }
        pulls[number].creditBytes -= bytes
        pulls[number].pace.bytes += bytes
        if bytes > 0 { pulls[number].progressAt = now }
    }

    mutating func endPull(_ connection: ConnectionID, _ wantID: UInt64) {
        guard wantID != 0,
            let number = pulls.firstIndex(where: { $0.connection == connection && $0.wantID == wantID })
        else { return }
        let pull = pulls.remove(at: number)
        if forks.inquiry?.stage == .walking(wantID: wantID) {
            forks.inquiry?.stage = .cutShort
            return
        }
        guard let index = sessionIndex(connection) else { return }
        guard frontier(of: pull.replica).next < pull.to else {
            late[Supply(peer: sessions[index].device, author: pull.replica.device)] = nil
            return
        }
        // Another peer may have what this one does not have as changes.
        if !hasChanges(index, of: pull.replica, from: frontier(of: pull.replica).next) { return }
        if frontier(of: pull.replica).next == pull.from { noteStall(index, pull.replica) }
        // The peer ended a want that it said it could fill. A pause, so that empty answers cannot make us spin.
        sessions[index].pullsPausedUntil = now + configuration.timing.emptyAnswerPause
        recordLate(sessions[index].device, with: pull.replica.device)
    }

    func progressDeadline(of pull: Pull) -> Tick? {
        guard pull.creditBytes > 0 else { return nil }
        return min(
            pull.progressAt + configuration.timing.wantProgress, pull.pace.since + configuration.timing.wantPace)
    }

    /// True if the device did not fill the last want of this author's changes, or of its own, or was too slow with a state.
    private func isLate(_ device: DeviceID, of replica: ReplicaID) -> Bool {
        isLate(Supply(peer: device, author: replica.device)) || isLate(Supply(peer: device, author: device))
    }

    func isLate(_ supply: Supply) -> Bool { late[supply].map { now < $0 } ?? false }

    mutating func recordLate(_ peer: DeviceID, with author: DeviceID) {
        late[Supply(peer: peer, author: author)] = now + configuration.timing.lateFor
    }

    /// True if the peer sends so little that another one should be asked, and there is one that was not late.
    private func isTooSlow(_ pull: Pull) -> Bool {
        let least = min(configuration.bounds.leastBytesPerPace, configuration.bounds.wantWindowBytes)
        guard pull.pace.bytes < least, !isWalk(pull) else { return false }
        let from = frontier(of: pull.replica).next
        return upSessions.contains { index in
            sessions[index].id != pull.connection && sessions[index].peerTips.next(of: pull.replica) > from
                && hasChanges(index, of: pull.replica, from: from) && !isSuspected(sessions[index])
                && !isLate(sessions[index].device, of: pull.replica)
        }
    }

    /// A want without a byte of progress goes to another peer.
    mutating func passPullDeadlines() {
        for pull in pulls {
            guard let deadline = progressDeadline(of: pull), now >= deadline else { continue }
            if now < pull.progressAt + configuration.timing.wantProgress, !isTooSlow(pull) {
                if let number = pulls.firstIndex(of: pull) { pulls[number].pace = (now, 0) }
                continue
            }
            pulls.removeAll { $0 == pull }
            cancel(pull)
            counters.wantsReassigned += 1
            guard let index = sessionIndex(pull.connection) else { continue }
            recordLate(sessions[index].device, with: pull.replica.device)
            // Others first; this peer again after the same time.
            sessions[index].pullsPausedUntil = now + configuration.timing.wantProgress
            probe(index)
        }
    }

    mutating func cancel(_ pull: Pull) {
        guard let index = sessionIndex(pull.connection), sessions[index].state == .up else { return }
        send(index, .credit(Frame.Credit(wantID: pull.wantID, bytes: 0, cancel: true)))
    }

    mutating func abandonPulls(of connection: ConnectionID) {
        guard !configuration.faults.contains(.forgetLostWant) else { return }
        pulls.removeAll { $0.connection == connection }
    }
}
