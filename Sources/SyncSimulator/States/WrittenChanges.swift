package import SyncModel
package import SyncStore

/// Every change that anybody ever wrote, one by one: what a node that holds state cannot tell any more, checkers read here.
///
/// A machine that is put back while it runs writes two histories of one replica, so changes are found by the heads behind them.
package struct WrittenChanges {
    private struct Written {
        let change: VerifiedSegment
        let before: ReplicaTip
    }

    private var written: [ReplicaID: [ChainHead: Written]] = [:]

    package init() {}

    /// Adds the changes that a node committed. The beginning of each history is committed first, except for what the process
    /// found open at its start while the disk took no writes: that is signed with the first commit it takes, and read here.
    package mutating func add(_ segments: [VerifiedSegment], from store: SQLiteStore) {
        for verified in segments {
            let replica = verified.segment.replica
            let changes =
                continuation(of: replica, to: verified.tip) { _ in [verified.segment] }
                ?? continuation(of: replica, to: verified.tip, in: store)
            add(changes ?? [])
        }
    }

    /// Adds the changes that a process left open, and the next one found and signed: no commit reports them.
    package mutating func addFound(in store: SQLiteStore, of device: DeviceID) throws(StoreError) {
        for known in try store.logState().tips where known.replica.device == device {
            add(continuation(of: known.replica, to: known.tip, in: store) ?? [])
        }
    }

    private mutating func add(_ changes: [Written]) {
        for one in changes { written[one.change.segment.replica, default: [:]][one.change.tip.head] = one }
    }

    /// Each change that a store holds as one segment, in its author's order. Signatures were checked on arrival, and are not
    /// checked again here.
    package static func held(by store: SQLiteStore, _ past: WrittenChanges?) throws(StoreError)
        -> [(replica: ReplicaID, changes: [VerifiedSegment])]
    {
        let past = past ?? WrittenChanges()
        return try store.logState().tips.map { known in
            let rest = past.continuation(of: known.replica, to: known.tip, in: store) ?? []
            let end = rest.first?.before ?? known.tip
            return (known.replica, past.changes(of: known.replica, upTo: end) + rest.map(\.change))
        }
    }

    /// Returns the known changes of the history that ends in `tip`.
    private func changes(of replica: ReplicaID, upTo tip: ReplicaTip) -> [VerifiedSegment] {
        var changes: [VerifiedSegment] = []
        var head = tip.head
        while let last = written[replica]?[head] {
            changes.append(last.change)
            head = last.before.head
        }
        return changes.reversed()
    }

    private func continuation(
        of replica: ReplicaID, to tip: ReplicaTip, in store: SQLiteStore
    ) -> [Written]? {
        continuation(of: replica, to: tip) { start in
            (try? store.segments(of: replica, from: start, byteBudget: .max)) ?? []
        }
    }

    /// Returns the changes from the end of a known history to `tip`; nil if no known history leads there.
    private func continuation(
        of replica: ReplicaID, to tip: ReplicaTip, segments: (_ start: UInt64) -> [Segment]
    ) -> [Written]? {
        let known = written[replica] ?? [:]
        if known[tip.head] != nil { return [] }
        let ends = known.values.map(\.change.tip).filter { $0.next < tip.next }.sorted { $0.next > $1.next }
        for end in ends + [.empty(space: .home, replica: replica)] {
            let changes = Self.split(segments(end.next), behind: end).prefix { $0.change.tip.next <= tip.next }
            if changes.last?.change.tip.head == tip.head { return Array(changes) }
        }
        return nil
    }

    private static func split(_ segments: [Segment], behind end: ReplicaTip) -> [Written] {
        var tip = end
        var changes: [Written] = []
        for segment in segments {
            var reader = ByteReader(segment.bytes)
            while !reader.isAtEnd, let view = try? ChangeView(&reader) {
                guard view.start >= tip.next else { continue }
                let before = tip
                tip = ReplicaTip(
                    next: view.end, head: tip.head.appending(view.digest(in: segment.bytes)), stamp: view.stamp)
                let one = Segment(
                    replica: segment.replica, start: view.start, end: view.end, bytes: Array(segment.bytes[view.range]),
                    signature: segment.signature)
                changes.append(
                    Written(
                        change: VerifiedSegment(segment: one, context: view.context, changeCount: 1, tip: tip),
                        before: before))
            }
        }
        return changes
    }
}
