/// The unit in which the log is stored, shipped and applied: consecutive changes of one replica between two signatures.
///
/// Only the first change of a segment may name other replicas in its context. So a segment waits for what its first
/// change waits for and then applies whole; if later changes could wait too, two histories that refer to each other
/// could hold each other up for ever. At most `Limits.segmentBytes` unless it is one larger change.
package struct Segment: Hashable, Sendable {
    package let replica: ReplicaID
    package let start: UInt64
    package let end: UInt64
    /// Canonical bytes of the changes, one behind the other.
    package let bytes: [UInt8]
    /// The author's signature at `end`.
    package let signature: [UInt8]

    package init(replica: ReplicaID, start: UInt64, end: UInt64, bytes: [UInt8], signature: [UInt8]) {
        self.replica = replica
        self.start = start
        self.end = end
        self.bytes = bytes
        self.signature = signature
    }
}

/// A segment whose form, chain and signature were checked against the tip before it.
package struct VerifiedSegment: Hashable, Sendable {
    package let segment: Segment
    /// The context of the first change: everything that the segment waits for.
    package let context: [VersionVector.Entry]
    package let changeCount: Int
    /// The replica's tip once the segment is applied.
    package let tip: ReplicaTip

    /// True if the segment holds the first change of its replica, so that its context is that change's (`FirstContexts`).
    package var isBeginning: Bool { segment.start == 0 && changeCount > 0 }

    /// The same where the chain is known to stand at that head behind it.
    package func with(_ head: ChainHead) -> VerifiedSegment {
        VerifiedSegment(
            segment: segment, context: context, changeCount: changeCount,
            tip: ReplicaTip(next: tip.next, head: head, stamp: tip.stamp))
    }

    package init(segment: Segment, context: [VersionVector.Entry], changeCount: Int, tip: ReplicaTip) {
        self.segment = segment
        self.context = context
        self.changeCount = changeCount
        self.tip = tip
    }

    /// True if a node that holds the segment's context and no stamp greater than `greatestHeld` may apply it. The stamps
    /// behind the first are checked with the segment.
    package func isReachable(from greatestHeld: Stamp) -> Bool {
        var reader = ByteReader(segment.bytes)
        guard let first = try? ChangeView(&reader) else { return false }
        return first.stamp.isReachable(from: greatestHeld)
    }
}

/// The reason why a segment is refused. Each is an offence of the peer that sent it: honest relays check before they forward.
package enum SegmentError: Error, Equatable, Sendable {
    case codec(CodecError)
    /// The segment does not begin at the tip, its changes leave a gap, or it does not end where it says.
    case notConsecutive
    /// A change behind the first names other replicas, or the author names itself.
    case misplacedContext
    /// A stamp is not greater than the one before it in the same replica.
    case stampNotIncreasing
    /// The chain's head does not carry the author's signature, or a statement on roles in it does not.
    case badSignature

    /// The stable name of the error: peers are told it, and it stands in logs.
    package var code: String {
        switch self {
        case .codec(.truncated): "truncated"
        case .codec(.varintNotShortest): "varint_not_shortest"
        case .codec(.outOfRange(let field)): "out_of_range_\(field)"
        case .codec(.unknownVersion): "unknown_version"
        case .codec(.trailingBytes): "trailing_bytes"
        case .notConsecutive: "not_consecutive"
        case .misplacedContext: "misplaced_context"
        case .stampNotIncreasing: "stamp_not_increasing"
        case .badSignature: "bad_signature"
        }
    }
}

extension Segment {
    /// Checks everything that can be checked without other replicas, from `tip` on. Bytes come from peers: never traps.
    package func verified(from tip: ReplicaTip, space: SpaceID, signingKey: [UInt8]) throws(SegmentError)
        -> VerifiedSegment
    {
        let walk = try walked(from: tip)
        guard
            ChainSignature.isValid(
                signature, space: space, replica: replica, end: end, head: walk.tip.head, signingKey: signingKey)
        else { throw .badSignature }
        guard statementsAreSigned(by: signingKey, in: space) else { throw .badSignature }
        return walk
    }

    /// The same without the signature: for bytes of our own store.
    package func walked(from tip: ReplicaTip) throws(SegmentError) -> VerifiedSegment {
        guard start == tip.next else { throw .notConsecutive }
        var reader = ByteReader(bytes)
        var next = start
        var head = tip.head
        var stamp = tip.stamp
        var context: [VersionVector.Entry] = []
        var changeCount = 0
        while !reader.isAtEnd {
            let view: ChangeView
            do { view = try ChangeView(&reader) } catch { throw .codec(error) }
            guard view.start == next else { throw .notConsecutive }
            guard view.stamp > stamp else { throw .stampNotIncreasing }
            if changeCount == 0 {
                context = view.context
                if context.contains(where: { $0.replica == replica }) { throw .misplacedContext }
            } else {
                guard view.context.isEmpty else { throw .misplacedContext }
                guard view.stamp.isReachable(from: stamp) else { throw .codec(.outOfRange(field: "change.stamp")) }
                guard bytes.count <= Limits.segmentBytes else { throw .codec(.outOfRange(field: "segment.data")) }
            }
            head = head.appending(view.digest(in: bytes))
            (next, stamp) = (view.end, view.stamp)
            changeCount += 1
        }
        guard changeCount > 0, next == end else { throw .notConsecutive }
        return VerifiedSegment(
            segment: self, context: context, changeCount: changeCount,
            tip: ReplicaTip(next: next, head: head, stamp: stamp))
    }

    /// The part that begins at counter `from`, which must be where a change begins; nil otherwise.
    package func suffix(from counter: UInt64) -> Segment? {
        guard let suffix = suffix(covering: counter), suffix.start == counter else { return nil }
        return suffix
    }

    /// The part from the change on that operation `counter` belongs to; nil if none does.
    package func suffix(covering counter: UInt64) -> Segment? {
        if counter == start { return self }
        guard counter > start else { return nil }
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            let position = reader.position
            guard let view = try? ChangeView(&reader) else { return nil }
            if counter >= view.start, counter - view.start < view.count {
                return Segment(
                    replica: replica, start: view.start, end: end, bytes: Array(bytes[position...]),
                    signature: signature)
            }
        }
        return nil
    }
}
