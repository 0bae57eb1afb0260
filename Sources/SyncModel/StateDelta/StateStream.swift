import Crypto

/// A state delta in transit, at either end: its items in order, and the digest over all of them.
///
/// The sender calls `write` for each item and closes with `end`; the receiver calls `read` for each. From a stream that is
/// cut short, out of order or forged, a receiver takes no more than staged items. Only the closing item, when it fits all
/// before it, says that they are complete.
package struct StateStream: Sendable {
    private var hasher = SHA256()
    /// Written, and as far as the last check.
    private var byteCount = 0
    private var checkedBytes = 0
    private var last: StateItem?
    /// The operations that the items so far claim were written.
    private var claimed = VersionVector()
    private var tips: [StateTip] = []
    /// The sender's vector, once the stream is closed.
    package private(set) var vector: VersionVector?

    package init() {}

    // Sending

    /// The item as it is sent.
    package mutating func write(_ item: StateItem) -> [UInt8] {
        let bytes = item.canonicalBytes
        hasher.update(data: bytes)
        byteCount += bytes.count
        return bytes
    }

    /// The check that is due here, if one is: of a stream that ends early a quarter is lost at most, and no more than 256 KiB
    /// beside the item that is under way.
    package mutating func checkIfDue() -> StateItem? {
        guard byteCount - checkedBytes >= min(max(byteCount / 4, 512), 256 << 10) else { return nil }
        checkedBytes = byteCount
        return .check(StateCheck(digest: Array(hasher.finalize())))
    }

    /// The item that closes the stream.
    package func end(vector: VersionVector) -> StateItem {
        .end(StateEnd(vector: vector, digest: Array(hasher.finalize())))
    }

    // Receiving

    /// Reads one item of exactly these bytes.
    package mutating func read(_ bytes: [UInt8]) throws(StateDeltaError) -> StateItem {
        var reader = ByteReader(bytes)
        let item: StateItem
        do throws(CodecError) {
            item = try StateItem(reading: &reader)
            guard reader.isAtEnd else { throw .trailingBytes }
        } catch { throw .malformed(error) }
        guard vector == nil else { throw .outOfOrder }
        if case .check(let check) = item {
            guard check.digest == Array(hasher.finalize()) else { throw .wrongDigest }
            hasher.update(data: bytes)
            return item
        }
        guard follows(item) else { throw .outOfOrder }
        if case .end(let end) = item {
            if let refusal = refusal(of: end) { throw refusal }
            vector = end.vector
            return item
        }
        claim(item)
        hasher.update(data: bytes)
        last = item
        return item
    }

    private func refusal(of end: StateEnd) -> StateDeltaError? {
        guard end.digest == Array(hasher.finalize()) else { return .wrongDigest }
        let isHeld = tips.allSatisfy { end.vector.next(of: $0.replica) == $0.tip.next }
        return isHeld && end.vector.covers(claimed) ? nil : .beyondVector
    }

    private mutating func claim(_ item: StateItem) {
        switch item {
        case .fact(let fact): claimed.advance(fact.dot.replica, to: fact.dot.counter + 1)
        case .stream(let stream): claimed.advance(stream.key.dot.replica, to: stream.key.dot.counter + 1)
        case .dropped(let dropped): claimed.join(dropped.events.vector)
        case .object(let object):
            claimed.join(object.delta.lives.touched)
            for life in object.delta.lives.lives { claimed.advance(life.birth.replica, to: life.birth.counter + 1) }
            for deletion in object.delta.lives.deletions {
                claimed.advance(deletion.dot.replica, to: deletion.dot.counter + 1)
            }
        case .events(let events):
            claimed.advance(events.replica, to: events.end)
            claimed.join(VersionVector(events.context))
        case .births(let births): claimed.advance(births.replica, to: births.runs.last?.upperBound ?? 0)
        case .tip(let tip):
            claimed.join(tip.named)
            tips.append(tip)
        case .cuts, .schema, .announcement, .end, .check: break
        }
    }

    private func follows(_ item: StateItem) -> Bool {
        guard let last else {
            if case .object = item { return false }
            return true
        }
        switch (last, item) {
        case (.fact(let one), .fact(let next)): return one.dot < next.dot
        case (.schema(let one), .schema(let next)): return one.collection < next.collection
        case (.stream(let one), .stream(let next)): return one.setting.stream < next.setting.stream
        case (.dropped(let one), .dropped(let next)): return one.stream < next.stream
        case (.announcement, .announcement), (.announcement, .object), (.object, .announcement): return true
        case (.events(let one), .events(let next)):
            if one.replica == next.replica { return one.end <= next.start && one.lastStamp < next.firstStamp }
            return one.replica < next.replica
        case (.births(let one), .births(let next)):
            if one.replica == next.replica {
                return (one.runs.last?.upperBound ?? 0) < (next.runs.first?.lowerBound ?? 0)
            }
            return one.replica < next.replica
        case (.tip(let one), .tip(let next)): return one.replica < next.replica
        case (_, .object): return false
        case (_, _): return last.kind < item.kind
        }
    }
}

/// The reason why a state delta is refused. Each but `fork` is an offence of the peer that sent it.
package enum StateDeltaError: Error, Hashable, Sendable {
    /// The bytes are no item, or another form of one.
    case malformed(CodecError)
    /// An item that may not come there.
    case outOfOrder
    /// The closing item does not fit what came before it: something was left out, changed or moved.
    case wrongDigest
    /// The item claims operations that the sender's own vector does not cover.
    case beyondVector
    /// The item's part of an object and the held part do not make a readable object.
    case brokenObject
    /// The item belongs to another history of a replica than the one that is held.
    case fork
    /// The stamp cannot be reached by an author that follows the rules.
    case unreachableStamp
    /// The history's author was never admitted, or may only read.
    case unknownAuthor
    /// A history that its author has not signed as it is said to stand.
    case badSignature
    /// An object was announced, and neither sent nor staged before; or the stream was not closed.
    case incomplete

    /// Stable; said in `Goodbye`, logs and `why`.
    package var code: String {
        switch self {
        case .malformed: "state_malformed"
        case .outOfOrder: "state_out_of_order"
        case .wrongDigest: "state_wrong_digest"
        case .beyondVector: "state_beyond_vector"
        case .brokenObject: "state_broken_object"
        case .fork: "state_fork"
        case .unreachableStamp: "state_unreachable_stamp"
        case .unknownAuthor: "state_unknown_author"
        case .badSignature: "state_bad_signature"
        case .incomplete: "state_incomplete"
        }
    }
}
