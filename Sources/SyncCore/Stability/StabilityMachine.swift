import SyncModel

/// The holdings of every member: which acknowledgements count, the vector that is therefore stable, and when this device says what
/// it holds itself.
struct StabilityMachine: Sendable {
    let settings: CoreSettings
    /// The acknowledgements of the members.
    private var table = AcknowledgementTable()
    private var exchange: AcknowledgementExchange
    /// Budgets of acknowledgements taken from each member.
    private var budgets: DeviceBudgets

    /// The time at which our own acknowledgement is due; nil while the last one says what we hold.
    private var acknowledgeAt: Tick?
    private var acknowledgedAt: Tick?
    /// True while the store signs an acknowledgement of ours.
    private(set) var isAcknowledging = false

    /// True if something came that may make an acknowledgement count, or another vector stable.
    private var isMoved = true
    /// The digest of what was held when stability was last computed.
    private var lookedAt: Sum256?
    /// The vector that a counted acknowledgement of every member covers: every operation still to come knows all of it.
    private(set) var stable = VersionVector()

    /// - Parameter acknowledgements: the newest of each member, as stored.
    init(_ settings: CoreSettings, acknowledgements: [SignedAcknowledgement]) {
        self.settings = settings
        exchange = AcknowledgementExchange(settings)
        budgets = DeviceBudgets(
            atOnce: settings.bounds.acknowledgementsAtOnce, every: settings.timing.acknowledgementEvery)
        for signed in acknowledgements { _ = table.take(signed) }
    }

    mutating func open(_ id: ConnectionID) { exchange.open(id) }
    mutating func close(_ id: ConnectionID) { exchange.close(id) }
    mutating func handleEstablished(_ id: ConnectionID, isSpoken: Bool) {
        exchange.handleEstablished(id, isSpoken: isSpoken)
    }
    mutating func handleSessionEnded(_ id: ConnectionID) { exchange.handleSessionEnded(id) }

    // MARK: What members acknowledged

    /// Returns the vector of the member's newest acknowledgement that counts here; nil while none does.
    func counted(of device: DeviceID) -> VersionVector? { table[device]?.counted }

    /// The digest over the acknowledgements held, for this peer; nil if it does not know them.
    func digest(for id: ConnectionID) -> Sum256? { exchange.isSpoken(id) ? table.digest : nil }

    /// The replicas that members' acknowledgements wait for, the next of each.
    var awaitedReplicas: [ReplicaID] {
        table.rows.compactMap { row in
            guard case .waiting(let entry?) = row.check, entry.replica.device != row.device else { return nil }
            return entry.replica
        }
    }

    /// The join of what other members' newest acknowledgements cover, whether they count or not.
    var acknowledgedByOthers: VersionVector {
        var joined = VersionVector()
        for row in table.rows where row.device != settings.own {
            joined.join(row.newest.acknowledgement.vector)
        }
        return joined
    }

    /// True if the member's newest acknowledgement covers more of the replica than up to there, or other histories than those here.
    func isBeyond(_ counter: UInt64, _ device: DeviceID, of replica: ReplicaID) -> Bool {
        guard let row = table[device] else { return false }
        return row.check == .refuted || row.newest.acknowledgement.vector.next(of: replica) > counter
    }

    // MARK: Planning

    /// Records that the members, or the devices they wait for, have changed.
    mutating func recordMembersChanged() { isMoved = true }

    /// The time at which a row or our own acknowledgement is due.
    func deadline(isTakingBack: Bool, _ step: CoreStep) -> Tick? {
        [exchange.deadline, isTakingBack ? nil : acknowledgeDeadline(step)].compactMap(\.self).min()
    }

    mutating func plan(_ log: SpaceLog, isTakingBack: Bool, _ step: inout CoreStep) {
        exchange.sendDue(table, log, &step)
        // Work that is being taken back is not acknowledged.
        if !isTakingBack { planAcknowledgement(log, &step) }
        guard isMoved || lookedAt != log.held.digest else { return }
        isMoved = false
        lookedAt = log.held.digest
        countAcknowledgements(log, &step)
        stable = computedStable(log)
    }

    // MARK: Our own

