package import SyncModel
package import SyncStore

/// Every change that anybody ever wrote, one by one: what a node that holds state cannot tell any more, checkers read here.
package struct WrittenChanges {
    private var changes: [ReplicaID: [VerifiedSegment]] = [:]

    package init() {}

    /// Adds the changes that a node committed. The beginning of each history is committed first, except for what the process
    /// found open at its start while the disk took no writes: that is signed with the first commit it takes, and read here.
    package mutating func add(_ segments: [VerifiedSegment], from store: SQLiteStore) {
        for verified in segments {
            let replica = verified.segment.replica
            let end = changes[replica]?.last?.tip.next ?? 0
            if verified.segment.start > end, let found = try? store.segments(of: replica, from: end, byteBudget: .max) {
                for segment in found { add(segment) }
            }
            add(verified.segment)
        }
    }

    /// Adds the changes that a process left open, and the next one found and signed: no commit reports them.
    package mutating func addFound(in store: SQLiteStore, of device: DeviceID) throws(StoreError) {
        for known in try store.logState().tips where known.replica.device == device {
            let end = changes[known.replica]?.last?.tip.next ?? 0
            for segment in try store.segments(of: known.replica, from: end, byteBudget: .max) { add(segment) }
        }
    }

    private mutating func add(_ segment: Segment) {
        let known = changes[segment.replica] ?? []
        let tip = known.last?.tip ?? .empty(space: .home, replica: segment.replica)
        guard segment.end > tip.next, segment.start <= tip.next else { return }
        changes[segment.replica] = known + Self.split(segment, behind: tip)
    }

    /// Each change that a store holds as one segment, in its author's order. Signatures were checked on arrival, and are not
    /// checked again here.
    package static func held(by store: SQLiteStore, _ past: WrittenChanges?) throws(StoreError)
        -> [(replica: ReplicaID, changes: [VerifiedSegment])]
    {
        var histories: [(replica: ReplicaID, changes: [VerifiedSegment])] = []
        for known in try store.logState().tips {
            var changes = (past?.changes[known.replica] ?? []).filter { $0.segment.end <= known.tip.next }
            let tip = changes.last?.tip ?? .empty(space: .home, replica: known.replica)
            for segment in try store.segments(of: known.replica, from: tip.next, byteBudget: .max) {
                changes += split(segment, behind: changes.last?.tip ?? tip)
            }
            histories.append((known.replica, changes))
        }
        return histories
    }

    private static func split(_ segment: Segment, behind tip: ReplicaTip) -> [VerifiedSegment] {
        var tip = tip
        var changes: [VerifiedSegment] = []
        var reader = ByteReader(segment.bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            guard view.start >= tip.next else { continue }
            tip = ReplicaTip(
                next: view.end, head: tip.head.appending(view.digest(in: segment.bytes)), stamp: view.stamp)
            let one = Segment(
                replica: segment.replica, start: view.start, end: view.end, bytes: Array(segment.bytes[view.range]),
                signature: segment.signature)
            changes.append(VerifiedSegment(segment: one, context: view.context, changeCount: 1, tip: tip))
        }
        return changes
    }
}
