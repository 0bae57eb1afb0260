/// How much of a blob is here.
package enum BlobStatus: Hashable, Sendable {
    case missing
    /// So many chunks of it, as last made durable.
    case partial(presentChunks: Int, presentBytes: UInt64)
    /// All of it. Every chunk is checked again when it is read.
    case whole
}
