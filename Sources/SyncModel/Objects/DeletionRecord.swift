/// A DeletedObject as a node keeps it until it is stable.
package struct DeletionRecord: Hashable, Sendable {
    /// The operations of one replica on an object that a `deleteWins` deletion had ended without the replica's knowledge.
    package struct Edited: Hashable, Sendable {
        /// The maximum of a count. No replica makes more edits; counts that peers claim add up without overflow.
        static let countLimit: UInt64 = 1 << 32

        /// The mark, in place of a count, of a deletion that was not applied again, because others had changed the object
        /// meanwhile. It stands in the list of this node alone.
        package static let deletionCount: UInt64 = 1 << 33

        package let replica: ReplicaID
        package var count: UInt64
        /// The author's wall clock at the last of them; for display only.
        package var lastWallMilliseconds: Int64

        package init(replica: ReplicaID, count: UInt64, lastWallMilliseconds: Int64) {
            self.replica = replica
            self.count = count
            self.lastWallMilliseconds = lastWallMilliseconds
        }

        package var isDeletion: Bool { count == Self.deletionCount }
    }

    package let dot: Dot
    package let stamp: Stamp
    package let policy: DeletePolicy
    /// The author's wall clock; for display only.
    package let wallMilliseconds: Int64
    /// The deletions of this object that its author knew.
    package let known: KnownDots
    /// The births of this object that its author knew, of devices that had let it in.
    package let births: KnownDots
    /// The devices that its author knew as members and that had let it in (`MemberFacts.admits`). Sorted.
    /// Births of others that it did not know may still arrive: it ends those of these devices only.
    package let members: [DeviceID]
    /// The decisions to keep that knew it. Sorted.
    package var keeps: [Dot]
    /// The births of the lives it ended finally; only of `deleteWins`. Sorted.
    package var ended: [Dot]
    /// Dropped edits by replica, sorted; only of `deleteWins`.
    package var edited: [Edited]

    package init(
        dot: Dot, stamp: Stamp, policy: DeletePolicy, wallMilliseconds: Int64, known: KnownDots, births: KnownDots,
        members: [DeviceID],
        keeps: [Dot] = [], ended: [Dot] = [], edited: [Edited] = []
    ) {
        self.dot = dot
        self.stamp = stamp
        self.policy = policy
        self.wallMilliseconds = wallMilliseconds
        self.known = known
        self.births = births
        self.members = members
        self.keeps = keeps
        self.ended = ended
        self.edited = edited
    }

    /// True if the deletion ends a life: one whose birth its author knew. It also ends a life begun on a device that its
    /// author knew as a member, if the birth's author did not know the deletion either.
    ///
    /// - Parameter known: The deletions that the birth's author knew.
    func ends(_ birth: Dot, known: KnownDots) -> Bool {
        if births.covers(birth) { return true }
        guard dot.replica.device == birth.replica.device || members.contains(birth.replica.device) else { return false }
        return !known.covers(dot)
    }

    func ends(_ life: LifeRecord) -> Bool { ends(life.birth, known: life.known) }

    mutating func count(_ replica: ReplicaID, wallMilliseconds: Int64) {
        edited.count(replica, wallMilliseconds: wallMilliseconds)
    }
}

extension [DeletionRecord.Edited] {
    /// Adds one edit to the replica's count; sorted by replica.
    package mutating func count(_ replica: ReplicaID, wallMilliseconds: Int64) {
        // Deletions stand behind.
        let index = firstIndex { $0.isDeletion || !($0.replica < replica) } ?? count
        if index < count, self[index].replica == replica, !self[index].isDeletion {
            self[index].count = Swift.min(self[index].count + 1, Element.countLimit)
            self[index].lastWallMilliseconds = Swift.max(self[index].lastWallMilliseconds, wallMilliseconds)
        } else {
            insert(
                DeletionRecord.Edited(replica: replica, count: 1, lastWallMilliseconds: wallMilliseconds), at: index)
        }
    }
}
