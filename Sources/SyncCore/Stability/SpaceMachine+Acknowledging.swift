import SyncModel

// Saying what is durable here, and passing on what others say: rows are sent when they change, each member's at most
// once a minute, so a space at rest exchanges none. The first that covers a cut, or a return, goes at once.
extension SpaceMachine {
    // MARK: Our own

    /// The time at which our acknowledgement is due; nil while the last one says what we hold, or no session is up. Without a
    /// session our newest changes may not be sealed, and changes that may still be folded are not acknowledged.
    func acknowledgeDeadline(_ step: CoreStep) -> Tick? {
        guard !stability.isAcknowledging, !step.network.isKeyDoubted(at: step.now), !upPeers.isEmpty else { return nil }
        return stability.acknowledgeAt
    }

    mutating func planAcknowledgement(_ step: inout CoreStep) {
        // What we hold, the other holder of our key may not, and the others would forget for both.
        guard !stability.isAcknowledging, !step.network.isKeyDoubted(at: step.now), !forks.isTakingBack else { return }
        guard !isIncomplete else {
            stability.acknowledgeAt = nil
            return
        }
        let unspoken = unspoken
        let digest = unspoken.reduce(into: held.digest) { $0 -= $1.tip.digestTerm(of: $1.replica) }
        guard held.entries.count > unspoken.count,
            acknowledgements[configuration.own]?.newest.acknowledgement.digest != digest
        else {
            stability.acknowledgeAt = nil
            return
        }
        if stability.acknowledgeAt == nil {
            let next = stability.acknowledgedAt.map { $0 + configuration.timing.acknowledgeEvery } ?? step.now
            stability.acknowledgeAt = max(next, step.now + configuration.timing.acknowledgeAfter)
        }
        if hasUnacknowledgedCut {
            let next = stability.acknowledgedAt.map { $0 + configuration.timing.acknowledgeCutEvery } ?? step.now
            stability.acknowledgeAt = min(stability.acknowledgeAt ?? next, max(next, step.now))
        }
        guard let at = acknowledgeDeadline(step), step.now >= at else { return }
        // Logical: only its order matters, and it must lie above what we have said before, also before a restore.
        let before = max(held.greatestStamp, acknowledgements[configuration.own]?.newest.stamp ?? .zero)
        guard let stamp = Stamp.next(after: before, wallMilliseconds: 0) else { return }
        stability.isAcknowledging = true
        stability.acknowledgeAt = nil
        step.emit(
            .acknowledge(
                Acknowledgement(
                    device: configuration.own, stamp: stamp,
                    vector: held.vector(besides: unspoken.map(\.replica)), digest: digest)))
    }

    /// Cuts, and the facts that end them. A retired device writes its work again only once all have acknowledged the cut, so
    /// each is acknowledged at once, and once. The return is, too: where the device gets what it missed as state, it cannot
    /// check an acknowledgement that speaks of a moment before that. Of several facts that end a cut for its device one
    /// counts, the least: a member that admits the device again and again must not make all others acknowledge each time.
    private var urgentDots: [Dot] {
        let cuts = cuts
        guard !configuration.faults.contains(.acknowledgeReturnsLater) else { return cuts.cuts.map(\.dot) }
        return cuts.cuts.flatMap { cut in
            [cut.dot]
                + [cuts.returns.lazy.filter { $0.cut == cut.dot && $0.device == cut.fact.device }.map(\.addition).min()]
                .compactMap(\.self)
        }
    }

    /// True if an urgent dot is held that our newest acknowledgement does not cover.
    private var hasUnacknowledgedCut: Bool {
        let said = acknowledgements[configuration.own]?.newest.acknowledgement.vector ?? VersionVector()
        return urgentDots.contains { held.next(of: $0.replica) > $0.counter && !said.covers($0) }
    }

    /// True if the row is the first acknowledgement of its author that covers one of these dots.
    private func coversAnotherCut(_ row: AcknowledgementTable.Row) -> Bool {
        urgentDots.contains { dot in
            row.newest.acknowledgement.vector.covers(dot)
                && !(row.previous?.signed.acknowledgement.vector.covers(dot) ?? false)
        }
    }

    /// Our own entries, if this device is a reader: no peer takes what a reader writes, so none could count them.
    private var unspoken: [TipTable.Entry] {
        guard membership.signingKey(of: configuration.own) == nil else { return [] }
        return held.entries.filter { $0.replica.device == configuration.own }
    }

    /// Handles our acknowledgement, signed and durable.
    mutating func handleAcknowledged(_ signed: SignedAcknowledgement, _ step: inout CoreStep) {
        stability.isAcknowledging = false
        stability.acknowledgedAt = step.now
        guard acknowledgements.take(signed) else { return }
        // We hold what we acknowledge.
        acknowledgements.record(.counted, of: configuration.own)
        stability.isMoved = true
        passOn([configuration.own], besides: nil, &step)
    }

    mutating func handleAcknowledgeFailed(_ step: CoreStep) {
        stability.isAcknowledging = false
        stability.acknowledgeAt = step.now + configuration.timing.acknowledgeEvery
    }

    // MARK: Others'