    /// The time at which our acknowledgement is due; nil while the last one says what we hold, or no session is up. Without a
    /// session our newest changes may not be sealed, and changes that may still be folded are not acknowledged.
    private func acknowledgeDeadline(_ step: CoreStep) -> Tick? {
        guard !isAcknowledging, !step.network.isKeyDoubted(at: step.now), !exchange.isAlone else { return nil }
        return acknowledgeAt
    }

    private mutating func planAcknowledgement(_ log: SpaceLog, _ step: inout CoreStep) {
        // What we hold, the other holder of our key may not, and the others would forget for both.
        guard !isAcknowledging, !step.network.isKeyDoubted(at: step.now) else { return }
        guard !log.isIncomplete else {
            acknowledgeAt = nil
            return
        }
        let unspoken = unspoken(log)
        let digest = unspoken.reduce(into: log.held.digest) { $0 -= $1.tip.digestTerm(of: $1.replica) }
        let last = table[settings.own]?.newest
        guard log.held.entries.count > unspoken.count, last?.acknowledgement.digest != digest else {
            acknowledgeAt = nil
            return
        }
        if acknowledgeAt == nil {
            let next = acknowledgedAt.map { $0 + settings.timing.acknowledgeEvery } ?? step.now
            acknowledgeAt = max(next, step.now + settings.timing.acknowledgeAfter)
        }
        if hasUnacknowledgedCut(log) {
            let next = acknowledgedAt.map { $0 + settings.timing.acknowledgeCutEvery } ?? step.now
            acknowledgeAt = min(acknowledgeAt ?? next, max(next, step.now))
        }
        guard let at = acknowledgeDeadline(step), step.now >= at else { return }
        // Logical: only its order matters, and it must lie above what we have said before, also before a restore.
        let before = max(log.held.greatestStamp, last?.stamp ?? .zero)
        guard let stamp = Stamp.next(after: before, wallMilliseconds: 0) else { return }
        isAcknowledging = true
        acknowledgeAt = nil
        step.emit(
            .acknowledge(
                Acknowledgement(
                    device: settings.own, stamp: stamp,
                    vector: log.held.vector(besides: unspoken.map(\.replica)), digest: digest)))
    }

    /// True if an urgent dot is held that our newest acknowledgement does not cover.
    private func hasUnacknowledgedCut(_ log: SpaceLog) -> Bool {
        let said = table[settings.own]?.newest.acknowledgement.vector ?? VersionVector()
        return exchange.urgentDots(log.cuts).contains {
            log.held.next(of: $0.replica) > $0.counter && !said.covers($0)
        }
    }

    /// Returns our own entries, if this device is a reader: no peer takes what a reader writes, so none could count them.
    private func unspoken(_ log: SpaceLog) -> [TipTable.Entry] {
        guard log.membership.signingKey(of: settings.own) == nil else { return [] }
        return log.held.entries.filter { $0.replica.device == settings.own }
    }

    /// Handles our acknowledgement, signed and durable.
    mutating func handleAcknowledged(_ signed: SignedAcknowledgement, _ log: SpaceLog, _ step: inout CoreStep) {
        isAcknowledging = false
        acknowledgedAt = step.now
        guard table.take(signed) else { return }
        // We hold what we acknowledge.
        table.record(.counted, of: settings.own)
        isMoved = true
        exchange.passOn([settings.own], besides: nil, table, log, &step)
    }

    mutating func handleAcknowledgeFailed(at now: Tick) {
        isAcknowledging = false
        acknowledgeAt = now + settings.timing.acknowledgeEvery
    }

    // MARK: Others'

    /// Handles a peer's digest over its table. If it is equal, both know all the other has; else the peer is asked for what is
    /// newer.
    mutating func handleDigest(_ digest: Sum256?, from id: ConnectionID, _ log: SpaceLog, _ step: inout CoreStep) {
        guard exchange.isSpoken(id), let digest else { return }
        if digest == table.digest {
            exchange.recordEqual(table, with: id)
        } else {
            exchange.request(from: id, table, log, &step)
        }
    }

    mutating func handleRequest(
        _ request: Frame.AcknowledgementRequest, from id: ConnectionID, _ log: SpaceLog, _ step: inout CoreStep
    ) {
        guard request.space == log.space, exchange.isSpoken(id) else { return }
        exchange.handleRequest(request, from: id, table, log, &step)
    }

