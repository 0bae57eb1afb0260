/// Bounds of the frames of bulk connections.
package enum BulkLimits {
    /// Blobs named in one frame.
    package static let blobsPerFrame = 1_024
    /// Chunks of the greatest blob.
    package static let chunksPerBlob = Int(BlobLayout.sizeLimit) / BlobLayout.chunkBytes
    /// Chunks of one request.
    package static let chunksPerRequest = 64
    /// Chunk hashes in one frame: 256 KiB of them.
    package static let hashesPerFrame = 8_192
    /// A blob that may travel whole.
    package static let smallBytes = 64 << 10
    /// Bytes of blobs in one `SmallBlobs`.
    package static let smallFrameBytes = 256 << 10
    /// Requests open at once, each way.
    package static let openRequests = 64
    /// Blobs that one side wants of the other at once.
    package static let wants = 4_096
}