    /// A peer's digest over its table: equal, and both know all the other has; else it is asked for what is newer.
    mutating func handleAcknowledgementsDigest(_ index: Int, _ digest: Sum256?, _ step: inout CoreStep) {
        guard peers[index].acknowledgements.isSpoken, let digest else { return }
        if digest == acknowledgements.digest {
            for row in acknowledgements.rows { peers[index].acknowledgements.known[row.device] = row.mark }
            peers[index].acknowledgements.pending = []
            return
        }
        requestAcknowledgements(index, &step)
    }

    /// Requests acknowledgements, at most once a minute: a difference of a moment is on its way.
    private mutating func requestAcknowledgements(_ index: Int, _ step: inout CoreStep) {
        if let last = peers[index].acknowledgements.requestedAt,
            step.now < last + configuration.timing.acknowledgeEvery
        {
            return
        }
        peers[index].acknowledgements.requestedAt = step.now
        let held = acknowledgements.rows.prefix(Limits.acknowledgementsPerFrame).map {
            Frame.AcknowledgementRequest.Held(device: $0.device, mark: $0.mark)
        }
        send(index, .acknowledgementRequest(Frame.AcknowledgementRequest(space: space, held: held)), &step)
    }

    mutating func handleAcknowledgementRequest(
        _ index: Int, _ request: Frame.AcknowledgementRequest, _ step: inout CoreStep
    ) {
        guard request.space == space, peers[index].acknowledgements.isSpoken else { return }
        peers[index].acknowledgements.known = [:]
        for row in request.held { peers[index].acknowledgements.known[row.device] = row.mark }
        peers[index].acknowledgements.pending = Set(acknowledgements.rows.map(\.device))
        sendAcknowledgements(index, &step)
    }

    mutating func handleAcknowledgements(_ index: Int, _ sent: Frame.Acknowledgements, _ step: inout CoreStep) {
        guard sent.space == space, peers[index].acknowledgements.isSpoken else { return }
        var taken: [SignedAcknowledgement] = []
        for row in sent.rows {
            // The author is not a member yet, as far as we know. The acknowledgement is asked for once it is.
            guard let member = membership[row.device] else { continue }
            let present = acknowledgements[row.device]
            guard let signed = row.joined(to: present?.newest) else {
                requestAcknowledgements(index, &step)
                continue
            }
            guard signed.acknowledgement.vector.entries.count <= Limits.contextEntries,
                signed.isValid(in: space, signingKey: member.fact.signingKey)
            else {
                step.counters.acknowledgementsRefused += 1
                continue
            }
            peers[index].acknowledgements.known[row.device] = signed.mark
            // Each is written down: a member that acknowledges without end would keep the store from everything else.
            guard acknowledging.mayTake(row.device, at: step.now), acknowledgements.take(signed) else { continue }
            acknowledging.take(row.device, at: step.now)
            taken.append(signed)
        }
        guard !taken.isEmpty else { return }
        stability.isMoved = true
        step.emit(.keep(taken))
        passOn(taken.map(\.device), besides: index, &step)
    }

    private mutating func passOn(_ devices: [DeviceID], besides source: Int?, _ step: inout CoreStep) {
        for index in upPeers where index != source && peers[index].acknowledgements.isSpoken {
            peers[index].acknowledgements.pending.formUnion(devices)
            sendAcknowledgements(index, &step)
        }
    }

    // MARK: Sending

    /// Sends what is news to the peer and may go now; the rest when its minute is over.
    mutating func sendAcknowledgements(_ index: Int, _ step: inout CoreStep) {
        var exchange = peers[index].acknowledgements
        exchange.dueAt = nil
        var rows: [AcknowledgementRow] = []
        for device in exchange.pending.sorted() {
            let known = exchange.known[device]
            guard let row = acknowledgements[device], row.mark.isNews(to: known) else {
                exchange.pending.remove(device)
                continue
            }
            if let next = exchange.sentAt[device].map({ $0 + configuration.timing.acknowledgeEvery }), step.now < next,
                !coversAnotherCut(row)
            {
                exchange.dueAt = min(exchange.dueAt ?? next, next)
                continue
            }
            let base = row.previous.flatMap { $0.mark == known ? $0.signed : nil }
            rows.append(AcknowledgementRow(row.newest, since: base))
            exchange.known[device] = row.mark
            exchange.sentAt[device] = step.now
            exchange.pending.remove(device)
        }
        peers[index].acknowledgements = exchange
        sendRows(rows, to: index, &step)
    }

    /// Sends rows in frames of at most about half the limit; a single row always fits one.
    private mutating func sendRows(_ rows: [AcknowledgementRow], to index: Int, _ step: inout CoreStep) {
        var open: [AcknowledgementRow] = []
        var bytes = 0
        for row in rows {
            let size = 256 + (row.entries.count + row.laterEnds.entries.count) * (ReplicaID.byteCount + 10)
            if !open.isEmpty, bytes + size > Limits.frameBytes / 2 || open.count == Limits.acknowledgementsPerFrame {
                send(index, .acknowledgements(Frame.Acknowledgements(space: space, rows: open)), &step)
                (open, bytes) = ([], 0)
            }
            open.append(row)
            bytes += size
        }
        if !open.isEmpty { send(index, .acknowledgements(Frame.Acknowledgements(space: space, rows: open)), &step) }
        step.counters.acknowledgementsSent += rows.count
    }

    mutating func passAcknowledgementDeadlines(_ step: inout CoreStep) {
        for index in upPeers {
            guard let due = peers[index].acknowledgements.dueAt, step.now >= due else { continue }
            sendAcknowledgements(index, &step)
        }
    }
}
