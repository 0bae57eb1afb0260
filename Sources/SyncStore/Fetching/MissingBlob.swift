package import SyncModel

/// A blob that a record names, that should be here, and is not here as a whole.
package struct MissingBlob: Hashable, Sendable {
    package let blob: BlobName
    /// The stamp of the newest record that names the blob.
    package let stamp: Stamp
    /// True if room was made for the blob: the hashes of its chunks are stored, and perhaps some chunks.
    package let isBegun: Bool

    package init(blob: BlobName, stamp: Stamp, isBegun: Bool = false) {
        self.blob = blob
        self.stamp = stamp
        self.isBegun = isBegun
    }
}

extension MissingBlob: Comparable {
    /// The order in which they are fetched: small before large, newest first.
    package static func < (left: MissingBlob, right: MissingBlob) -> Bool {
        if left.blob.size != right.blob.size { return left.blob.size < right.blob.size }
        if left.stamp != right.stamp { return left.stamp > right.stamp }
        return left.blob < right.blob
    }
}
