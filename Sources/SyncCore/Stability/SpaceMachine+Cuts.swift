import SyncModel

/// The state about cut devices that the core keeps between two steps.
struct CutKeeping: Sendable {
    /// Devices that are being admitted again, and when to try anew if nothing comes of it.
    var readmissions: [(device: DeviceID, retryAt: Tick)] = []
    /// Cuts that are being settled, likewise.
    var settlements: [(cut: Dot, retryAt: Tick)] = []
    /// The store writes again what had been written while this device was cut.
    var rewriting = Rewriting.idle
    /// Histories of other devices that wait for their rewriting.
    var returning: [ReplicaID: ReturningHistory] = [:]

    enum Rewriting: Sendable, Equatable {
        case idle
        case stepping
        /// The next step waits its turn, so that local writes find the store free.
        case due(at: Tick)
        /// The store found nothing more to write at these cuts.
        case done(CutTable)
    }
}

// Devices that were cut: no member waits for them, and they may come back.
extension SpaceMachine {
    mutating func recordCompleteness(isIncomplete: Bool, _ step: inout CoreStep) {
        guard log.record(isIncomplete: isIncomplete) else { return }
        if isIncomplete { restartIntake(&step) }
    }

    /// Takes all cuts that are durable.
    mutating func recordCuts(_ cuts: CutTable, _ step: inout CoreStep) {
        log.record(cuts)
        stability.recordMembersChanged()
        trustMembers(&step)
        for index in peers.indices where peers[index].isUp && cuts.isBarred(peers[index].device) {
            close(index, .notMember, &step)
        }
    }

    var cutDeadlines: [Tick] {
        var deadlines = cutKeeping.readmissions.map(\.retryAt) + cutKeeping.settlements.map(\.retryAt)
        if case .due(let at) = cutKeeping.rewriting, !sealer.mayStayOpen { deadlines.append(at) }
        return deadlines
    }

    mutating func planCuts(_ step: inout CoreStep) {
        guard !cuts.isEmpty else { return }
        planReadmissions(&step)
        planSettling(&step)
        planRewriting(&step)
    }

    // MARK: Letting in again

    /// Admits a cut device again if it has heard of the cut and still connects. Retiring does not revoke access; it says that
    /// no member waits for the device. What the device writes from then on knows all that was forgotten meanwhile.
    private mutating func planReadmissions(_ step: inout CoreStep) {
        let cuts = cuts
        cutKeeping.readmissions.removeAll { !cuts.isAway($0.device) || $0.retryAt <= step.now }
        guard membership.signingKey(of: configuration.own) != nil, !cuts.isAway(configuration.own) else { return }
        // A cut that came with a state is known before its change is held: what is written then does not know it.
        for index in upPeers {
            let device = peers[index].device
            let holding = cuts.cuts(holdingAway: device)
            guard !holding.isEmpty, !cuts.isBarred(device), let member = membership[device],
                !cutKeeping.readmissions.contains(where: { $0.device == device }),
                holding.allSatisfy({ cut in
                    peers[index].peerTips.next(of: cut.dot.replica) > cut.dot.counter
                        && held.next(of: cut.dot.replica) > cut.dot.counter
                })
            else { continue }
            letInAgain(member, &step)
        }
        // These members were admitted by this device while it was away. That fact is written again with all others, but not
        // before objects are right here. Where the members' work came as state, objects are not right until these members
        // count again.
        for member in membership.members
        where cuts.isAway(member.device) && !cuts.isBarred(member.device)
            && !cutKeeping.readmissions.contains(where: { $0.device == member.device })
        {
            guard
                cuts.cuts(holdingAway: member.device).allSatisfy({ cut in
                    cut.fact.device == configuration.own && held.next(of: cut.dot.replica) > cut.dot.counter
                })
            else { continue }
            letInAgain(member, &step)
        }
    }

    private mutating func letInAgain(_ member: Membership.Member, _ step: inout CoreStep) {
        cutKeeping.readmissions.append((member.device, step.now + configuration.timing.readmitEvery))
        step.emit(.readmit(member.fact.withoutHost))
    }