    mutating func handleAcknowledgements(
        _ sent: Frame.Acknowledgements, from id: ConnectionID, _ log: SpaceLog, _ step: inout CoreStep
    ) {
        guard sent.space == log.space, exchange.isSpoken(id) else { return }
        var taken: [SignedAcknowledgement] = []
        for row in sent.rows {
            // The author is not a member yet, as far as we know. The acknowledgement is asked for once it is.
            guard let member = log.membership[row.device] else { continue }
            guard let signed = row.joined(to: table[row.device]?.newest) else {
                exchange.request(from: id, table, log, &step)
                continue
            }
            guard signed.acknowledgement.vector.entries.count <= Limits.contextEntries,
                signed.isValid(in: log.space, signingKey: member.fact.signingKey)
            else {
                step.counters.acknowledgementsRefused += 1
                continue
            }
            exchange.recordKnown(signed.mark, of: row.device, by: id)
            // Each is written down: a member that acknowledges without end would keep the store from everything else.
            guard budgets.mayTake(row.device, at: step.now), table.take(signed) else { continue }
            budgets.take(row.device, at: step.now)
            taken.append(signed)
        }
        guard !taken.isEmpty else { return }
        isMoved = true
        step.emit(.keep(taken))
        exchange.passOn(taken.map(\.device), besides: id, table, log, &step)
    }

    // MARK: Counting

    /// Returns the vector that every member is known to hold. Every member known here counts, readers too, also a member that
    /// was added behind the vector: it may have seen less than the member that added it. A member added by a change that we do
    /// not hold was added behind its author's counted acknowledgement, and so knows all that is stable.
    private func computedStable(_ log: SpaceLog) -> VersionVector {
        if settings.faults.contains(.collectBeforeStability) { return log.held.vector() }
        var stable: VersionVector?
        let released = releasedDevices(log)
        for member in log.membership.members where !released.contains(member.device) {
            guard let counted = counted(of: member.device) else { return VersionVector() }
            stable = stable?.meet(counted) ?? counted
        }
        return stable ?? VersionVector()
    }

    private mutating func countAcknowledgements(_ log: SpaceLog, _ step: inout CoreStep) {
        for row in table.rows {
            guard case .waiting(let missing) = row.check,
                missing.map({ log.held.next(of: $0.replica) >= $0.next }) ?? true
            else { continue }
            check(row.newest.acknowledgement, log, &step)
        }
    }

    /// Checks whether an acknowledgement counts: its author's changes up to its ends must be held, and what it covers must be
    /// held with the same heads. An author that forked, or that covers a history no member has, holds everything up.
    private mutating func check(_ acknowledgement: Acknowledgement, _ log: SpaceLog, _ step: inout CoreStep) {
        let device = acknowledgement.device
        // A reader's changes count nowhere, and no peer takes them.
        let ends = log.membership.signingKey(of: device) == nil ? [] : acknowledgement.laterEnds.entries
        let needed = acknowledgement.vector.entries + ends
        if let missing = needed.first(where: { log.held.next(of: $0.replica) < $0.next }) {
            return table.record(.waiting(for: missing), of: device)
        }
        var sum = log.held.digest
        var elsewhere: [VersionVector.Entry] = []
        for entry in log.held.entries {
            let next = acknowledgement.vector.next(of: entry.replica)
            guard next != entry.tip.next else { continue }
            sum -= entry.tip.digestTerm(of: entry.replica)
            if next > 0 { elsewhere.append(VersionVector.Entry(replica: entry.replica, next: next)) }
        }
        guard !elsewhere.isEmpty else {
            return table.record(sum == acknowledgement.digest ? .counted : .refuted, of: device)
        }
        let id = ReadID(rawValue: step.nextID())
        table.record(.reading(id, elsewhere, sum: sum), of: device)
        step.emit(.readHeads(id, elsewhere))
    }

    mutating func handleHeads(_ id: ReadID, _ heads: [ChainHead?]) {
        guard let reading = table.reading(id) else { return }
        var sum = reading.sum
        for (entry, head) in zip(reading.entries, heads) {
            guard let head else { continue }
            sum += ReplicaTip(next: entry.next, head: head, stamp: .zero).digestTerm(of: entry.replica)
        }
        let isEqual = sum == table[reading.device]?.newest.acknowledgement.digest
        table.record(isEqual ? .counted : .refuted, of: reading.device)
        isMoved = true
    }
}
