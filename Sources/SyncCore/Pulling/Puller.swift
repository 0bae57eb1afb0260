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

/// The wants under way, the credit each has, and the peers that are asked last or not at all for a while.
///
/// Bounds: `wantsPerSession` wants a peer, apart from a walk; outstanding credit within the free part of the waiting room.
struct Puller: Sendable {
    private struct Asked: Sendable {
        /// The time until which nothing is asked of the peer, since it ended a want early or let one starve.
        var pausedUntil: Tick?
        /// A push was dropped that nothing will announce again: the peer is asked what it holds once the pulls have ended.
        var hasMissedPush = false
    }

    private let space: SpaceID
    private let settings: CoreSettings
    private var pulls: [Pull] = []
    /// Peers that did not fill the last want of an author's changes, until when they are asked last for more of it. At most one
    /// entry for each two members.
    private var late: [Supply: Tick] = [:]
    private var asked = PerSession(initial: Asked())

    init(_ settings: CoreSettings, space: SpaceID) {
        self.space = space
        self.settings = settings
    }

    mutating func open(_ id: ConnectionID) { asked.open(id) }
    mutating func close(_ id: ConnectionID) { asked.close(id) }

    /// Takes over what does not depend on the log from the machine before, after the store reverted a history.
    mutating func continueSessions(of old: Puller) { asked = old.asked }

    /// Ends the wants of a connection whose session ended.
    mutating func handleSessionEnded(_ id: ConnectionID) {
        asked[id].pausedUntil = nil
        guard !settings.faults.contains(.forgetLostWant) else { return }
        pulls.removeAll { $0.connection == id }
    }

    // MARK: Wants under way

    var isEmpty: Bool { pulls.isEmpty }
    var count: Int { pulls.count }
    /// The wants under way, in the order they were asked.
    var wants: [Pull] { pulls }

    func contains(wantID: UInt64) -> Bool { pulls.contains { $0.wantID == wantID } }

    func contains(_ replica: ReplicaID) -> Bool { pulls.contains { $0.replica == replica } }

    func contains(wantID: UInt64, on id: ConnectionID) -> Bool {
        pulls.contains { $0.connection == id && $0.wantID == wantID }
    }

    func hasFreeWant(_ id: ConnectionID) -> Bool {
        pulls.count { $0.connection == id } < settings.bounds.wantsPerSession
    }

    /// Asks a peer for changes.
    ///
    /// - Returns: the id of the want.
    mutating func ask(
        _ id: ConnectionID, for replica: ReplicaID, from: UInt64, to: UInt64, creditBytes credit: Int,
        _ step: inout CoreStep
    ) -> UInt64 {
        let pull = Pull(
            wantID: step.nextID(), connection: id, replica: replica, from: from, to: to, creditBytes: credit,
            progressAt: step.now, pace: (step.now, 0))
        pulls.append(pull)
        step.counters.wantsSent += 1
        let want = Frame.Want(
            id: pull.wantID, space: space, replica: replica, from: from, to: to, creditBytes: UInt64(credit))
        step.send(id, .want(want))
        step.probe(id)
        return pull.wantID
    }

    mutating func recordProgress(_ id: ConnectionID, _ wantID: UInt64, bytes: Int, at now: Tick) {
        guard let number = index(wantID, on: id) else { return }
        pulls[number].creditBytes -= bytes
        pulls[number].pace.bytes += bytes
        if bytes > 0 { pulls[number].progressAt = now }
    }

    /// Ends a want that its peer ended; nil if there is no such want.
    mutating func end(_ id: ConnectionID, _ wantID: UInt64) -> Pull? {
        index(wantID, on: id).map { pulls.remove(at: $0) }
    }

    private func index(_ wantID: UInt64, on id: ConnectionID) -> Int? {
        guard wantID != 0 else { return nil }
        return pulls.firstIndex { $0.connection == id && $0.wantID == wantID }
    }

    /// Ends wants, and tells the peers.
    mutating func cancel(_ step: inout CoreStep, where isObsolete: (Pull) -> Bool) {
        for pull in pulls where isObsolete(pull) {
            pulls.removeAll { $0 == pull }
            if step.network.isUp(pull.connection) {
                step.send(pull.connection, .credit(Frame.Credit(wantID: pull.wantID, bytes: 0, cancel: true)))
            }
        }
    }

    // MARK: Credit

    var outstandingBytes: Int { pulls.reduce(0) { $0 + max(0, $1.creditBytes) } }

    func outstandingBytes(of id: ConnectionID) -> Int {
        pulls.reduce(0) { $0 + ($1.connection == id ? max(0, $1.creditBytes) : 0) }
    }

    /// The least grant worth a frame. A small room (tests have one) grants by halves of its window.
    var leastGrant: Int { min(Limits.segmentBytes, settings.bounds.wantWindowBytes / 2) }

    /// The bytes that may still be asked for of what a device wrote. Outstanding bytes never exceed the free part of the
    /// waiting room, of which waiting changes of another device take half at most. So the room may hold half as much again.
    func freeBytes(for author: DeviceID, _ receiver: ChangeReceiver) -> Int {
        unclaimedBytes(receiver) - receiver.occupiedBytes(for: author, atMost: settings.bounds.waitingRoomBytes / 2)
    }

