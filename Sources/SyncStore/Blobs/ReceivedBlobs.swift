package import SyncModel

/// The outcome for small blobs that a peer sent.
package struct ReceivedBlobs: Hashable, Sendable {
    /// Here, and durable.
    package var right: [BlobName] = []
    /// The bytes were of another blob, or too many: who sent them is mistaken, or lies.
    package var wrong: [BlobName] = []

    package init() {}
}
