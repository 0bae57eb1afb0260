package import SyncCore
package import SyncModel
package import SyncStore

/// A property that must hold in every run. Checkers hear what happened; each keeps its own slow, obvious model of it.
package protocol Checker {
    static var name: String { get }

    /// A transaction became durable at a node; `before` is what it held until then.
    mutating func committed(node: Int, _ segments: [VerifiedSegment], before: VersionVector) -> String?
    /// The agent answered a local write.
    mutating func acknowledged(node: Int, _ segments: [VerifiedSegment]) -> String?
    /// The same transaction, by the state digest that it left.
    mutating func committed(node: Int, digest: Sum256) -> String?
    /// Local writes were planned and are durable; `again` opens a copy of the disk as they left it.
    mutating func written(
        node: Int, _ writes: [LocalWrite], _ result: AppendResult, again: () -> SQLiteStore?
    ) -> String?
    /// A node sealed its open changes.
    mutating func sealed(node: Int, before: Sum256, after: Sum256) -> String?
    /// A node has opened its store.
    mutating func started(node: Int, digest: Sum256) -> String?
    /// Every second: nodes that are up, with what their disks hold and show.
    ///
    /// - Parameter readmitted: devices whose work may count on some nodes only, since others have forgotten deletions without them.
    mutating func compared(_ nodes: [ComparedNode], apartFrom readmitted: Set<DeviceID>) -> String?
    /// Called at some moments, and at the end, with everything that a node holds.
    mutating func inspected(_ inspection: Inspection) -> String?
    /// A frame is about to leave a node that durably holds `durable`.
    mutating func sending(node: Int, _ frame: Frame, durable: VersionVector) -> String?
    /// A frame is about to leave a node on a session whose ends both know the features `agreed`; nil: one of them requires what
    /// the other lacks.
    mutating func sending(node: Int, _ frame: Frame, agreed: UInt64?) -> String?
    /// A disk went back to an older state: `now` is what it holds, `elsewhere` what the other disks hold.
    mutating func restored(node: Int, now: VersionVector, elsewhere: VersionVector) -> String?
    /// An honest node took back changes in favour of the other history of a device that wrote two, holds `now`, and writes its own
    /// among them again.
    mutating func tookBack(node: Int, device: DeviceID, now: VersionVector) -> String?
    /// After every step of a node's core.
    mutating func stepped(node: Int, _ core: AgentCore, bounds: CoreConfiguration.Bounds) -> String?
    /// A node's core told people something.
    mutating func reported(node: Int, device: DeviceID, _ report: Report) -> String?
    /// A core that moves bytes begins: nothing is asked for, nothing is under way.
    mutating func bulkStarted(node: Int) -> String?
    /// After every step of such a core.
    mutating func bulkStepped(_ step: BulkStep) -> String?
    /// Called with the state of a blob on a disk.
    mutating func lookedAt(_ look: BlobLook) -> String?
    mutating func lookedAt(_ look: PartialLook) -> String?
    /// A node removed what it does not need: all its blobs, in the same order.
    mutating func swept(before: [BlobLook], after: [BlobLook]) -> String?
    /// The world is at rest: all blobs of all nodes.
    mutating func blobsEnded(_ looks: [BlobLook]) -> String?
    /// The world of thieves is at rest: a member's node.
    mutating func thievesEnded(_ ending: ThievesEnding) -> String?
    /// The world of thieves did not come to rest, and members say so.
    mutating func stoodStill(_ ending: WorldEnding) -> String?
    /// The world has healed and come to rest (or has not in time).
    mutating func ended(_ ending: WorldEnding) -> String?
}