    /// The same where nothing waits.
    private func unclaimedBytes(_ receiver: ChangeReceiver) -> Int {
        settings.bounds.waitingRoomBytes - receiver.persistingBytes - outstandingBytes
    }

    /// The bytes that may still be asked of one peer of what a device wrote: at most the peer's share.
    func freeBytes(_ id: ConnectionID, for author: DeviceID, _ receiver: ChangeReceiver) -> Int {
        min(freeBytes(for: author, receiver), shareBytes(id) - outstandingBytes(of: id))
    }

    /// Three quarters of the room are shared out among the peers that are asked for something, and one is kept for the next
    /// peer: one that claims much and sends nothing keeps its share, and not those of others.
    private func shareBytes(_ id: ConnectionID) -> Int {
        let others = Set(pulls.map(\.connection)).subtracting([id]).count
        return max(leastGrant, settings.bounds.waitingRoomBytes / 4 * 3 / (others + 1))
    }

    /// True if more may be asked of the peer, for an author of which nothing waits.
    func hasFreeShare(_ id: ConnectionID, _ receiver: ChangeReceiver) -> Bool {
        min(unclaimedBytes(receiver), shareBytes(id) - outstandingBytes(of: id)) >= leastGrant
    }

    /// Grants more credit once half of the window is used and there is room. A replica that others wait for gets another
    /// segment even when the room is full of those others: otherwise nothing would ever move again.
    mutating func topUp(urgent: [WaitingRoom.Missing], _ receiver: ChangeReceiver, _ step: inout CoreStep) {
        for number in pulls.indices {
            let pull = pulls[number]
            let window = settings.bounds.wantWindowBytes
            let isStarved =
                pull.creditBytes <= 0
                && (receiver.isEmpty || urgent.contains { $0.replica == pull.replica })
            guard pull.creditBytes < window / 2, step.network.session(pull.connection) != nil else { continue }
            let free = freeBytes(pull.connection, for: pull.replica.device, receiver)
            let grant = max(min(window - pull.creditBytes, free), isStarved ? 1 - pull.creditBytes : 0)
            guard grant >= leastGrant || isStarved else { continue }
            if pull.creditBytes <= 0 {
                pulls[number].progressAt = step.now
                pulls[number].pace = (step.now, 0)
            }
            pulls[number].creditBytes += grant
            let credit = Frame.Credit(wantID: pull.wantID, bytes: UInt64(grant), cancel: false)
            step.send(pull.connection, .credit(credit))
        }
    }

    // MARK: Deadlines

    /// The time of the next look at wants and at peers that are not asked for now.
    func deadline(at now: Tick) -> Tick? {
        let pauses = asked.values.compactMap(\.pausedUntil).filter { $0 > now }
        return (pulls.compactMap { progressDeadline(of: $0) } + pauses).min()
    }

    private func progressDeadline(of pull: Pull) -> Tick? {
        guard pull.creditBytes > 0 else { return nil }
        return min(pull.progressAt + settings.timing.wantProgress, pull.pace.since + settings.timing.wantPace)
    }

    /// The wants without a byte of progress, or with too little of it.
    func overdue(at now: Tick) -> [Pull] {
        pulls.filter { pull in progressDeadline(of: pull).map { now >= $0 } ?? false }
    }

    func isWithoutProgress(_ pull: Pull, at now: Tick) -> Bool { now >= pull.progressAt + settings.timing.wantProgress }

    /// True if the peer sends less than a want is worth keeping for.
    func isBelowPace(_ pull: Pull) -> Bool {
        pull.pace.bytes < min(settings.bounds.leastBytesPerPace, settings.bounds.wantWindowBytes)
    }

    /// Begins to measure the pace of a want anew.
    mutating func restartPace(of pull: Pull, at now: Tick) {
        if let number = pulls.firstIndex(of: pull) { pulls[number].pace = (now, 0) }
    }

    // MARK: Peers that are asked last

    func isPaused(_ id: ConnectionID, at now: Tick) -> Bool { asked[id].pausedUntil.map { $0 > now } ?? false }

    mutating func pause(_ id: ConnectionID, until time: Tick) { asked[id].pausedUntil = time }

    /// True if the device did not fill the last want of this author's changes, or of its own, or was too slow with a state.
    func isLate(_ device: DeviceID, of replica: ReplicaID, at now: Tick) -> Bool {
        isLate(Supply(peer: device, author: replica.device), at: now)
            || isLate(Supply(peer: device, author: device), at: now)
    }

    func isLate(_ supply: Supply, at now: Tick) -> Bool { late[supply].map { now < $0 } ?? false }

    mutating func recordLate(_ supply: Supply, at now: Tick) { late[supply] = now + settings.timing.lateFor }

    mutating func recordPrompt(_ supply: Supply) { late[supply] = nil }

    mutating func recordMissedPush(of id: ConnectionID) { asked[id].hasMissedPush = true }

    /// Returns true if a push of the peer was dropped since the last call.
    mutating func takeMissedPush(of id: ConnectionID) -> Bool {
        guard asked[id].hasMissedPush else { return false }
        asked[id].hasMissedPush = false
        return true
    }
}
