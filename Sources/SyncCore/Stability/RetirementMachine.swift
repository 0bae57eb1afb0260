import SyncModel

/// The members that were retired: admitting them again, finalizing this device's own cuts, and rewriting what this device
/// wrote while it was away.
struct RetirementMachine: Sendable {
    private enum Rewriting: Sendable, Equatable {
        case idle
        case stepping
        /// The next step waits its turn, so that local writes find the store free.
        case due(at: Tick)
        /// The store found nothing more to write at these cuts, with that much of this device's ended histories here.
        case done(CutTable, VersionVector)
    }

    /// A peer with a session, and the tips that it claims.
    struct Connected: Sendable {
        let device: DeviceID
        let tips: TipTable
    }

    private let settings: CoreSettings
    /// Devices that are being admitted again, and when to try anew if nothing comes of it.
    private var readmissions: [(device: DeviceID, retryAt: Tick)] = []
    /// Cuts that are being finalized, likewise.
    private var finalizations: [(cut: Dot, retryAt: Tick)] = []
    private var rewriting = Rewriting.idle
    private(set) var hold = RewritingHold()

    init(_ settings: CoreSettings) { self.settings = settings }

    /// - Parameter mayStayOpen: true if local writes may stay open.
    func deadline(mayStayOpen: Bool) -> Tick? {
        var deadlines = readmissions.map(\.retryAt) + finalizations.map(\.retryAt)
        if case .due(let at) = rewriting, !mayStayOpen { deadlines.append(at) }
        return deadlines.min()
    }

    // MARK: Admitting again

    /// Admits a cut device again if it has heard of the cut and still connects. Retiring does not revoke access; it says that
    /// no member waits for the device. What the device writes from then on knows all that was forgotten meanwhile.
    mutating func planReadmissions(_ log: SpaceLog, _ connected: [Connected], _ step: inout CoreStep) {
        let (cuts, held) = (log.cuts, log.held)
        readmissions.removeAll { !cuts.isAway($0.device) || $0.retryAt <= step.now }
        guard log.mayWrite(settings.own) else { return }
        // A cut that came with a state is known before its change is held: what is written then does not know it.
        for peer in connected {
            let holding = cuts.cuts(holdingAway: peer.device)
            guard !holding.isEmpty, !cuts.isBarred(peer.device), let member = log.membership[peer.device],
                !readmissions.contains(where: { $0.device == peer.device }),
                holding.allSatisfy({ cut in
                    peer.tips.next(of: cut.dot.replica) > cut.dot.counter
                        && held.next(of: cut.dot.replica) > cut.dot.counter
                })
            else { continue }
            readmit(member, &step)
        }
        // These members were admitted by this device while it was away. That fact is written again with all others, but not
        // before objects are right here. Where the members' work came as state, objects are not right until these members
        // count again.
        for member in log.membership.members
        where cuts.isAway(member.device) && !cuts.isBarred(member.device)
            && !readmissions.contains(where: { $0.device == member.device })
        {
            guard
                cuts.cuts(holdingAway: member.device).allSatisfy({ cut in
                    cut.fact.device == settings.own && held.next(of: cut.dot.replica) > cut.dot.counter
                })
            else { continue }
            readmit(member, &step)
        }
    }

    private mutating func readmit(_ member: Membership.Member, _ step: inout CoreStep) {
        readmissions.append((member.device, step.now + settings.timing.readmitEvery))
        step.emit(.readmit(member.fact.asReturn))
    }

    // MARK: Finalizing

    /// Finalizes our own cuts, so that each holds for good before anything is forgotten by it. Two parts of a space may cut
    /// each other while they are apart, and forget what the other has not seen. When they meet, one of the cuts is void. So a
    /// cut is finalized only if every remaining member has heard of it and of none that would make it void, and if the
    /// remaining members, as far as the members that are away know them, are more than those that are away.
    ///
    /// Two cuts that make each other void are never both final. Otherwise no member could have heard of both, so the
    /// remaining members of each would all be away for the other, and be more than the other's.
    mutating func planFinalizing(_ log: SpaceLog, _ stability: StabilityMachine, _ step: inout CoreStep) {
        let cuts = log.cuts
        finalizations.removeAll { cuts.isSettled($0.cut) || $0.retryAt <= step.now }
        guard log.mayWrite(settings.own) else { return }
        for cut in cuts.cuts
        where cut.dot.replica.device == settings.own && !cuts.isSettled(cut.dot)
            && !finalizations.contains(where: { $0.cut == cut.dot })
            && cuts.away.contains(where: { cuts.cuts(holdingAway: $0).contains(cut) })
            && mayFinalize(cut, log, stability)
        {
            finalizations.append((cut.dot, step.now + settings.timing.readmitEvery))
            step.emit(.settle(cut.dot))
        }
    }

