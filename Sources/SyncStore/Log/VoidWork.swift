package import SyncModel

/// The result of one step of rewriting.
package struct RewritingStep: Sendable {
    package let commit: Commit
    /// True if work is left.
    package let hasMore: Bool
    /// True if the next change would count nowhere until its author is admitted again.
    package var isWaiting = false
}

/// A change of a history that does not count, as it is to be written again.
package struct VoidChange: Sendable, Hashable {
    package let replica: ReplicaID
    package let start: UInt64
    package let operations: [SyncModel.Operation]
    /// The changes that its author had seen, its own history included.
    package let known: VersionVector
    package let wallMilliseconds: Int64
    package let reason: Reason

    package enum Reason: Sendable, Hashable {
        /// The history was cut, and everybody holds it: events, schemas and settings count all the same. The first change of a
        /// step says where its work is now.
        case void(mark: SyncModel.Operation.RewritingMark?)
        /// Another history of the replica took its place: the change is stored nowhere. The value holds the new places of work that
        /// was rewritten before it.
        case takenBack([Rewriting])
    }

    /// Returns the new places of its operations once they are written again from `dot` on. Void operations keep their old
    /// places.
    func places(at dot: Dot) -> [Rewriting] {
        var places: [Rewriting] = []
        var (first, next): (UInt64, UInt64) = (0, 0)
        for operation in operations + [.void(span: 0)] {
            if operation.isVoid, first < next {
                places.append(
                    Rewriting(
                        old: Dot(replica: replica, counter: start + first), count: next - first,
                        new: Dot(replica: dot.replica, counter: dot.counter + first)))
            }
            next += operation.span
            if operation.isVoid { first = next }
        }
        return places
    }

    /// True if there is no operation to write again.
    var isVoid: Bool { operations.allSatisfy(\.isVoid) }

    var isTakenBack: Bool { if case .takenBack = reason { true } else { false } }

    func with(_ reason: Reason) -> VoidChange {
        VoidChange(
            replica: replica, start: start, operations: operations, known: known, wallMilliseconds: wallMilliseconds,
            reason: reason)
    }

    /// Splits a change for rewriting. A rewritten change is longer: each of its operations may have to say what its author
    /// had seen. So a change of many operations may have to become several.
    static func pieces(
        of view: ChangeView, in segment: Segment, known: VersionVector, _ reason: Reason
    ) -> [VoidChange] {
        let operations = Change(view, in: segment.bytes).operations
        // What an edit names may stand under replicas that its author has not seen.
        let knownBytes = (known.entries.count + 4) * (ReplicaID.byteCount + 10)
        let isShort = view.range.count + operations.count * knownBytes <= Limits.operationsBytes
        var start = view.start
        return (isShort ? [operations] : operations.map { [$0] }).map { operations in
            defer { start += operations.reduce(0) { $0 + $1.span } }
            return VoidChange(
                replica: segment.replica, start: start, operations: operations, known: known,
                wallMilliseconds: view.wallMilliseconds, reason: reason)
        }
    }
}

/// The next stretch of what this device had written beyond the end of one of its histories.
struct VoidWork {
    /// A mark of its own says where each step's work is now; half a MiB is one transaction's worth.
    private static let stepBytes = 512 << 10

    let replica: ReplicaID
    let start: UInt64
    let end: UInt64
    /// The context at the first change of that history.
    private let beginning: [(start: UInt64, moved: [VersionVector.Entry])]
    /// Where the device wrote work again before.
    private let rewritten: [Rewriting]

    /// Nil when there is none.
    init?(of device: DeviceID, in state: LogState) {
        guard let stretch = state.stretchesToRewrite(of: device).first else { return nil }
        replica = stretch.replica
        start = stretch.counters.lowerBound
        end = stretch.counters.upperBound
        beginning = state.firsts.beginning(of: stretch.replica)
        rewritten = state.cuts.rewritten.filter { $0.new.replica.device == device }
    }

    /// Returns the first changes to rewrite, as writes of one commit.
    func writes(
        limit: Int, _ history: some CutHistory,
        _ read: (ReplicaID, UInt64, Int) throws(StoreError) -> [Segment]
    ) throws(StoreError) -> [LocalWrite] {
        let steps = try beginning + history.contextSteps(of: replica)
        var changes: [VoidChange] = []
        for segment in try read(replica, start, Self.stepBytes) {
            var reader = ByteReader(segment.bytes)
            while !reader.isAtEnd, changes.count < limit, let view = try? ChangeView(&reader), view.start < end {
                var known = VersionVector([VersionVector.Entry(replica: replica, next: view.start)])
                for step in steps where step.start <= view.start { known.join(VersionVector(step.moved)) }
                known.join(rewritten.places(ofAllIn: known))
                changes += VoidChange.pieces(of: view, in: segment, known: known, .void(mark: nil))
            }
        }
        guard let last = changes.last else { return [] }
        let next = last.start + last.operations.reduce(0) { $0 + $1.span }
        let mark = SyncModel.Operation.RewritingMark(
            incarnation: replica.incarnation, start: start, count: next - start)
        return changes.enumerated().map { number, change in
            .again(number == 0 ? change.with(.void(mark: mark)) : change)
        }
    }
}
