package import SyncModel

/// What a look at all blobs found.
package struct BlobCheck: Hashable, Sendable {
    /// Blobs that were read to their end and are right.
    package var rightCount = 0
    package var rightBytes: UInt64 = 0
    /// Blobs of which a chunk is not what its hash says, or cannot be read. They count as missing now.
    package var damaged: [BlobHash] = []

    package init() {}
}
