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

    /// Whether these operations may be one change: at least one, and within the limits of `Operation` and `Change`.
    package static func canAuthor(_ operations: [Operation]) -> Bool {
        var body: [UInt8] = []
        var count: UInt64 = 0
        for operation in operations {
            guard operation.span > 0, operation.span <= Limits.operationsPerChange - count else { return false }
            count += operation.span
            operation.append(to: &body)
            guard body.count <= Limits.operationsBytes else { return false }
        }
        return count > 0
    }

    /// Authors one change per element of `groups`, each one that `canAuthor` allows, as segments ready to store.
    ///
    /// A context names at most `Limits.contextEntries` replicas; the rest, after an author met thousands at once, is
    /// named by its next changes.
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
        var unnamed = held.entries(beyond: named).filter { $0.replica != replica }[...]
        let wall = min(max(wallMilliseconds, -Limits.wallMilliseconds), Limits.wallMilliseconds)
        for operations in groups {
            guard let stamp = Stamp.next(after: greatest, wallMilliseconds: wall) else { return nil }
            let moved = Array(unnamed.prefix(Limits.contextEntries))
            unnamed = unnamed.dropFirst(moved.count)
            let change = Change(
                start: author.tip.next, stamp: stamp, wallMilliseconds: wall, context: moved, operations: operations)
            let bytes = change.encoded
            if open.changeCount > 0, !moved.isEmpty || open.bytes.count + bytes.count > Limits.segmentBytes {
                segments.append(author.close(&open, sign))
            }
            author.extend(&open, change, bytes)
            if !moved.isEmpty { author.named.join(VersionVector(moved)) }
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
