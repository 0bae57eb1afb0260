import SyncModel

/// Checks that what a node holds never shrinks, over crashes too; only a user who restores an old disk can do that.
struct VectorChecker: Checker {
    static let name = "vectors never shrink"

    private var greatest: [Int: VersionVector] = [:]

    mutating func committed(node: Int, _ segments: [VerifiedSegment], before: VersionVector) -> String? {
        if let known = greatest[node], !before.covers(known) {
            return "node \(node) held \(known.entries.map(\.next)) and now begins from \(before.entries.map(\.next))"
        }
        var after = before
        for verified in segments { after.advance(verified.segment.replica, to: verified.segment.end) }
        greatest[node] = after
        return nil
    }

    mutating func restored(node: Int, now: VersionVector, elsewhere: VersionVector) -> String? {
        greatest[node] = now
        return nil
    }

    mutating func tookBack(node: Int, device: DeviceID, now: VersionVector) -> String? {
        greatest[node] = now
        return nil
    }

    mutating func stoodStill(_ ending: WorldEnding) -> String? { ended(ending) }

    mutating func ended(_ ending: WorldEnding) -> String? {
        for node in ending.nodes {
            if let known = greatest[node.number], !node.durable.covers(known) {
                return "node \(node.number) ends with less than it held"
            }
        }
        return nil
    }
}
