import SyncModel

/// Checks that no change is applied before the changes that its author had seen when writing it.
struct CausalDeliveryChecker: Checker {
    static let name = "causal delivery"

    mutating func committed(node: Int, _ segments: [VerifiedSegment], before: VersionVector) -> String? {
        var held = before
        for verified in segments {
            let segment = verified.segment
            guard held.next(of: segment.replica) == segment.start else {
                return
                    "node \(node) applied \(segment.replica) from \(segment.start), holding \(held.next(of: segment.replica))"
            }
            for entry in verified.context where held.next(of: entry.replica) < entry.next {
                return
                    "node \(node) applied \(segment.replica):\(segment.start) before \(entry.replica):\(entry.next - 1)"
            }
            held.advance(segment.replica, to: segment.end)
        }
        return nil
    }
}
