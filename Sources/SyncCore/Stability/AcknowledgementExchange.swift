import SyncModel

/// The exchange of acknowledgements with peers: which rows each peer has, and when it is sent others.
///
/// Rows are sent when they change, each member's at most once a minute, so a space at rest exchanges none. The first that
/// covers a cut, or a return, goes at once.
struct AcknowledgementExchange: Sendable {
    private struct Peer: Sendable {
        var isUp = false
        /// True if both sides understand acknowledgements. None are sent to other peers.
        var isSpoken = false
        /// The acknowledgements the peer has: it claimed them, or they were sent.
        var known: [DeviceID: AcknowledgementMark] = [:]
        var sentAt: [DeviceID: Tick] = [:]
        /// Members whose newest acknowledgement may be news to the peer.
        var pending: Set<DeviceID> = []
        /// The time at which the next pending row may be sent, if one has to wait.
        var dueAt: Tick?
        var requestedAt: Tick?
    }

    private let settings: CoreSettings
    private var peers = PerSession(initial: Peer())

    init(_ settings: CoreSettings) { self.settings = settings }

    mutating func open(_ id: ConnectionID) { peers.open(id) }
    mutating func close(_ id: ConnectionID) { peers.close(id) }

    /// - Parameter isSpoken: true if both sides understand acknowledgements.
    mutating func handleEstablished(_ id: ConnectionID, isSpoken: Bool) {
        (peers[id].isUp, peers[id].isSpoken) = (true, isSpoken)
    }

    mutating func handleSessionEnded(_ id: ConnectionID) { peers[id] = Peer() }

    /// True if no session is up.
    var isAlone: Bool { peers.values.allSatisfy { !$0.isUp } }

    func isSpoken(_ id: ConnectionID) -> Bool { peers[id].isSpoken }

    /// The time at which the next pending row may be sent; nil if none waits.
    var deadline: Tick? { peers.values.compactMap(\.dueAt).min() }

    // MARK: What peers have

    /// Records that the peer has all that is held here, and nothing else.
    mutating func recordEqual(_ table: AcknowledgementTable, with id: ConnectionID) {
        for row in table.rows { peers[id].known[row.device] = row.mark }
        peers[id].pending = []
    }

    mutating func recordKnown(_ mark: AcknowledgementMark, of device: DeviceID, by id: ConnectionID) {
        peers[id].known[device] = mark
    }

    /// Handles a peer's request for all that is newer than what it has.
    mutating func handleRequest(
        _ request: Frame.AcknowledgementRequest, from id: ConnectionID, _ table: AcknowledgementTable, _ log: SpaceLog,
        _ step: inout CoreStep
    ) {
        peers[id].known = [:]
        for row in request.held { peers[id].known[row.device] = row.mark }
        peers[id].pending = Set(table.rows.map(\.device))
        send(to: id, table, log, &step)
    }

    /// Requests acknowledgements, at most once a minute: a difference of a moment is on its way.
    mutating func request(
        from id: ConnectionID, _ table: AcknowledgementTable, _ log: SpaceLog, _ step: inout CoreStep
    ) {
        if let last = peers[id].requestedAt, step.now < last + settings.timing.acknowledgeEvery { return }
        peers[id].requestedAt = step.now
        let held = table.rows.prefix(Limits.acknowledgementsPerFrame).map {
            Frame.AcknowledgementRequest.Held(device: $0.device, mark: $0.mark)
        }
        step.send(id, .acknowledgementRequest(Frame.AcknowledgementRequest(space: log.space, held: held)))
    }

    // MARK: Sending

    /// Sends the rows of these members to every peer but the one that they came from.
    mutating func passOn(
        _ devices: [DeviceID], besides source: ConnectionID?, _ table: AcknowledgementTable, _ log: SpaceLog,
        _ step: inout CoreStep
    ) {
        for id in peers.ids where id != source && peers[id].isSpoken {
            peers[id].pending.formUnion(devices)
            send(to: id, table, log, &step)
        }
    }

