import Crypto
import SyncModel

private let replica = ReplicaID(device: DeviceID(subjectPublicKeyInfo: [1]), incarnation: 1)
private let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 2, count: 32))

/// Any bytes as the changes of a segment. What a mutation cannot get right by chance (start, end, chain, signature) is
/// put right here, so that the fuzzer gets behind it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChange(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var reader = ByteReader(bytes)
    var starts: [UInt64] = []
    var end: UInt64 = 0
    while !reader.isAtEnd, let view = try? ChangeView(&reader) {
        check(view, bytes)
        starts.append(view.start)
        end = view.end
    }
    if let first = starts.first, first < end { checkSegment(bytes, starts, first..<end) }
    return 0
}

private func check(_ view: ChangeView, _ bytes: [UInt8]) {
    let change = Change(view, in: bytes)
    precondition(change.encoded == Array(bytes[view.range]), "a change has two forms")
    precondition(change.count == view.count && view.end > view.start)
    view.forEachOperation(in: bytes) { counter, operation in
        precondition(counter >= view.start && counter < view.end)
        guard operation.kind == Operation.Kind.appendEvent, let event = try? EventView(operation.body, in: bytes) else {
            return
        }
        _ = EventItem.digestTerm(
            dot: Dot(replica: replica, counter: counter), stamp: view.stamp, event: event, in: bytes)
    }
}

private func checkSegment(_ bytes: [UInt8], _ starts: [UInt64], _ range: Range<UInt64>) {
    let tip = ReplicaTip(next: range.lowerBound, head: ChainHead(space: .home, replica: replica), stamp: .zero)
    func segment(_ signature: [UInt8]) -> Segment {
        Segment(replica: replica, start: range.lowerBound, end: range.upperBound, bytes: bytes, signature: signature)
    }
    guard let walked = try? segment([]).walked(from: tip), let key else { return }
    _ = walked.isReachable(from: .zero)
    let message = ChainSignature.message(space: .home, replica: replica, end: walked.tip.next, head: walked.tip.head)
    guard let signature = try? key.signature(for: message) else { return }
    let signed = segment(Array(signature))
    let signingKey = Array(key.publicKey.rawRepresentation)
    let verified = try? signed.verified(from: tip, space: .home, signingKey: signingKey)
    precondition(verified?.tip == walked.tip, "what holds does not verify")
    for start in starts { precondition(signed.suffix(from: start)?.end == signed.end, "no suffix at a change's start") }
}
