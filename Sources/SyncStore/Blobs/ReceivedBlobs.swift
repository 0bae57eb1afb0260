package import SyncModel

/// What became of small blobs that somebody sent.
package struct ReceivedBlobs: Hashable, Sendable {
    /// Here, and durable.
    package var right: [BlobHash] = []
    /// The bytes were of another blob, or too many: who sent them is mistaken, or lies.
    package var wrong: [BlobHash] = []

    package init() {}
}
