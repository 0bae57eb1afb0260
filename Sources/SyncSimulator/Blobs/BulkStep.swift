package import SyncCore
package import SyncModel
package import SyncStore

/// A step of the core that moves bytes, as reported to checkers.
package struct BulkStep {
    package let node: Int
    package let at: Tick
    package let input: BulkInput
    package let effects: [BulkEffect]
    package let load: BulkLoad
    package let bounds: BulkConfiguration.Bounds
    package let timing: BulkConfiguration.Timing
}

/// The contents of one blob on one node's disk.
package struct BlobLook {
    package enum Occasion: Sendable {
        /// The blob has just become whole.
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
    /// True if the bytes on the disk are those once added; nil if the blob is not whole, or was not compared.
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

/// The stored part of a blob whose fetch goes on.
package struct PartialLook {
    package let node: Int
    package let content: BlobContent
    /// The chunks present according to the store.
    package let present: ChunkSet
    /// The chunks found in the file, each compared.
    package let found: ChunkSet
    package let isRotten: Bool
}
