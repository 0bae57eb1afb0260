/// Writes this device's changes: counters, contexts, stamps, the chain, and where segments end. Pure; the store calls it
/// inside the transaction that makes the result durable, and keeps the new value only when that succeeded.
package struct ChangeAuthor: Sendable {
    package let space: SpaceID
    package let replica: ReplicaID
    package private(set) var tip: ReplicaTip
    /// What the previous change's context said: the next one names only what moved since.
    package private(set) var named: VersionVector

    package init(space: SpaceID, replica: ReplicaID, tip: ReplicaTip, named: VersionVector) {
        self.space = space
        self.replica = replica
        self.tip = tip
        self.named = named
    }

    /// Authors one change per element of `groups`, each with at least one operation, as segments ready to store.
    ///
    /// - Parameters:
    ///   - held: the vector of the store, in the same transaction.
    ///   - greatestStamp: of every change the store holds.
    ///   - sign: Ed25519 over the message given, 64 bytes.
    /// - Returns: nil when stamps are used up (a forged clock near the end of time).
    package mutating func author(
        _ groups: [[Operation]], held: VersionVector, greatestStamp: Stamp, wallMilliseconds: Int64,
        sign: ([UInt8]) -> [UInt8]
    ) -> [VerifiedSegment]? {
        var author = self
        var segments: [VerifiedSegment] = []
        var open = OpenSegment(start: tip.next)
        var greatest = max(greatestStamp, tip.stamp)
        for operations in groups {
            guard let stamp = Stamp.next(after: greatest, wallMilliseconds: wallMilliseconds) else { return nil }
            let moved = held.entries(beyond: author.named).filter { $0.replica != replica }
            let change = Change(
                start: author.tip.next, stamp: stamp, wallMilliseconds: wallMilliseconds, context: moved,
                operations: operations)
            let bytes = change.encoded
            if open.changeCount > 0, !moved.isEmpty || open.bytes.count + bytes.count > Limits.segmentBytes {
                segments.append(author.close(&open, sign))
            }
            author.extend(&open, change, bytes)
            author.named.join(VersionVector(moved))
            greatest = stamp
        }
        if open.changeCount > 0 { segments.append(author.close(&open, sign)) }
        self = author
        return segments
    }

    private struct OpenSegment {
        var start: UInt64
        var bytes: [UInt8] = []
        var context: [VersionVector.Entry] = []
        var changeCount = 0
    }

    private mutating func extend(_ open: inout OpenSegment, _ change: Change, _ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let view = try? ChangeView(&reader) else { preconditionFailure("a change we wrote reads back") }
        if open.changeCount == 0 { open.context = change.context }
        open.bytes += bytes
        open.changeCount += 1
        tip = ReplicaTip(next: view.end, head: tip.head.appending(view.digest(in: bytes)), stamp: change.stamp)
    }

    private func close(_ open: inout OpenSegment, _ sign: ([UInt8]) -> [UInt8]) -> VerifiedSegment {
        let message = ChainSignature.message(space: space, replica: replica, end: tip.next, head: tip.head)
        defer { open = OpenSegment(start: tip.next) }
        return VerifiedSegment(
            segment: Segment(
                replica: replica, start: open.start, end: tip.next, bytes: open.bytes, signature: sign(message)),
            context: open.context, changeCount: open.changeCount, tip: tip)
    }
}
