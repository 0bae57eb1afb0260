import SyncModel

/// Checks that every write a node acknowledged is on every node in the end, unless all disks that held it went back in time.
struct AcknowledgedWriteChecker: Checker {
    static let name = "acknowledged writes"

    private struct Write {
        let replica: ReplicaID
        let start: UInt64
        let end: UInt64
        let node: Int
    }

    private var writes: [Write] = []

    mutating func acknowledged(node: Int, _ segments: [VerifiedSegment]) -> String? {
        for verified in segments {
            let segment = verified.segment
            writes.append(Write(replica: segment.replica, start: segment.start, end: segment.end, node: node))
        }
        return nil
    }

    /// A person put an old backup back: what only that disk held is gone by their hand.
    mutating func restored(node: Int, now: VersionVector, elsewhere: VersionVector) -> String? {
        writes.removeAll { write in
            max(now.next(of: write.replica), elsewhere.next(of: write.replica)) < write.end
        }
        return nil
    }

    /// Takes out what the node writes again under other dots: `AbsentAuthorTests` looks at the contents of such work.
    mutating func tookBack(node: Int, device: DeviceID, now: VersionVector) -> String? {
        writes.removeAll { $0.replica.device == device && now.next(of: $0.replica) < $0.end }
        return nil
    }

    mutating func stoodStill(_ ending: WorldEnding) -> String? {
        for write in writes where ending.nodes.allSatisfy({ $0.durable.next(of: write.replica) < write.end }) {
            return "\(write.replica) \(write.start)..<\(write.end), acknowledged by node \(write.node), is on no member"
        }
        return nil
    }

    mutating func ended(_ ending: WorldEnding) -> String? {
        for write in writes {
            for node in ending.nodes where node.durable.next(of: write.replica) < write.end {
                return "\(write.replica) \(write.start)..<\(write.end), acknowledged by node \(write.node), "
                    + "is not on node \(node.number)"
            }
        }
        return nil
    }
}
