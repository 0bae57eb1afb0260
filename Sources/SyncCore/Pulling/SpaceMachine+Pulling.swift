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
extension SpaceMachine {
    private var outstandingBytes: Int { pulls.reduce(0) { $0 + max(0, $1.creditBytes) } }

    private func outstandingBytes(_ session: SpacePeer) -> Int {
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
    private func freeBytes(_ session: SpacePeer, for author: DeviceID) -> Int {
        min(freeBytes(for: author), shareBytes(session) - outstandingBytes(session))
    }

    /// Three quarters of the room are shared out among the peers that are asked for something, and one is kept for the next
    /// peer: one that claims much and sends nothing keeps its share, and not those of others.
    private func shareBytes(_ session: SpacePeer) -> Int {
        let others = Set(pulls.map(\.connection)).subtracting([session.id]).count
        return max(leastGrant, configuration.bounds.waitingRoomBytes / 4 * 3 / (others + 1))
    }

    /// The least grant worth a frame. A small room (tests have one) grants by halves of its window.
    private var leastGrant: Int { min(Limits.segmentBytes, configuration.bounds.wantWindowBytes / 2) }

    mutating func planPulls(_ step: inout CoreStep) {
        if let at = replicas.lookAt, step.now >= at { replicas.lookAt = nil }
        guard storeRetryAt == nil else { return }
        if pulls.isEmpty, intake == nil { askAboutMissedPushes(&step) }
        let sources = upPeers.filter { index in
            let session = peers[index]
            return session.peerTipsAreComplete && !step.isSuspected(session.id)
                && session.pullsPausedUntil.map { $0 <= step.now } ?? true
        }
        guard !sources.isEmpty else { return }
        let missing = missingReplicas()
        topUp(urgent: missing, &step)
        pullMissing(missing, from: sources, &step)
        for index in sources where peers[index].peerTips.digest != held.digest {
            pull(peers[index].claims.unfinished, of: index, from: sources, &step)
            pull(peers[index].claims.unknown, of: index, from: sources, &step)
        }
    }

    /// Pulls missing dependencies, which come first. A change may name thousands that no device has: one step looks at some,
    /// and the next goes on.
    private mutating func pullMissing(_ missing: [WaitingRoom.Missing], from sources: [Int], _ step: inout CoreStep) {
        let count = min(missing.count, configuration.bounds.missingPerStep)
        for number in 0..<count {
            let next = missing[(replicas.missingOffset + number) % missing.count]
            pull(next.replica, from: sources, isUrgent: true, isNamed: next.isNamedByOthers, &step)
        }
        replicas.missingOffset = missing.count > count ? (replicas.missingOffset + count) % missing.count : 0
        if !replicas.reported.isEmpty {
            for replica in acknowledgedElsewhere { pull(replica, from: sources, isUrgent: false, isNamed: true, &step) }
        }
    }

    /// Pulls what one peer claims, in the order of the replicas, as long as more can be asked of it: the same plan for the
    /// same state.
    private mutating func pull(_ claimed: SortedReplicas, of index: Int, from sources: [Int], _ step: inout CoreStep) {
        var position = 0
        while position < claimed.elements.count, hasFreeWant(peers[index]), hasFreeShare(peers[index]) {
            let replica = claimed.elements[position]
            step.counters.claimsVisited += 1
            if freeBytes(peers[index], for: replica.device) < leastGrant {
                position = claimed.index(behind: replica.device)
            } else if mayBegin(replica, isNamed: false, step) {
                pull(replica, from: sources, isUrgent: false, isNamed: false, &step)
                position += 1
            } else {
                recordRefusedReplica(replica.device, &step)
                position = claimed.index(behind: replica.device)
            }
        }
    }

    private func hasFreeWant(_ session: SpacePeer) -> Bool {
        pulls.count { $0.connection == session.id } < configuration.bounds.wantsPerSession
    }

    /// True if more may be asked of the peer, for an author of which nothing waits.
    private func hasFreeShare(_ session: SpacePeer) -> Bool {
        min(unclaimedBytes, shareBytes(session) - outstandingBytes(session)) >= leastGrant
    }

    private func isWalk(_ pull: Pull) -> Bool { forks.inquiry?.stage == .walking(wantID: pull.wantID) }

    private mutating func askAboutMissedPushes(_ step: inout CoreStep) {
        for index in upPeers where peers[index].missedPush {
            peers[index].missedPush = false
            requestHave(index, &step)
        }
    }

    /// - Parameter isNamed: true if the work of another device than the replica's builds on it.
    private mutating func pull(
        _ replica: ReplicaID, from sources: [Int], isUrgent: Bool, isNamed: Bool, _ step: inout CoreStep
    ) {
        guard !pulls.contains(where: { $0.replica == replica && !isWalk($0) }), !forked.contains(replica),
            !isBeingTakenBack(replica), !isAwaited(replica), isUrgent || !hasGivenWay(replica),
            !sealer.isSealing || replica.device != configuration.own,
            membership.signingKey(of: replica.device) != nil
        else { return }
        let from = frontier(of: replica).next
        guard !comesAsState(replica, from: from), from > 0 || mayBegin(replica, isNamed: isNamed, step) else { return }
        let candidates = sources.filter { index in
            peers[index].peerTips.next(of: replica) > from && hasChanges(index, of: replica, from: from)
                && peers[index].forks.suspects[replica] == nil && !isDisputed(replica, peers[index])
                && !(replica.device == peers[index].device && mayTakeItsOwnBack(peers[index], step))
                && (isUrgent || !(peers[index].peerTips[replica].map { isGivingWay($0, replica) } ?? false))
                && hasFreeWant(peers[index])
        }
        // A peer that kept changes of this author back is asked last.
        func rank(_ index: Int) -> (Int, Int) {
            (isLate(peers[index].device, of: replica, step) ? 1 : 0, outstandingBytes(peers[index]))
        }
        guard let index = candidates.min(by: { rank($0) < rank($1) }) else { return }
        var credit = min(configuration.bounds.wantWindowBytes, freeBytes(peers[index], for: replica.device))
        if credit < leastGrant {
            // The first missing dependency may always be asked for: the room is full of what waits for it. One change for each
            // round trip would take long.
            guard isUrgent else { return }
            credit = outstandingBytes < leastGrant ? leastGrant : 1
        }
        peers[index].pruned.removeAll { $0 == replica }
        _ = ask(
            index, for: replica, from: from, to: peers[index].peerTips.next(of: replica), creditBytes: credit, &step)
    }

    /// - Returns: the id of the want.
    mutating func ask(
        _ index: Int, for replica: ReplicaID, from: UInt64, to: UInt64, creditBytes credit: Int, _ step: inout CoreStep
    ) -> UInt64 {
        let pull = Pull(
            wantID: step.nextID(), connection: peers[index].id, replica: replica, from: from, to: to,
            creditBytes: credit, progressAt: step.now, pace: (step.now, 0))
        pulls.append(pull)
        step.counters.wantsSent += 1
        send(
            index,
            .want(
                Frame.Want(
                    id: pull.wantID, space: space, replica: replica, from: from, to: pull.to,
                    creditBytes: UInt64(credit))), &step)
        probe(index, &step)
        return pull.wantID
    }

    /// Grants more credit once half of the window is used and there is room. A replica that others wait for gets another
    /// segment even when the room is full of those others: otherwise nothing would ever move again.
    private mutating func topUp(urgent: [WaitingRoom.Missing], _ step: inout CoreStep) {
        for number in pulls.indices {
            let window = configuration.bounds.wantWindowBytes
            let isEmptyHanded = pulls[number].creditBytes <= 0
            let isStarved =
                isEmptyHanded
                && (room.isEmpty && persisting == nil || urgent.contains { $0.replica == pulls[number].replica })
            guard pulls[number].creditBytes < window / 2, let index = peerIndex(pulls[number].connection) else {
                continue
            }
            let grant = max(
                min(window - pulls[number].creditBytes, freeBytes(peers[index], for: pulls[number].replica.device)),
                isStarved ? 1 - pulls[number].creditBytes : 0)
            guard grant >= leastGrant || isStarved else { continue }
            if pulls[number].creditBytes <= 0 {
                pulls[number].progressAt = step.now
                pulls[number].pace = (step.now, 0)
            }
            pulls[number].creditBytes += grant
            send(
                index,
                .credit(Frame.Credit(wantID: pulls[number].wantID, bytes: UInt64(grant), cancel: false)), &step)
        }
    }

    mutating func recordPullProgress(_ connection: ConnectionID, _ wantID: UInt64, bytes: Int, _ step: CoreStep) {
        guard wantID != 0,
            let number = pulls.firstIndex(where: { $0.connection == connection && $0.wantID == wantID })
        else { return }
        pulls[number].creditBytes -= bytes
        pulls[number].pace.bytes += bytes
        if bytes > 0 { pulls[number].progressAt = step.now }
    }

    mutating func endPull(_ connection: ConnectionID, _ wantID: UInt64, _ step: CoreStep) {
        guard wantID != 0,
            let number = pulls.firstIndex(where: { $0.connection == connection && $0.wantID == wantID })
        else { return }
        let pull = pulls.remove(at: number)
        if forks.inquiry?.stage == .walking(wantID: wantID) {
            forks.inquiry?.stage = .cutShort
            return
        }
        guard let index = peerIndex(connection) else { return }
        guard frontier(of: pull.replica).next < pull.to else {
            late[Supply(peer: peers[index].device, author: pull.replica.device)] = nil
            return
        }
        // Another peer may have what this one does not have as changes.
        if !hasChanges(index, of: pull.replica, from: frontier(of: pull.replica).next) { return }
        if frontier(of: pull.replica).next == pull.from { recordStall(index, pull.replica) }
        // The peer ended a want that it said it could fill. A pause, so that empty answers cannot make us spin.
        peers[index].pullsPausedUntil = step.now + configuration.timing.emptyAnswerPause
        recordLate(peers[index].device, with: pull.replica.device, step)
    }

    func progressDeadline(of pull: Pull) -> Tick? {
        guard pull.creditBytes > 0 else { return nil }
        return min(
            pull.progressAt + configuration.timing.wantProgress, pull.pace.since + configuration.timing.wantPace)
    }

    /// True if the device did not fill the last want of this author's changes, or of its own, or was too slow with a state.
    private func isLate(_ device: DeviceID, of replica: ReplicaID, _ step: CoreStep) -> Bool {
        isLate(Supply(peer: device, author: replica.device), step) || isLate(Supply(peer: device, author: device), step)
    }

    func isLate(_ supply: Supply, _ step: CoreStep) -> Bool { late[supply].map { step.now < $0 } ?? false }

    mutating func recordLate(_ peer: DeviceID, with author: DeviceID, _ step: CoreStep) {
        late[Supply(peer: peer, author: author)] = step.now + configuration.timing.lateFor
    }

    /// True if the peer sends so little that another one should be asked, and there is one that was not late.
    private func isTooSlow(_ pull: Pull, _ step: CoreStep) -> Bool {
        let least = min(configuration.bounds.leastBytesPerPace, configuration.bounds.wantWindowBytes)
        guard pull.pace.bytes < least, !isWalk(pull) else { return false }
        let from = frontier(of: pull.replica).next
        return upPeers.contains { index in
            peers[index].id != pull.connection && peers[index].peerTips.next(of: pull.replica) > from
                && hasChanges(index, of: pull.replica, from: from) && !step.isSuspected(peers[index].id)
                && !isLate(peers[index].device, of: pull.replica, step)
        }
    }

    /// A want without a byte of progress goes to another peer.
    mutating func passPullDeadlines(_ step: inout CoreStep) {
        for pull in pulls {
            guard let deadline = progressDeadline(of: pull), step.now >= deadline else { continue }
            if step.now < pull.progressAt + configuration.timing.wantProgress, !isTooSlow(pull, step) {
                if let number = pulls.firstIndex(of: pull) { pulls[number].pace = (step.now, 0) }
                continue
            }
            pulls.removeAll { $0 == pull }
            cancel(pull, &step)
            step.counters.wantsReassigned += 1
            guard let index = peerIndex(pull.connection) else { continue }
            recordLate(peers[index].device, with: pull.replica.device, step)
            // Others first; this peer again after the same time.
            peers[index].pullsPausedUntil = step.now + configuration.timing.wantProgress
            probe(index, &step)
        }
    }

    mutating func cancel(_ pull: Pull, _ step: inout CoreStep) {
        guard let index = peerIndex(pull.connection), peers[index].isUp else { return }
        send(index, .credit(Frame.Credit(wantID: pull.wantID, bytes: 0, cancel: true)), &step)
    }

    mutating func abandonPulls(of connection: ConnectionID) {
        guard !configuration.faults.contains(.forgetLostWant) else { return }
        pulls.removeAll { $0.connection == connection }
    }
}
