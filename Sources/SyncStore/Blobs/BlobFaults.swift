/// Planted bugs: each breaks one rule of how blobs are kept, so that a check can be seen to fail.
/// The shipped value is empty; only tests set others.
package struct BlobFaults: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Accepts a chunk from a peer without checking its hash.
    package static let skipChunkHash = BlobFaults(rawValue: 1 << 0)
    /// The row of a large blob is written before its file is durable under its name.
    package static let rowBeforeFile = BlobFaults(rawValue: 1 << 1)
    /// The sweep does not ask whether a record names the blob.
    package static let sweepReferenced = BlobFaults(rawValue: 1 << 2)
    /// Does not look for the chunks of a partial blob after a restart.
    package static let forgetPartials = BlobFaults(rawValue: 1 << 3)
    /// A file gets its name before its bytes are durable.
    package static let skipFileSync = BlobFaults(rawValue: 1 << 4)
    /// The name of a file is not made durable.
    package static let skipFolderSync = BlobFaults(rawValue: 1 << 5)
    /// The sweep removes a file before its row.
    package static let fileBeforeRow = BlobFaults(rawValue: 1 << 6)
    /// Counts the chunks that an earlier process wrote as written, though a sync of them may have failed.
    package static let trustOldPages = BlobFaults(rawValue: 1 << 7)
}
