import SyncModel

/// A segment that waits in the store until it can be put behind a history that took the place of another.
struct HeldBack: Sendable {
    /// The row, in a store that has rows.
    let row: Int64
    let segment: Segment
    /// True for a segment of the history that stays. False for work of a third device that had seen either history.
    let isRest: Bool
}

extension LogState {
    /// Returns the segments that can be applied behind what is about to be, in an order that contexts allow. What is held by
    /// then is left out.
    ///
    /// - Parameter guests: the members that this device admits again before it stores their changes, or changes of authors
    ///   that have seen those.
    func applicable(
        _ waiting: [HeldBack], behind segments: [VerifiedSegment], but guests: [MemberFact]
    ) -> [VerifiedSegment] {
        guard !waiting.isEmpty else { return [] }
        let guests = Set(guests.map(\.device))
        var tips: [ReplicaID: ReplicaTip] = [:]
        for verified in segments { tips[verified.segment.replica] = verified.tip }
        // No history moves the clock of others further than any other does.
        var greatest = tips.values.reduce(greatestStamp) { max($0, $1.stamp) }
        var applicable: [VerifiedSegment] = []
        var count = -1
        while applicable.count > count {
            count = applicable.count
            for kept in waiting {
                let segment = kept.segment
                let tip = tips[segment.replica] ?? tip(of: segment.replica)
                guard segment.start <= tip.next, tip.next < segment.end, let rest = segment.suffix(from: tip.next),
                    let verified = try? rest.walked(from: tip), verified.isReachable(from: greatest),
                    verified.context.allSatisfy({ (tips[$0.replica] ?? self.tip(of: $0.replica)).next >= $0.next }),
                    kept.isRest || !verified.isWork(of: guests)
                else { continue }
                tips[segment.replica] = verified.tip
                greatest = max(greatest, verified.tip.stamp)
                applicable.append(verified)
            }
        }
        return applicable
    }
}

extension VerifiedSegment {
    /// True if a guest wrote the segment, or its author had seen changes of a guest.
    fileprivate func isWork(of guests: Set<DeviceID>) -> Bool {
        guests.contains(segment.replica.device) || context.contains { guests.contains($0.replica.device) }
    }
}

extension [HeldBack] {
    /// Returns the tips of the histories that stay, where more of them waits than the log holds.
    func awaited(on log: LogState) -> [KnownReplica] {
        var tips: [ReplicaID: ReplicaTip] = [:]
        for kept in self where kept.isRest {
            let tip = tips[kept.segment.replica] ?? log.tip(of: kept.segment.replica)
            if let rest = kept.segment.suffix(from: tip.next), let verified = try? rest.walked(from: tip) {
                tips[kept.segment.replica] = verified.tip
            }
        }
        return tips.filter { $0.value.next > log.tip(of: $0.key).next }
            .map { KnownReplica(replica: $0.key, tip: $0.value) }.sorted { $0.replica < $1.replica }
    }
}
