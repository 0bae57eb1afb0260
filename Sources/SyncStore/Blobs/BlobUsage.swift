/// What blobs take, in bytes and in numbers.
package struct BlobUsage: Hashable, Sendable {
    /// Blobs that are here as a whole.
    package var wholeCount = 0
    package var wholeBytes: UInt64 = 0
    /// Blobs of which some is here, or nothing yet.
    package var partialCount = 0
    /// What they will have.
    package var partialSizeBytes: UInt64 = 0
    /// What is here of them, as last made durable.
    package var partialBytes: UInt64 = 0
    /// What is being added just now.
    package var addingBytes: UInt64 = 0

    package init() {}

    /// What counts against the quota: what is here, and what was promised room.
    package var claimedBytes: UInt64 { wholeBytes + partialSizeBytes + addingBytes }
}
