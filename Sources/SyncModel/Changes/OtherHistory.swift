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
/// earlier moment while it ran, and went on from there (design: "Incarnations").
package struct OtherHistory: Sendable, Equatable {
    package let replica: ReplicaID
    /// From where on it was walked: ours stands there as well.
    package let start: ChainEnd
    /// Where it stands behind its changes, from there: at least as far as ours goes, or as it goes itself.
    package let ends: [ChainEnd]
    /// Its last segments, one behind the other, every signature checked: as far back as there was room for.
    package let segments: [Segment]
    /// Where it ends.
    package let tip: ReplicaTip
    /// What the one that shows it holds of other histories: what is among it was not built on ours.
    package let elsewhere: [KnownReplica]
    /// What others hold, as far as is known, of what this device wrote: where that built on another device's history, they keep it.
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
