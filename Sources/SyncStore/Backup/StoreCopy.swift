import Glibc
import SyncModel

/// The database as it was at one moment, in a file of its own that belongs to no store: made for a backup.
///
/// Taken while writes go on: everything before the moment is sealed, everything after it is not in it. It needs the
/// room of the database once more, until it is closed. What only holds for this machine now is not in it: under which
/// replica the store writes (a store that opens the copy begins a new incarnation, whatever leases say), invitations
/// that may still be used, bytes that came of blobs which are not whole, and bytes that neither a record nor void work names.
///
/// Used by one thread at a time.
final class StoreCopy {
    private let files: StoreFiles
    private var connection: Connection?
    private var descriptor: Int32 = -1
    private static let pagesPerStep: Int32 = 256

    /// - Throws: `diskFull` before anything is written where it has no room; `inputOutput`, `corrupt`, `closed`.
    init(of store: SQLiteStore, isStopped: () -> Bool) throws(StoreError) {
        files = store.files
        files.removeBackup()
        let needed = files.byteCount + 2 * store.configuration.reserveBytes
        if let free = files.freeBytes, free < needed { throw .diskFull }
        do throws(StoreError) {
            try Self.copy(store, to: files.backup, isStopped)
            let connection = try Connection(
                path: files.backup, virtualFileSystem: nil,
                role: .writer(syncing: true, checkpointPages: store.configuration.checkpointPages))
            self.connection = connection
            try connection.use { access throws(StoreError) in
                try access.transaction { access throws(StoreError) in try Self.forgetThisMachine(access) }
            }
        } catch {
            connection?.close()
            files.removeBackup()
            throw error
        }
    }

    deinit { close() }

    func close() {
        connection?.close()
        connection = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
        files.removeBackup()
    }

    private static func copy(_ store: SQLiteStore, to path: String, _ isStopped: () -> Bool) throws(StoreError) {
        let source = try Connection(
            path: store.files.database, virtualFileSystem: store.configuration.virtualFileSystem, role: .reader)
        defer { source.close() }
        try makePrivateFile(path)
        let target = try Connection(path: path, virtualFileSystem: nil, role: .copy)
        defer { target.close() }
        try source.use { source throws(StoreError) in
            try source.snapshot { source throws(StoreError) in
                // The first read decides of which moment the snapshot is.
                try store.sealed { () throws(StoreError) in
                    _ = try source.first("SELECT count(*) FROM space") { row throws(StoreError) in row.integer(0) }
                }
                try target.use { target throws(StoreError) in
                    try target.copyPages(of: source, pagesPerStep: pagesPerStep, isStopped: isStopped)
                }
            }
        }
    }

    private static func makePrivateFile(_ path: String) throws(StoreError) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StoreFiles.failure(at: path) }
        Glibc.close(descriptor)
    }

    private static func forgetThisMachine(_ access: SQLiteAccess) throws(StoreError) {
        try access.run("UPDATE space SET own_replica = NULL")
        try access.run("DELETE FROM ticket WHERE used_by IS NULL")
        let rows = BlobRows(access)
        let void = try LogRows(access, space: .home).map { log throws(StoreError) in
            try VoidBlobs(log.state().voidStretches, in: log).blobs
        }
        var last: Int64 = 0
        while case let page = try rows.unnamed(after: last, limit: 256), let end = page.last {
            last = end.id
            for row in page where row.place == .partial || void?.contains(row.blob) != true { try rows.remove(row) }
        }
    }

    // Blobs in files

    /// Whole, and needed, in the order in which they came: the others are not in the copy.
    func blobs(after id: Int64, limit: Int) throws(StoreError) -> [BlobRow] {
        try use { access throws(StoreError) in try BlobRows(access).wholeFiles(after: id, limit: limit) }
    }

    /// Returns the total size of these blobs, in bytes.
    func blobBytes() throws(StoreError) -> UInt64 {
        try use { access throws(StoreError) in try BlobRows(access).wholeFileBytes() }
    }

    /// Removes the rows of these blobs: a store that opens the copy counts them as missing.
    func leaveOut(_ blobs: [BlobName]) throws(StoreError) {
        try use { access throws(StoreError) in
            try access.transaction { access throws(StoreError) in
                let rows = BlobRows(access)
                for blob in blobs {
                    if let row = try rows.find(blob) { try rows.remove(row) }
                }
            }
        }
    }

    private func use<Value>(_ body: (SQLiteAccess) throws(StoreError) -> Value) throws(StoreError) -> Value {
        guard let connection else { throw .closed }
        return try connection.use(body)
    }

    // Its bytes

    var byteCount: UInt64 {
        var status = stat()
        return stat(files.backup, &status) == 0 ? UInt64(clamping: status.st_size) : 0
    }

    /// All of it is in one file from here on, and nothing changes it any more.
    /// - Returns: its size in bytes.
    func finish() throws(StoreError) -> UInt64 {
        try use { access throws(StoreError) in try access.run("PRAGMA wal_checkpoint(TRUNCATE)") }
        connection?.close()
        connection = nil
        descriptor = Glibc.open(files.backup, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw StoreFiles.failure(at: files.backup) }
        let size = byteCount
        // Only read from now on: nothing is left of it, however the process ends.
        files.removeBackup()
        return size
    }

    /// After `finish`; fewer bytes than asked for only at the end.
    func read(at offset: UInt64, count: Int) throws(StoreError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while initialized < count {
                let part = pread(
                    descriptor, buffer.baseAddress.map { $0 + initialized }, count - initialized,
                    off_t(clamping: offset + UInt64(initialized)))
                if part < 0, errno == EINTR { continue }
                if part < 0 { failure = errno }
                if part <= 0 { break }
                initialized += part
            }
        }
        if failure != 0 { throw .inputOutput(code: failure) }
        return bytes
    }
}
