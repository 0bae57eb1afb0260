import SyncModel

extension MemoryContents {
    var newestAcknowledgements: [SignedAcknowledgement] {
        acknowledgements.values.sorted { $0.device < $1.device }
    }

    mutating func keep(_ signed: [SignedAcknowledgement]) {
        for one in signed {
            let known = acknowledgements[one.device]
            if known.map({ one.acknowledgement.isNewer(than: $0.acknowledgement) }) ?? true {
                acknowledgements[one.device] = one
            }
        }
    }

    func chainHead(of replica: ReplicaID, at end: UInt64) -> ChainHead? {
        if let head = head(of: replica, at: end) { return head }
        guard let stored = segments[replica]?.first(where: { $0.verified.segment.end > end }),
            let before = head(of: replica, at: stored.verified.segment.start)
        else { return nil }
        return stored.verified.segment.head(at: end, from: before)
    }

    func deletions(upTo stable: VersionVector, after: Dot?, limit: Int) -> [KeptDeletion] {
        let due = objects.values.compactMap { object in
            object.deletion.map { KeptDeletion(dot: $0.dot, object: object.key) }
        }
        return Array(
            due.filter { kept in stable.covers(kept.dot) && after.map { $0 < kept.dot } ?? true }
                .sorted { $0.dot < $1.dot }.prefix(limit))
    }
}
