package import SyncModel

/// How much of a blob can be served.
package enum BlobHolding: Hashable, Sendable {
    case nothing
    /// These chunks of it: none as long as nobody has begun to fetch it in this process, whatever is here.
    case chunks(ChunkSet, BlobLayout)
    case all(BlobLayout)
}
