/// The part of a blob that is stored.
package enum BlobStatus: Hashable, Sendable {
    case missing
    /// The number of chunks and their bytes, as last made durable.
    case partial(presentChunks: Int, presentBytes: UInt64)
    /// All of it. Every chunk is checked again when it is read.
    case whole
}
