package import SyncModel

/// The part of a blob that can be served.
package enum BlobHolding: Hashable, Sendable {
    case nothing
    /// These chunks of the blob. The set is empty until a fetch of the blob has begun in this process, even if chunks
    /// are stored.
    case chunks(ChunkSet)
    case all
}
