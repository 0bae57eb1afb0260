import SyncModel

/// The presence of each member: the newest record of it, which of them live, and which a peer has.
///
/// A record is passed on when it is taken, and shown for `presenceLifetime` from then on. Then it stays here so that no
/// earlier one takes its place. Nothing is stored. Presence is sent last, and only while little waits to be written to a
/// peer: it never delays changes, and the next record of a device repairs what was left out.
///
/// Bounds: one record a member, of at most `presencesKept` members, at most `Limits.presenceRecordBytes` each; one mark a
/// member and session.
struct PresenceMachine: Sendable {
    private struct Peer: Sendable {
        var device: DeviceID?
        /// True if both sides know presence. No other peer is sent any.
        var isSpoken = false
        /// The newest record of each device that the peer is known to have.
        var known: [DeviceID: PresenceMark] = [:]
        /// Devices of which the peer passed on an earlier run: it is sent the later one, be it expired or the peer's own.
        var owed: Set<DeviceID> = []
        /// True if the peer may lack a record.
        var isBehind = false
    }

    private struct Row: Sendable {
        let signed: SignedPresence
        let takenAt: Tick
        var isAlive = true

        /// True if the row says that something is present.
        var isShown: Bool { isAlive && !signed.record.entries.isEmpty }
    }

    private let settings: CoreSettings
    private let space: SpaceID
    private var rows: [DeviceID: Row] = [:]
    private var peers = PerSession(initial: Peer())
    /// Budgets of records taken from each author, and of signatures checked for each peer.
    private var authors: DeviceBudgets
    private var senders: DeviceBudgets
    /// True if the shell has not been told what is shown.
    private var isMoved = false

    init(_ settings: CoreSettings, space: SpaceID) {
        self.settings = settings
        self.space = space
        let (bounds, timing) = (settings.bounds, settings.timing)
        authors = DeviceBudgets(atOnce: bounds.presencesAtOnce, every: timing.presenceEvery)
        senders = DeviceBudgets(atOnce: bounds.presencesAtOncePerPeer, every: timing.presenceEveryPerPeer)
    }

    mutating func open(_ id: ConnectionID) { peers.open(id) }
    mutating func close(_ id: ConnectionID) { peers.close(id) }

    /// - Parameter isSpoken: true if both sides know presence.
    mutating func handleEstablished(_ id: ConnectionID, with device: DeviceID, isSpoken: Bool) {
        peers[id] = Peer(device: device, isSpoken: isSpoken, isBehind: isSpoken)
    }

    mutating func handleSessionEnded(_ id: ConnectionID) { peers[id] = Peer() }

    /// The bytes of all records that are kept.
    var byteCount: Int { rows.values.reduce(0) { $0 + $1.signed.byteCount } }

    // MARK: Records

    /// Takes this device's own presence.
    mutating func handleOwn(_ signed: SignedPresence, at now: Tick) {
        precondition(signed.device == settings.own && signed.record.isValid, "own presence of \(signed.device)")
        take(signed, at: now)
    }

    mutating func handle(_ sent: Frame.Presence, from id: ConnectionID, _ log: SpaceLog, _ step: inout CoreStep) {
        guard sent.space == space, peers[id].isSpoken, let peer = peers[id].device else { return }
        for signed in sent.records { handle(signed, from: id, peer, log, &step) }
    }

    private mutating func handle(
        _ signed: SignedPresence, from id: ConnectionID, _ peer: DeviceID, _ log: SpaceLog, _ step: inout CoreStep
    ) {
        let (device, mark) = (signed.device, signed.mark)
        guard let key = signingKey(of: device, log, step) else { return }
        if device == settings.own {
            // Of an earlier run of ours, or of one under a clock that was ahead: peers take only what comes behind it.
            guard let row = rows[device], mark.run > row.signed.mark.run, isSigned(signed, key, peer, &step) else {
                return
            }
            return step.emit(.renewPresence(beyond: mark.run))
        }
        if let row = rows[device], mark <= row.signed.mark {
            return handleKnown(mark, newest: row.signed.mark, of: device, from: id)
        }
        // Before the signature, so that a member that floods costs little.
        guard authors.mayTake(device, at: step.now) else {
            step.counters.presencesDropped += 1
            return
        }
        guard isSigned(signed, key, peer, &step) else { return }
        guard rows[device] != nil || makeRoom() else {
            step.counters.presencesDropped += 1
            return
        }
        authors.take(device, at: step.now)
        peers[id].known[device] = mark
        peers[id].owed.remove(device)
        step.counters.presencesReceived += 1
        take(signed, at: step.now)
    }

    /// Handles a record that is no news. A device that starts under a clock that was put back would not be shown again: it is
    /// told of its later run, by way of the peers that pass its records on.
    private mutating func handleKnown(
        _ mark: PresenceMark, newest: PresenceMark, of device: DeviceID, from id: ConnectionID
    ) {
        if mark == newest {
            peers[id].known[device] = mark
        } else if mark.run < newest.run, peers[id].known[device] == nil {
            peers[id].known[device] = mark
            peers[id].owed.insert(device)
            peers[id].isBehind = true
        }
    }

