/// The place and settings of a `SQLiteStore`.
package struct SQLiteConfiguration: Sendable {
    /// Made (0700) when it is not there.
    package var directory: String
    /// Nil where nothing is forgotten at a reboot: every start then begins a new incarnation.
    package var leases: (any LeaseKeeper)?
    /// The milliseconds by which the wall clock is ahead of the time since the machine's start. A clock that is set changes it.
    package var clockAhead: @Sendable () -> Int64 = { 0 }
    /// Writes are refused while the file system has less than this free: twice what a checkpoint of a full write-ahead
    /// log moves, so that what was acknowledged can always be brought into the database.
    package var reserveBytes: Int64 = 8 << 20
    /// The write-ahead log is brought into the database when it has grown by this many pages of 4 KiB.
    package var checkpointPages = 1000
    /// Read-only connections; each costs about half a MiB of page cache.
    package var readerCount = 2
    /// An object whose state has so many bytes is kept as a snapshot and the edits since.
    package var largeStateBytes = 8 << 10
    /// Tests only: the name of a registered SQLite VFS.
    package var virtualFileSystem: String?
    package var schema = Schema.current
    /// The version of the program, which the store remembers for older programs to name; nil: it remembers none.
    package var program: String?
    /// True if a store of an older program may be opened with its tables as they were, for readers, where they take long to
    /// fill. The caller then calls `finishUpgrade` before anything is written.
    package var readsBeforeUpgraded = false
    /// Tells how far the upgrade of an older program's store is; called on the thread that opens it. By then the store is locked.
    package var upgrading: (@Sendable (StoreUpgrade) -> Void)?

    package init(directory: String, leases: (any LeaseKeeper)?) {
        self.directory = directory
        self.leases = leases
    }
}
