import SyncModel

/// Checks that no counter is used twice: wherever a replica's history is seen, it is the same history.
struct SingleHistoryChecker: Checker {
    static let name = "no counter reused"

    /// Devices that write two histories under one name.
    private let forkers: Set<DeviceID>
    /// The vectors of the disks that were put back: there the histories of such devices part.
    private var putBack: [VersionVector] = []
    /// The digest of the change that begins at a dot, as first seen anywhere.
    private var seen: [Dot: [UInt8]] = [:]

    init(forkers: Set<DeviceID>) { self.forkers = forkers }

    mutating func committed(node: Int, _ segments: [VerifiedSegment], before: VersionVector) -> String? {
        for verified in segments {
            let segment = verified.segment
            var reader = ByteReader(segment.bytes)
            while !reader.isAtEnd {
                guard let view = try? ChangeView(&reader) else { return "node \(node) stored bytes that are no change" }
                let dot = Dot(replica: segment.replica, counter: view.start)
                if forkers.contains(dot.replica.device), putBack.contains(where: { !$0.covers(dot) }) { continue }
                let digest = Array(view.digest(in: segment.bytes))
                if let other = seen.updateValue(digest, forKey: dot), other != digest {
                    return "two changes are called \(dot); node \(node) stored the second"
                }
            }
        }
        return nil
    }

    /// Dots that no disk holds any more were never seen by anybody else: they may be written anew only under a new
    /// incarnation, and the record stays to show it.
    mutating func restored(node: Int, now: VersionVector, elsewhere: VersionVector) -> String? {
        if !forkers.isEmpty { putBack.append(now) }
        return nil
    }
}