    // MARK: Settling

    /// Settles our own cuts, so that each holds for good before anything is forgotten by it. Two parts of a space may cut
    /// each other while they are apart, and forget what the other has not seen. When they meet, one of the cuts is void. So a
    /// cut is settled only if every remaining member has heard of it and of none that would make it void, and if the
    /// remaining members, as far as the members that are away know them, are more than those that are away.
    ///
    /// Two cuts that make each other void are never both settled. Otherwise no member could have heard of both, so the
    /// remaining members of each would all be away for the other, and be more than the other's.
    private mutating func planSettling(_ step: inout CoreStep) {
        let cuts = cuts
        cutKeeping.settlements.removeAll { cuts.isSettled($0.cut) || $0.retryAt <= step.now }
        guard membership.signingKey(of: configuration.own) != nil, !cuts.isAway(configuration.own) else { return }
        for cut in cuts.cuts
        where cut.dot.replica.device == configuration.own && !cuts.isSettled(cut.dot)
            && !cutKeeping.settlements.contains(where: { $0.cut == cut.dot })
            && cuts.away.contains(where: { cuts.cuts(holdingAway: $0).contains(cut) }) && maySettle(cut)
        {
            cutKeeping.settlements.append((cut.dot, step.now + configuration.timing.readmitEvery))
            step.emit(.settle(cut.dot))
        }
    }

    private func maySettle(_ cut: CutTable.Cut) -> Bool {
        if configuration.faults.contains(.settleAlone) { return true }
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

    // MARK: Writing again

    /// Rewrites what this device had written beyond its end, once the device is admitted again and no other device can keep
    /// those changes any more: otherwise they might stand there twice.
    private mutating func planRewriting(_ step: inout CoreStep) {
        switch cutKeeping.rewriting {
        case .idle, .done(_):
            if case .done(cuts) = cutKeeping.rewriting { return }
            guard mayRewrite else { return }
        case .due(let at): guard step.now >= at, !sealer.mayStayOpen else { return }
        case .stepping: return
        }
        if configuration.faults.contains(.forgetVoidWork) {
            cutKeeping.rewriting = .done(cuts)
            return
        }
        cutKeeping.rewriting = .stepping
        step.emit(.rewriteVoid(limit: configuration.bounds.rewritingStepChanges))
    }

    /// True if changes beyond the end of one of this device's histories are held and were not written again.
    var hasVoidWork: Bool {
        !cuts.isEmpty
            && held.entries.contains { entry in
                guard entry.replica.device == configuration.own, let end = cuts.end(of: entry.replica) else {
                    return false
                }
                let start = max(end, cuts.rewritten(of: entry.replica), firstHeld.next(of: entry.replica))
                return start < entry.tip.next
            }
    }

    /// True if this device was retired, and not all that it had written counts again.
    var isWritingAgain: Bool { cuts.isAway(configuration.own) || hasVoidWork }

    private var mayRewrite: Bool {
        let own = configuration.own
        // It holds marks of what was written again already.
        guard !forks.hasTakenBack, !forks.isTakingBack else { return false }
        let dots = cuts.cuts(of: own).map(\.dot)
        guard !dots.isEmpty, !sealer.mayStayOpen, !cuts.isAway(own) else { return false }
        let away = stability.releasedDevices(log)
        return membership.members.allSatisfy { member in
            if away.contains(member.device) { return true }
            // What we hold we know.
            if member.device == own { return true }
            guard let counted = stability.counted(of: member.device) else { return false }
            return dots.allSatisfy(counted.covers)
        }
    }

    mutating func handleRewritten(hasMore: Bool, _ step: CoreStep) {
        guard case .stepping = cutKeeping.rewriting else { return }
        cutKeeping.rewriting =
            hasMore ? .due(at: step.now + configuration.timing.collectionPause) : .done(cuts)
    }

    mutating func handleRewriteFailed(_ step: CoreStep) {
        guard case .stepping = cutKeeping.rewriting else { return }
        cutKeeping.rewriting = .due(at: step.now + configuration.timing.storeRetry)
    }
}
