/// The result of a sweep.
package struct BlobSweep: Hashable, Sendable {
    /// Blobs that no record names, whole and partial.
    package var blobCount = 0
    package var blobBytes: UInt64 = 0
    /// Files that no row speaks of: of an end without warning, or of an addition that failed.
    package var strayCount = 0
    package var strayBytes: UInt64 = 0

    /// The number of bytes by which the database's file is smaller, bytes of small blobs included. Only `compact` gives
    /// them back.
    package var databaseBytes: UInt64 = 0

    package init() {}

    package var freedBytes: UInt64 { blobBytes + strayBytes }
}
