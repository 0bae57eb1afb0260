package import SyncModel

/// A blob that a record names, that should be here, and is not here as a whole.
package struct MissingBlob: Hashable, Sendable {
    package let blob: BlobHash
    /// In bytes, as the oldest record says that names it: whoever wrote that one had the bytes, unless it is faulty. Of records
    /// that say different sizes all but one are wrong, because the size is part of what the hash covers.
    package let size: UInt64
    /// Of the newest record that names it.
    package let stamp: Stamp
    /// How large it may be to be fetched unasked, in bytes, should the records be wrong: by the policy; nil: as large as it
    /// is, by the policy or because it is pinned.
    package let sizeLimit: UInt64?
    /// Whether room was made for it: the hashes of its chunks are here, and perhaps some of them.
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
