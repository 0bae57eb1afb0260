/// The space that blobs take: bytes and counts.
package struct BlobUsage: Hashable, Sendable {
    /// Blobs that are here as a whole.
    package var wholeCount = 0
    package var wholeBytes: UInt64 = 0
    /// Blobs of which some is here, or nothing yet.
    package var partialCount = 0
    /// The total size of the partial blobs once whole.
    package var partialSizeBytes: UInt64 = 0
    /// The bytes of partial blobs stored so far, as last made durable.
    package var partialBytes: UInt64 = 0
    /// The bytes of blobs being added now.
    package var addingBytes: UInt64 = 0

    package init() {}

    /// The bytes that count against the quota: whole blobs, the full size of partial ones, and blobs being added.
    package var claimedBytes: UInt64 { wholeBytes + partialSizeBytes + addingBytes }
}
