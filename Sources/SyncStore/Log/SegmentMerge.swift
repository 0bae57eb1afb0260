package import SyncModel

/// Joins consecutive stored segments into the few that are shipped, as far as the rules of `Segment` allow: no change behind
/// the first names another replica, and the whole is not over `Limits.segmentBytes`. The last signature vouches for all.
package struct SegmentMerge: Sendable {
    private let byteBudget: Int
    private var finished: [Segment] = []
    private var byteCount = 0

    // The segment being joined; grown in place, for a log written one change at a time has a thousand parts to join.
    private var replica: ReplicaID?
    private var start: UInt64 = 0
    private var end: UInt64 = 0
    private var bytes: [UInt8] = []
    private var signature: [UInt8] = []

    package init(byteBudget: Int) { self.byteBudget = byteBudget }

    /// Takes the next stored segment.
    /// - Returns: false when the budget does not allow it (the first always fits).
    package mutating func add(_ segment: Segment) -> Bool {
        guard byteCount == 0 || byteCount + segment.bytes.count <= byteBudget else { return false }
        byteCount += segment.bytes.count
        if replica == nil || bytes.count + segment.bytes.count > Limits.segmentBytes || !Self.namesNobody(segment) {
            finish()
            (replica, start) = (segment.replica, segment.start)
        }
        bytes += segment.bytes
        (end, signature) = (segment.end, segment.signature)
        return true
    }

    package consuming func joined() -> [Segment] {
        finish()
        return finished
    }

    private mutating func finish() {
        guard let replica else { return }
        finished.append(Segment(replica: replica, start: start, end: end, bytes: bytes, signature: signature))
        self.replica = nil
        bytes = []
    }

    private static func namesNobody(_ segment: Segment) -> Bool {
        var reader = ByteReader(segment.bytes)
        guard let first = try? ChangeView(&reader) else { return false }
        return first.context.isEmpty
    }
}
