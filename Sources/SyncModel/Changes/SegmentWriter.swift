/// Chains changes and cuts them into segments: one more where a change names other replicas, and every
/// `Limits.segmentBytes`.
package struct SegmentWriter: Sendable {
    private let space: SpaceID
    private let replica: ReplicaID
    /// The tip after the changes added so far.
    package private(set) var tip: ReplicaTip
    private var open: OpenSegment
    private var closed: [VerifiedSegment] = []

    private struct OpenSegment: Sendable {
        var start: UInt64
        var bytes: [UInt8] = []
        var context: [VersionVector.Entry] = []
        var changeCount = 0
    }

    package init(space: SpaceID, replica: ReplicaID, from tip: ReplicaTip) {
        self.space = space
        self.replica = replica
        self.tip = tip
        open = OpenSegment(start: tip.next)
    }

    /// Adds the change that begins where the one before it ends.
    package mutating func add(_ change: Change, sign: ([UInt8]) -> [UInt8]) {
        let bytes = change.encoded
        if open.changeCount > 0, !change.context.isEmpty || open.bytes.count + bytes.count > Limits.segmentBytes {
            close(sign)
        }
        var reader = ByteReader(bytes)
        guard let view = try? ChangeView(&reader) else { preconditionFailure("a change we wrote reads back") }
        if open.changeCount == 0 { open.context = change.context }
        open.bytes += bytes
        open.changeCount += 1
        tip = ReplicaTip(next: view.end, head: tip.head.appending(view.digest(in: bytes)), stamp: change.stamp)
    }

    package mutating func finish(sign: ([UInt8]) -> [UInt8]) -> [VerifiedSegment] {
        if open.changeCount > 0 { close(sign) }
        return closed
    }

    private mutating func close(_ sign: ([UInt8]) -> [UInt8]) {
        let message = ChainSignature.message(space: space, replica: replica, end: tip.next, head: tip.head)
        closed.append(
            VerifiedSegment(
                segment: Segment(
                    replica: replica, start: open.start, end: tip.next, bytes: open.bytes, signature: sign(message)),
                context: open.context, changeCount: open.changeCount, tip: tip))
        open = OpenSegment(start: tip.next)
    }
}
