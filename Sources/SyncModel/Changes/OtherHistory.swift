/// A replica, and how far it is held.
package struct KnownReplica: Sendable, Hashable {
    package let replica: ReplicaID
    package let tip: ReplicaTip

    package init(replica: ReplicaID, tip: ReplicaTip) {
        self.replica = replica
        self.tip = tip
    }
}

/// Another history of a replica than the one held here, signed with the same key: the machine that writes it was put back to an
/// earlier moment while it ran, and went on from there (Decisions/24).
package struct OtherHistory: Sendable, Equatable {
    package let replica: ReplicaID
    /// The end from which the other history was read. The local history contains it too.
    package let start: ChainEnd
    /// The ends of the other history after each of its changes from `start` on. They reach at least as far as the local
    /// history, or to the other history's own end.
    package let ends: [ChainEnd]
    /// The other history's last consecutive segments, as many as there was room for. Every signature is checked. None if no device
    /// has it as changes any more: then it comes as state, and of the local history all behind `start` goes.
    package let segments: [Segment]
    /// The end of the other history.
    package let tip: ReplicaTip
    /// The other replicas that the peer holds. Changes among these were not built on the local history.
    package let elsewhere: [KnownReplica]
    /// The changes of this device that other devices hold, as far as is known. Devices that built on them in another history
    /// keep them.
    package let kept: VersionVector

    package init(
        replica: ReplicaID, start: ChainEnd, ends: [ChainEnd], segments: [Segment], tip: ReplicaTip,
        elsewhere: [KnownReplica], kept: VersionVector = VersionVector()
    ) {
        self.kept = kept
        self.elsewhere = elsewhere
        self.replica = replica
        self.start = start
        self.ends = ends
        self.segments = segments
        self.tip = tip
    }
}
