package import SyncModel

/// The progress of a blob that arrives now.
package struct BlobProgress: Hashable, Sendable {
    package let blob: BlobHash
    /// The bytes written here; each chunk was checked before.
    package var presentBytes: UInt64
    package var totalBytes: UInt64
    /// The rate over the last seconds; 0 while nothing comes.
    package var bytesPerSecond: UInt64

    package init(blob: BlobHash, presentBytes: UInt64, totalBytes: UInt64, bytesPerSecond: UInt64) {
        self.blob = blob
        self.presentBytes = presentBytes
        self.totalBytes = totalBytes
        self.bytesPerSecond = bytesPerSecond
    }
}
