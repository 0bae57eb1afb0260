package import SyncModel

/// The result of a check of all blobs.
package struct BlobCheck: Hashable, Sendable {
    /// Blobs that were read to their end and are right.
    package var rightCount = 0
    package var rightBytes: UInt64 = 0
    /// Blobs of which a chunk is not what its hash says, or the disk fails to read one, twice. They count as missing now.
    package var damaged: [BlobName] = []
    /// Blobs that could not be looked at, for a reason that says nothing of their bytes: too few descriptors, too little
    /// memory, files that are not ours to read. Nothing about them has changed.
    package var unreadCount = 0

    package init() {}
}
