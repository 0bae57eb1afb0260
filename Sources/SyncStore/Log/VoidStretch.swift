import SyncModel

/// A stretch of a history in which operations on objects are void.
struct VoidStretch: Hashable, Sendable {
    let replica: ReplicaID
    let counters: Range<UInt64>

    func contains(_ dot: Dot) -> Bool { replica == dot.replica && counters.contains(dot.counter) }
}

extension LogState {
    /// The void stretches of all devices that were not written again, as far as the log has them.
    var voidStretches: [VoidStretch] { cuts.endsNothing ? [] : tips.compactMap { stretch(of: $0, upTo: .max) } }

    /// Returns the stretches of its own histories that a device has to write again, in the order in which that has to be done. A
    /// revocation or a lowered role makes work void for good: only what a retirement ended is written again.
    func stretchesToRewrite(of device: DeviceID) -> [VoidStretch] {
        if cuts.cuts(of: device).isEmpty { return [] }
        let stretches = tips.compactMap { known in
            known.replica.device == device
                ? stretch(of: known, upTo: cuts.strictEnd(of: known.replica) ?? .max) : nil
        }
        return stretches.count < 2 ? stretches : inOrder(stretches, of: device)
    }

    private func stretch(of known: KnownReplica, upTo strictEnd: UInt64) -> VoidStretch? {
        guard let end = cuts.end(of: known.replica) else { return nil }
        // Changes that came back as state after the disk was lost cannot be read here.
        let start = Swift.max(end, cuts.rewritten(of: known.replica), firstHeld.next(of: known.replica))
        let upper = Swift.min(known.tip.next, strictEnd)
        return start < upper ? VoidStretch(replica: known.replica, counters: start..<upper) : nil
    }

    /// Orders stretches of one device so that each comes behind those that it may build upon.
    ///
    /// A replica builds upon those that the device had before. But one that began behind a return holds what was written again of
    /// those before that return, so it comes first: what is left of them may be about what stands there.
    private func inOrder(_ stretches: [VoidStretch], of device: DeviceID) -> [VoidStretch] {
        let own = Set(cuts.cuts.filter { $0.fact.device == device }.map(\.dot)).union(cuts.cuts(of: device).map(\.dot))
        var open = stretches.map { stretch in
            let replica = stretch.replica
            var began = firsts.inherited(by: replica)
            began.join(firsts.context(of: replica))
            let returns = Set(cuts.exemptions.filter { $0.replica == replica }.map(\.reason.cut)).intersection(own)
            return (stretch: stretch, began: began, seen: context(of: replica), returns: returns.count)
        }
        var ordered: [VoidStretch] = []
        while let most = open.map(\.returns).max() {
            let first = open.firstIndex { one in
                one.returns == most
                    && !open.contains { other in
                        let (mine, theirs) = (one.stretch.replica, other.stretch.replica)
                        guard other.returns == most, theirs != mine else { return false }
                        if one.began.next(of: theirs) > 0 { return true }
                        // A disk that was put back hears only later of what it had written since.
                        return other.began.next(of: mine) == 0 && one.seen.next(of: theirs) > 0
                    }
            }
            // Histories that name each other.
            let next = first ?? open.firstIndex { $0.returns == most } ?? 0
            ordered.append(open.remove(at: next).stretch)
        }
        return ordered
    }
}
