package import SyncModel

/// The state found at a start.
package struct StoreState: Sendable, Equatable {
    /// Sorted by replica.
    package var tips: [KnownReplica]
    /// Every add-fact held, in arrival order.
    package var additions: [Membership.Addition]
    package var digest: Sum256
    package var counts: StoreCounts
    /// The replica the next append writes under, if the lease allows to go on with one.
    package var ownReplica: ReplicaID?
    package var addresses: [PeerAddress]
    /// Arrival number of the newest event, 0 before the first.
    package var lastPosition: Int64
    /// The newest of each member, sorted by device.
    package var acknowledgements: [SignedAcknowledgement]
    /// The join of the vectors at which this store collected.
    package var floor: VersionVector
    /// Per replica the counter from which on changes are held and can be served; not in it where all are.
    package var firstHeld: VersionVector
    package var cuts: CutTable
    /// See `LogState`.
    package var isIncomplete: Bool
    /// Our replicas of which another history than ours is taken back on every device.
    package var settled: [ReplicaID]
    /// The ends of our changes that were taken back to be done again.
    package var gaveWay: [ReplicaID: Set<ChainEnd>]
    /// Histories of which the rest is here, and waits for what its author had seen: where they end. Nothing of them is asked of
    /// others meanwhile.
    package var awaited: [KnownReplica]
    /// Work of this device was taken back, and is to be done again.
    package var hasTakenBack: Bool
    /// Devices that this node has nothing to do with, sorted.
    package var blocked: [DeviceID]
    /// See `LogState`.
    package var founder: DeviceID?

    package init(
        tips: [KnownReplica], additions: [Membership.Addition], digest: Sum256, counts: StoreCounts,
        ownReplica: ReplicaID?, addresses: [PeerAddress], lastPosition: Int64,
        acknowledgements: [SignedAcknowledgement] = [], floor: VersionVector = VersionVector(),
        firstHeld: VersionVector = VersionVector(), cuts: CutTable = CutTable(),
        isIncomplete: Bool = false, settled: [ReplicaID] = [], gaveWay: [ReplicaID: Set<ChainEnd>] = [:],
        awaited: [KnownReplica] = [],
        hasTakenBack: Bool = false, blocked: [DeviceID] = [], founder: DeviceID? = nil
    ) {
        self.settled = settled
        self.gaveWay = gaveWay
        self.awaited = awaited
        self.hasTakenBack = hasTakenBack
        self.blocked = blocked
        self.founder = founder
        self.tips = tips
        self.additions = additions
        self.digest = digest
        self.counts = counts
        self.ownReplica = ownReplica
        self.addresses = addresses
        self.lastPosition = lastPosition
        self.acknowledgements = acknowledgements
        self.floor = floor
        self.firstHeld = firstHeld
        self.cuts = cuts
        self.isIncomplete = isIncomplete
    }
}

package struct StoreCounts: Sendable, Hashable {
    /// The number of changes in the log; changes dropped from it are counted below.
    package var changes: Int64
    package var events: Int64
    /// Live ones.
    package var objects: Int64
    /// Ids whose deletion is kept and holds.
    package var deletedObjects: Int64
    /// The number of attachments that a reader sees.
    package var attachments: Int64
    /// Operations that came for a life that was collected, or never was: dropped.
    package var lateOperations: Int64
    /// Changes that compaction dropped.
    package var droppedChanges: Int64 = 0

    package init(
        changes: Int64, events: Int64, objects: Int64 = 0, deletedObjects: Int64 = 0, attachments: Int64 = 0,
        lateOperations: Int64 = 0
    ) {
        self.changes = changes
        self.events = events
        self.objects = objects
        self.deletedObjects = deletedObjects
        self.attachments = attachments
        self.lateOperations = lateOperations
    }
}
