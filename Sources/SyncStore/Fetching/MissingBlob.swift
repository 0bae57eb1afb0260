package import SyncModel

/// A blob that a record names, that should be here, and is not here as a whole.
package struct MissingBlob: Hashable, Sendable {
    package let blob: BlobHash
    /// The size in bytes, as stated by the oldest record that names the blob: its author had the bytes, unless it is faulty.
    /// If records state different sizes, all but one are wrong, because the size is part of what the hash covers.
    package let size: UInt64
    /// The stamp of the newest record that names the blob.
    package let stamp: Stamp
    /// The greatest size at which the blob is fetched without a request, in bytes, should the records be wrong. It follows
    /// from the policy; nil if the policy has no limit or the blob is pinned.
    package let sizeLimit: UInt64?
    /// True if room was made for the blob: the hashes of its chunks are stored, and perhaps some chunks.
    package let isBegun: Bool

    package init(
        blob: BlobHash, size: UInt64, stamp: Stamp, sizeLimit: UInt64? = nil, isBegun: Bool = false
    ) {
        self.blob = blob
        self.size = size
        self.stamp = stamp
        self.sizeLimit = sizeLimit
        self.isBegun = isBegun
    }
}

extension MissingBlob: Comparable {
    /// The order in which they are fetched: small before large, newest first.
    package static func < (left: MissingBlob, right: MissingBlob) -> Bool {
        if left.size != right.size { return left.size < right.size }
        if left.stamp != right.stamp { return left.stamp > right.stamp }
        return left.blob < right.blob
    }
}
