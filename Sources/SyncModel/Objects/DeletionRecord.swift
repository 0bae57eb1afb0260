/// A DeletedObject as a node keeps it until it is stable.
package struct DeletionRecord: Hashable, Sendable {
    /// What one replica did to an object that a `deleteWins` deletion had ended without its knowledge.
    package struct Edited: Hashable, Sendable {
        package let replica: ReplicaID
        package var count: UInt64
        /// The author's wall clock at the last of them; for display only.
        package var lastWallMilliseconds: Int64
    }

    package let dot: Dot
    package let stamp: Stamp
    package let policy: DeletePolicy
    /// The author's wall clock; for display only.
    package let wallMilliseconds: Int64
    /// The deletions of this object that its author knew. Sorted.
    package let known: [Dot]
    /// The devices that its author knew as members, its own left out. Sorted. Births of others that it did not know
    /// may still arrive: it ends those of these devices only.
    package let members: [DeviceID]
    /// The decisions to keep that knew it. Sorted.
    package var keeps: [Dot]
    /// The births of the lives it ended finally; only of `deleteWins`. Sorted.
    package var ended: [Dot]
    /// Dropped edits by replica, sorted; only of `deleteWins`.
    package var edited: [Edited]

    package init(
        dot: Dot, stamp: Stamp, policy: DeletePolicy, wallMilliseconds: Int64, known: [Dot], members: [DeviceID],
        keeps: [Dot] = [], ended: [Dot] = [], edited: [Edited] = []
    ) {
        self.dot = dot
        self.stamp = stamp
        self.policy = policy
        self.wallMilliseconds = wallMilliseconds
        self.known = known
        self.members = members
        self.keeps = keeps
        self.ended = ended
        self.edited = edited
    }

    /// Whether it ends a life of that device whose birth it did not know and that did not know it.
    func endsConcurrentWork(of device: DeviceID) -> Bool { dot.replica.device == device || members.contains(device) }

    mutating func count(_ replica: ReplicaID, wallMilliseconds: Int64) {
        let index = edited.firstIndex { !($0.replica < replica) } ?? edited.count
        if index < edited.count, edited[index].replica == replica {
            edited[index].count += 1
            edited[index].lastWallMilliseconds = max(edited[index].lastWallMilliseconds, wallMilliseconds)
        } else {
            edited.insert(Edited(replica: replica, count: 1, lastWallMilliseconds: wallMilliseconds), at: index)
        }
    }
}
