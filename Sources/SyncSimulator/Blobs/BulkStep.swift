package import SyncCore
package import SyncModel
package import SyncStore

/// One step of the core that moves bytes, as checkers hear of it.
package struct BulkStep {
    package let node: Int
    package let at: Tick
    package let input: BulkInput
    package let effects: [BulkEffect]
    package let load: BulkLoad
    package let bounds: BulkConfiguration.Bounds
    package let timing: BulkConfiguration.Timing
}

/// What there is of one blob on one node's disk.
package struct BlobLook {
    package enum Occasion: Sendable {
        /// It has just become whole.
        case kept
        /// A process has just opened its disk.
        case started
        /// Before or after a sweep.
        case swept
        /// The world is at rest.
        case ended
        /// Behind that: grace is over for what is not needed, and it was swept.
        case outlived
    }

    package let node: Int
    package let occasion: Occasion
    package let content: BlobContent
    package let status: BlobStatus
    /// Whether its bytes are what was once added, as they lie on the disk; nil: not whole, or nobody looked.
    package let isRight: Bool?
    /// The disk changed something of it.
    package let isRotten: Bool
    package let need: BlobNeed
    /// A policy, a pin or a person wants it here.
    package let isWanted: Bool
    /// The wall clock there, milliseconds since 1970.
    package let wallMilliseconds: Int64
    package let graceMilliseconds: Int64
}

/// What there is of a blob that somebody goes on with.
package struct PartialLook {
    package let node: Int
    package let content: BlobContent
    /// As the store says.
    package let present: ChunkSet
    /// As the file says, each chunk compared.
    package let found: ChunkSet
    package let isRotten: Bool
}
