package import SyncModel

/// A blob that was added, durable and readable, and not attached to anything yet.
package struct UploadedBlob: Hashable, Sendable {
    /// The length of the kept beginning: enough for `MediaType` and `ImageSize`.
    static let headBytes = 64 << 10

    package let name: BlobName
    /// The first bytes, at most 64 KiB.
    package let head: [UInt8]

    package init(name: BlobName, head: [UInt8]) {
        self.name = name
        self.head = head
    }
}