    /// Sends the rows whose minute is over.
    mutating func sendDue(_ table: AcknowledgementTable, _ log: SpaceLog, _ step: inout CoreStep) {
        guard let first = deadline, step.now >= first else { return }
        for id in peers.ids {
            guard let due = peers[id].dueAt, step.now >= due else { continue }
            send(to: id, table, log, &step)
        }
    }

    /// Sends what is news to the peer and may go now; the rest when its minute is over.
    private mutating func send(
        to id: ConnectionID, _ table: AcknowledgementTable, _ log: SpaceLog, _ step: inout CoreStep
    ) {
        var peer = peers[id]
        peer.dueAt = nil
        var rows: [AcknowledgementRow] = []
        for device in peer.pending.sorted() {
            let known = peer.known[device]
            guard let row = table[device], row.mark.isNews(to: known) else {
                peer.pending.remove(device)
                continue
            }
            if let next = peer.sentAt[device].map({ $0 + settings.timing.acknowledgeEvery }), step.now < next,
                !isFirst(row, toCoverOneOf: urgentDots(log.cuts))
            {
                peer.dueAt = min(peer.dueAt ?? next, next)
                continue
            }
            let base = row.previous.flatMap { $0.mark == known ? $0.signed : nil }
            rows.append(AcknowledgementRow(row.newest, since: base))
            peer.known[device] = row.mark
            peer.sentAt[device] = step.now
            peer.pending.remove(device)
        }
        peers[id] = peer
        send(rows, to: id, log.space, &step)
    }

    /// Sends rows in frames of at most about half the limit; a single row always fits one.
    private func send(_ rows: [AcknowledgementRow], to id: ConnectionID, _ space: SpaceID, _ step: inout CoreStep) {
        var open: [AcknowledgementRow] = []
        var bytes = 0
        for row in rows {
            let size = 256 + (row.entries.count + row.laterEnds.entries.count) * (ReplicaID.byteCount + 10)
            if !open.isEmpty, bytes + size > Limits.frameBytes / 2 || open.count == Limits.acknowledgementsPerFrame {
                step.send(id, .acknowledgements(Frame.Acknowledgements(space: space, rows: open)))
                (open, bytes) = ([], 0)
            }
            open.append(row)
            bytes += size
        }
        if !open.isEmpty { step.send(id, .acknowledgements(Frame.Acknowledgements(space: space, rows: open))) }
        step.counters.acknowledgementsSent += rows.count
    }

    // MARK: What goes at once

    /// Returns the cuts, and the facts that end them. A retired device writes its work again only once all have acknowledged
    /// the cut, so each is acknowledged at once, and once. The return is, too: where the device gets what it missed as state,
    /// it cannot check an acknowledgement that speaks of a moment before that. Of several facts that end a cut for its device
    /// one counts, the least: a member that admits the device again and again must not make all others acknowledge each time.
    /// A person who revoked a device waits for the receipts: of each device one revocation is urgent.
    func urgentDots(_ cuts: CutTable) -> [Dot] {
        guard !settings.faults.contains(.acknowledgeReturnsLater) else { return cuts.cuts.map(\.dot) }
        let revocations = cuts.verdicts?.revocations.values.sorted() ?? []
        return revocations
            + cuts.cuts.flatMap { cut in
                [cut.dot]
                    + [
                        cuts.returns.lazy.filter { $0.cut == cut.dot && $0.device == cut.fact.device }.map(\.addition)
                            .min()
                    ]
                    .compactMap(\.self)
            }
    }

    /// True if the row is the first acknowledgement of its author that covers one of these dots.
    private func isFirst(_ row: AcknowledgementTable.Row, toCoverOneOf dots: [Dot]) -> Bool {
        dots.contains { dot in
            row.newest.acknowledgement.vector.covers(dot)
                && !(row.previous?.signed.acknowledgement.vector.covers(dot) ?? false)
        }
    }
}
