package import SyncModel

/// The progress of a blob that arrives now.
package struct BlobProgress: Hashable, Sendable {
    package let blob: BlobName
    /// The bytes written here; each chunk was checked before.
    package var presentBytes: UInt64
    /// The rate over the last seconds; 0 while nothing comes.
    package var bytesPerSecond: UInt64

    package init(blob: BlobName, presentBytes: UInt64, bytesPerSecond: UInt64) {
        self.blob = blob
        self.presentBytes = presentBytes
        self.bytesPerSecond = bytesPerSecond
    }

    package var totalBytes: UInt64 { blob.size }
}