extension Checker {
    package mutating func committed(node: Int, _ segments: [VerifiedSegment], before: VersionVector) -> String? { nil }
    package mutating func committed(node: Int, digest: Sum256) -> String? { nil }
    package mutating func written(
        node: Int, _ writes: [LocalWrite], _ result: AppendResult, again: () -> SQLiteStore?
    ) -> String? { nil }
    package mutating func sealed(node: Int, before: Sum256, after: Sum256) -> String? { nil }
    package mutating func started(node: Int, digest: Sum256) -> String? { nil }
    package mutating func compared(_ nodes: [ComparedNode], apartFrom readmitted: Set<DeviceID>) -> String? {
        nil
    }
    package mutating func inspected(_ inspection: Inspection) -> String? { nil }
    package mutating func reported(node: Int, device: DeviceID, _ report: Report) -> String? { nil }
    package mutating func acknowledged(node: Int, _ segments: [VerifiedSegment]) -> String? { nil }
    package mutating func sending(node: Int, _ frame: Frame, durable: VersionVector) -> String? { nil }
    package mutating func sending(node: Int, _ frame: Frame, agreed: UInt64?) -> String? { nil }
    package mutating func restored(node: Int, now: VersionVector, elsewhere: VersionVector) -> String? { nil }
    package mutating func tookBack(node: Int, device: DeviceID, now: VersionVector) -> String? { nil }
    package mutating func stepped(node: Int, _ core: AgentCore, bounds: CoreConfiguration.Bounds) -> String? { nil }
    package mutating func bulkStarted(node: Int) -> String? { nil }
    package mutating func bulkStepped(_ step: BulkStep) -> String? { nil }
    package mutating func lookedAt(_ look: BlobLook) -> String? { nil }
    package mutating func lookedAt(_ look: PartialLook) -> String? { nil }
    package mutating func swept(before: [BlobLook], after: [BlobLook]) -> String? { nil }
    package mutating func blobsEnded(_ looks: [BlobLook]) -> String? { nil }
    package mutating func thievesEnded(_ ending: ThievesEnding) -> String? { nil }
    package mutating func stoodStill(_ ending: WorldEnding) -> String? { nil }
    package mutating func ended(_ ending: WorldEnding) -> String? { nil }
}

/// A look at what a node holds while nothing moves.
package struct Inspection {
    package let node: Int
    package let store: SQLiteStore
    /// The digest that the node kept at the moment of the inspection.
    package let digest: Sum256
    /// With everything that takes time. Of nodes that hold the same, one is looked at thoroughly.
    package let isThorough: Bool
    /// The world is at rest.
    package let isLast: Bool
    /// The log's operations on objects; only in a thorough inspection.
    package let ledger: ObjectLedger?
    /// The changes written before those that the node holds; nil if every node holds all.
    package let past: WrittenChanges?
    /// Something that it holds came as state.
    package let hasTakenState: Bool
    /// True if the node may hold the end of one history of a replica behind the beginning of another one: neither ledger nor past, then.
    package let mayMix: Bool
    package let leftOpen: OpenObjects
    /// Devices without which deletions may have been forgotten.
    package let readmitted: Set<DeviceID>
}

/// The stored and visible state of a node that is up.
package struct ComparedNode {
    package let number: Int
    package let store: SQLiteStore
    package let holds: VersionVector
    /// The heads of the chains, in the order of `holds`.
    package let heads: [ChainHead]
    /// The node's knowledge of roles: statements of the recovery key may have come apart from all changes.
    package let trust: TrustTable
    package let digest: Sum256
}

/// The state at the end of a run.
package struct WorldEnding: Sendable {
    package var nodes: [Node]
    /// Simulated time from the heal until all were in step; nil if they never were.
    package var healedAfterNanoseconds: Int64?
    /// True where nodes that hold two histories as states ask each other for changes that none has.
    package var isAsking = false

    package struct Node: Sendable {
        package var number: Int
        package var durable: VersionVector
        package var vectorDigest: Sum256
        package var stateDigest: Sum256
        package var recomputedDigest: Sum256
        package var isInStep: Bool
        package var connected: Int
        /// Counted as handed to the network and not yet written.
        package var bufferedBytes: Int
    }
}
