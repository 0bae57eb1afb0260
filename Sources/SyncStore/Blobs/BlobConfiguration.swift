/// The limits and settings of a `BlobStore`.
package struct BlobConfiguration: Sendable {
    /// Up to so many bytes a blob lies in the database; larger ones are files.
    package var smallBytes = 64 << 10
    /// The greatest number of bytes of small blobs in one transaction: other writers wait a few milliseconds at most.
    package var batchBytes = 1 << 20
    /// All blobs together, those that are only begun with their whole size; nil: as many as the disk holds.
    package var quotaBytes: UInt64?
    /// The free space, in bytes, that a write of a blob must leave: the log needs room more than a picture does. It is
    /// enough for what the database takes beside the bytes of small blobs: each is in its log until a checkpoint, and
    /// behind it.
    package var reserveBytes: UInt64 = 64 << 20
    /// The time for which a blob that no record names is kept, so that undoing a deletion ships nothing.
    package var graceMilliseconds: Int64 = 24 * 3_600_000
    /// The number of chunks after which a partial blob is made durable. It and the time limit bound what a loss of
    /// power costs.
    package var checkpointChunks = 64
    package var checkpointMilliseconds: Int64 = 1_000
    /// The wall clock, milliseconds since 1970.
    package var now: @Sendable () -> Int64
    /// Tells the files of this process from those of an earlier one: random, never the same twice.
    package var run: UInt64
    /// Planted bugs: tests only.
    package var faults: BlobFaults = []

    package init(run: UInt64, now: @escaping @Sendable () -> Int64) {
        self.run = run
        self.now = now
    }
}
