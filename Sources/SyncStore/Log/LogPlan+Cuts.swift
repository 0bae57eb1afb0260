package import SyncModel

// The changes that count, and the effects of a moved cut.
extension LogPlan {
    mutating func record(
        _ statements: [(dot: Dot, says: CutStatement)], of segment: Segment, _ context: VersionVector
    ) {
        for (dot, says) in statements {
            if case .addition(let fact) = says { after.members.add(fact, at: dot) }
        }
        // Those beyond a strict end are recorded, too: the table passes over them, and that end may move.
        let author = segment.replica.device
        let statements = statements.filter { dot, says in
            guard case .cut = says else { return true }
            // Who does not know yet that it was let in may know next to nothing. What everybody had acknowledged before, and may
            // have forgotten, lies in the past of that fact.
            return after.members.knows(author, at: Origin(dot: dot, stamp: .zero, context: context))
        }
        let first = Dot(replica: segment.replica, counter: segment.start)
        if after.cuts.record(first, context: context, statements, members: after.members) { hasNewCuts = true }
    }

    /// Decides where retirements (cuts) end histories once these segments are applied, and what must be computed anew because
    /// of it. Called before objects are applied; costs nothing if no end moved.
    ///
    /// - Parameter held: the changes that were read by the ends of before; nil for all that `state` holds.
    package mutating func settleCuts(
        on state: LogState, held: VersionVector? = nil, _ history: some CutHistory, faults: StoreFaults = []
    ) throws(StoreError) {
        guard changesCuts else { return }
        if hasNewCuts, !faults.contains(.cutAsksNobody) {
            for known in state.tips where after.cuts.concerns(known.replica, context: state.context(of: known.replica))
            {
                var context = VersionVector()
                let steps = try history.contextSteps(of: known.replica)
                for step in state.firsts.beginning(of: known.replica) + steps {
                    context.join(VersionVector(step.moved))
                    after.cuts.witness(
                        Dot(replica: known.replica, counter: step.start), context: context, members: after.members)
                }
            }
            // The changes of this transaction that came before the cut are witnesses, too.
            for entry in entries {
                let segment = entry.verified.segment
                after.cuts.witness(
                    Dot(replica: segment.replica, counter: segment.start), context: entry.context,
                    members: after.members)
            }
        }
        var touched: Set<ObjectKey> = []
        for known in state.tips {
            func end(_ cuts: CutTable) -> UInt64 { min(cuts.end(of: known.replica) ?? .max, known.tip.next) }
            let (before, now) = (end(state.cuts), end(after.cuts))
            guard before != now else { continue }
            let counters = min(before, now)..<max(before, now)
            // The objects touched by dropped changes are unknown here.
            if counters.lowerBound < state.firstHeld.next(of: known.replica) { after.isIncomplete = true }
            touched.formUnion(try history.objects(touchedBy: known.replica, within: counters))
        }
        rebuilt = faults.contains(.cutKeepsObjects) ? [] : touched.sorted()
        if !faults.contains(.strictEndsStay) { try settleStrictEnds(on: state, held: held ?? state.held, history) }
    }

    /// Takes over what the sender of a state knows of cuts, and what the histories that come with it say of ours.
    ///
    /// - Parameter firsts: also of the replicas that are not held yet.
    mutating func join(
        _ cuts: CutTable, _ tips: [StateTip], _ firsts: FirstContexts, members: MemberFacts,
        judging strictEnds: [ReplicaID: UInt64]? = nil, on state: LogState
    ) {
        after.cuts.join(cuts, members: members)
        if let strictEnds { after.cuts.record(strictEnds: strictEnds, members: members) }
        // Each author had seen at least as much when it wrote what is last.
        for tip in tips where tip.tip.next > state.held.next(of: tip.replica) {
            var context = firsts.inherited(by: tip.replica)
            context.join(tip.named)
            after.cuts.witness(
                Dot(replica: tip.replica, counter: tip.tip.next - 1), context: context, members: members)
        }
        hasNewCuts = after.cuts.cuts != state.cuts.cuts
        changesCuts = after.cuts != state.cuts
    }
}