    private func mayFinalize(_ cut: CutTable.Cut, _ log: SpaceLog, _ stability: StabilityMachine) -> Bool {
        if settings.faults.contains(.settleAlone) { return true }
        let cuts = log.cuts
        guard !cuts.isDisputed(cut), stability.haveAllHeard(of: [cut.dot], log) else { return false }
        let waitedFor = cuts.away.filter { device in
            let holding = cuts.cuts(holdingAway: device)
            return holding.contains { $0.fact.device == device } && !holding.contains { cuts.isSettled($0.dot) }
        }
        // A device that holds changes of another knows that it is a member.
        let known = log.remainingDevices.filter { device in
            waitedFor.allSatisfy { away in
                stability.counted(of: away)?.entries.contains { $0.replica.device == device } ?? false
            }
        }
        // Of two halves it is the one with the least device: both name the same.
        if known.count == waitedFor.count, let least = known.min() { return waitedFor.allSatisfy { least < $0 } }
        return known.count > waitedFor.count
    }

    // MARK: Rewriting

    /// Rewrites what this device had written beyond its end, once the device is admitted again and no other device can keep
    /// those changes any more: otherwise they might stand there twice. What a reader writes counts nowhere: its work waits until
    /// an admin makes it a writer.
    ///
    /// - Parameters:
    ///   - mayBegin: true unless work of this device was taken back: it holds marks of what was written again already.
    ///   - mayStayOpen: true if local writes may stay open.
    mutating func planRewriting(
        _ log: SpaceLog, _ stability: StabilityMachine, mayBegin: Bool, mayStayOpen: Bool, _ step: inout CoreStep
    ) {
        hold.pass(step.now)
        switch rewriting {
        case .idle, .done:
            if rewriting == .done(log.cuts, log.ended(of: settings.own)) { return }
            guard mayBegin, !mayStayOpen, mayRewrite(log, stability) else { return }
        case .due(let at):
            if !log.countsWork(of: settings.own) {
                rewriting = .idle
                hold.end()
            }
            guard case .due = rewriting, step.now >= at, !mayStayOpen else { return }
        case .stepping: return
        }
        if settings.faults.contains(.forgetVoidWork) {
            rewriting = .done(log.cuts, log.ended(of: settings.own))
            return
        }
        rewriting = .stepping
        if log.hasVoidWork(of: settings.own) { hold.begin(until: step.now + settings.timing.rewritingHold) }
        step.emit(.rewriteVoid(limit: settings.bounds.rewritingStepChanges))
    }

    private func mayRewrite(_ log: SpaceLog, _ stability: StabilityMachine) -> Bool {
        let own = settings.own
        let dots = log.cuts.cuts(of: own).map(\.dot)
        guard !dots.isEmpty, log.countsWork(of: own) else { return false }
        let released = stability.releasedDevices(log)
        return log.membership.members.allSatisfy { member in
            if released.contains(member.device) { return true }
            // What we hold we know.
            if member.device == own { return true }
            guard let counted = stability.counted(of: member.device) else { return false }
            return dots.allSatisfy(counted.covers)
        }
    }

    mutating func handleRewritten(hasMore: Bool, _ log: SpaceLog, at now: Tick) {
        guard case .stepping = rewriting else { return }
        if !hasMore { hold.end() }
        rewriting =
            hasMore
            ? .due(at: now + settings.timing.collectionPause) : .done(log.cuts, log.ended(of: settings.own))
    }

    mutating func handleRewriteFailed(at now: Tick) {
        guard case .stepping = rewriting else { return }
        hold.end()
        rewriting = .due(at: now + settings.timing.storeRetry)
    }
}

extension SpaceLog {
    /// Returns how much is held of the histories of a device that were ended.
    fileprivate func ended(of device: DeviceID) -> VersionVector {
        VersionVector(
            held.entries(of: device).filter { cuts.end(of: $0.replica) != nil }.map {
                VersionVector.Entry(replica: $0.replica, next: $0.tip.next)
            })
    }

    /// True if changes beyond the end of one of this device's histories are held and were not written again.
    func hasVoidWork(of own: DeviceID) -> Bool {
        !cuts.isEmpty
            && held.entries.contains { entry in
                guard entry.replica.device == own, let end = cuts.end(of: entry.replica) else { return false }
                let start = max(end, cuts.rewritten(of: entry.replica), firstHeld.next(of: entry.replica))
                return start < min(entry.tip.next, cuts.strictEnd(of: entry.replica) ?? .max)
            }
    }
}