    private mutating func isSigned(
        _ signed: SignedPresence, _ key: [UInt8], _ peer: DeviceID, _ step: inout CoreStep
    ) -> Bool {
        guard senders.mayTake(peer, at: step.now) else {
            step.counters.presencesDropped += 1
            return false
        }
        senders.take(peer, at: step.now)
        guard signed.isSigned(in: space, signingKey: key) else {
            step.counters.presencesRefused += 1
            return false
        }
        return true
    }

    /// Makes room for the record of one more device: of those that ended, the one taken first goes.
    ///
    /// - Returns: false if all that are kept live.
    private mutating func makeRoom() -> Bool {
        guard rows.count >= settings.bounds.presencesKept else { return true }
        let ended = rows.filter { !$0.value.isAlive && $0.key != settings.own }
        let first = ended.min { ($0.value.takenAt, $0.key) < ($1.value.takenAt, $1.key) }
        guard let first else { return false }
        rows[first.key] = nil
        return true
    }

    private mutating func take(_ signed: SignedPresence, at now: Tick) {
        let (before, row) = (rows[signed.device], Row(signed: signed, takenAt: now))
        rows[signed.device] = row
        let shown = before.map { $0.isShown ? $0.signed.record.entries : [] } ?? []
        if signed.device != settings.own, signed.record.entries != shown { isMoved = true }
        for id in peers.ids where peers[id].isSpoken {
            peers[id].isBehind = true
            guard peers[id].device == signed.device, let known = peers[id].known[signed.device] else { continue }
            if known.run < signed.mark.run { peers[id].owed.insert(signed.device) }
        }
    }

    /// Returns the key of a member whose presence is taken; nil for a stranger, a retired and a blocked device.
    private func signingKey(of device: DeviceID, _ log: SpaceLog, _ step: CoreStep) -> [UInt8]? {
        guard let member = log.membership[device], !log.cuts.isAway(device), !step.network.isBlocked(device) else {
            return nil
        }
        return member.fact.signingKey
    }

    // MARK: Planning

    /// The time at which the next record has lived its time.
    var deadline: Tick? {
        rows.values.lazy.filter(\.isAlive).map { $0.takenAt + settings.timing.presenceLifetime }.min()
    }

    mutating func passDeadline(at now: Tick) {
        guard let first = deadline, now >= first else { return }
        for (device, row) in rows where row.isAlive && now >= row.takenAt + settings.timing.presenceLifetime {
            end(device)
        }
    }

    private mutating func end(_ device: DeviceID) {
        if device != settings.own, rows[device]?.isShown ?? false { isMoved = true }
        rows[device]?.isAlive = false
    }

    mutating func plan(_ log: SpaceLog, _ step: inout CoreStep) {
        guard !rows.isEmpty else { return }
        for (device, row) in rows where row.isAlive && signingKey(of: device, log, step) == nil { end(device) }
        for id in peers.ids where peers[id].isBehind && hasRoom(id, step) { send(to: id, &step) }
        guard isMoved else { return }
        isMoved = false
        let shown = rows.filter { $0.key != settings.own && $0.value.isShown }.sorted { $0.key < $1.key }
        step.emit(.presence(shown.map(\.value.signed.record)))
    }

    private func hasRoom(_ id: ConnectionID, _ step: CoreStep) -> Bool {
        step.bufferedBytes(id) < settings.bounds.presenceBufferBytes
    }

    /// Sends what the peer lacks, as far as little waits to be written to it; the rest after a later write.
    private mutating func send(to id: ConnectionID, _ step: inout CoreStep) {
        let lacking = rows.filter { isLacked($0.value, by: peers[id], at: step.now) }.sorted { $0.key < $1.key }
        var rest = lacking.map(\.value.signed)[...]
        while !rest.isEmpty {
            guard hasRoom(id, step) else { return }
            var bytes = 0
            let records = Array(
                rest.prefix(Limits.presencesPerFrame).prefix { signed in
                    defer { bytes += signed.byteCount }
                    return bytes < settings.bounds.presenceFrameBytes
                })
            rest = rest.dropFirst(records.count)
            let count = records.reduce(0) { $0 + $1.byteCount }
            step.send(id, .presence(Frame.Presence(space: space, records: records)), bufferedBytes: count)
            step.counters.presencesSent += records.count
            for signed in records {
                peers[id].known[signed.device] = signed.mark
                peers[id].owed.remove(signed.device)
            }
        }
        peers[id].isBehind = false
    }

    /// True if the row is to be sent to the peer. Values of others are passed on in the step that takes them, or not at all: the
    /// next record comes within seconds if their device lives, and of one that is lost, each member that hears of it late
    /// would show it for a whole lifetime.
    private func isLacked(_ row: Row, by peer: Peer, at now: Tick) -> Bool {
        let device = row.signed.device
        if peer.owed.contains(device) { return true }
        guard row.isAlive, device != peer.device else { return false }
        guard device == settings.own || !row.isShown || row.takenAt == now else { return false }
        return peer.known[device].map { $0 < row.signed.mark } ?? true
    }
}
