import Glibc

/// The files of a data directory that belong to the store.
struct StoreFiles: Sendable {
    let directory: String

    var database: String { directory + "/lanyard.sqlite" }
    private var writeAheadLog: String { database + "-wal" }
    /// The database as it was before a change of schema.
    func copy(ofVersion version: Int) -> String { database + ".schema-\(version)" }

    /// The path of a backup's database while it is made.
    var backup: String { database + ".backup" }

    /// Removes the files that an unfinished backup left behind.
    func removeBackup() {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(backup + suffix) }
    }

    /// Makes the directory (0700) and an empty database file (0600: what SQLite adds beside it gets the same mode).
    ///
    /// A new directory is made durable in the one above it. What is in it is made durable by SQLite, which syncs it with
    /// the first sync of the write-ahead log.
    func prepare() throws(StoreError) {
        if mkdir(directory, 0o700) == 0 {
            try sync(directory + "/..", O_RDONLY | O_DIRECTORY)
        } else if errno != EEXIST {
            throw .unreadable(path: directory, code: errno)
        }
        let descriptor = Glibc.open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(at: database) }
        Glibc.close(descriptor)
        removeBackup()
    }

    static func failure(at path: String) -> StoreError {
        errno == ENOSPC || errno == EDQUOT ? .diskFull : .unreadable(path: path, code: errno)
    }

    var byteCount: Int64 { Self.size(of: database) + writeAheadLogBytes }

    var writeAheadLogBytes: Int64 { Self.size(of: writeAheadLog) }

    private static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// The bytes that an unprivileged process may still write there; nil if the file system does not tell.
    var freeBytes: Int64? { disk?.free }

    /// The disk of the directory in bytes: what an unprivileged process may still write, and all.
    var disk: (free: Int64, size: Int64)? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        func bytes(_ blocks: UInt64) -> Int64 {
            Int64(clamping: blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
        }
        return (bytes(UInt64(status.f_bavail)), bytes(UInt64(status.f_blocks)))
    }

    /// Copies the database, durably, under a temporary name first: a copy that is there is whole. Of one that fails nothing
    /// stays.
    ///
    /// - Parameter copied: called with the share that is copied, from 0 to 1.
    func keepCopy(ofVersion version: Int, copied: (Double) -> Void) throws(StoreError) {
        let target = copy(ofVersion: version)
        let partial = target + ".partial"
        do throws(StoreError) {
            try copyBytes(to: partial, copied)
            guard rename(partial, target) == 0 else { throw Self.failure(at: target) }
        } catch {
            unlink(partial)
            throw error
        }
        try sync(directory, O_RDONLY | O_DIRECTORY)
    }

    private func copyBytes(to target: String, _ copied: (Double) -> Void) throws(StoreError) {
        let source = Glibc.open(database, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw Self.failure(at: database) }
        defer { Glibc.close(source) }
        let copy = Glibc.open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard copy >= 0 else { throw Self.failure(at: target) }
        defer { Glibc.close(copy) }
        let size = max(1, Self.size(of: database))
        var copiedBytes: Int64 = 0
        while true {
            let count = sendfile(copy, source, nil, 1 << 20)
            if count == 0 { break }
            if count < 0 { throw Self.failure(at: target) }
            copiedBytes += Int64(count)
            copied(min(1, Double(copiedBytes) / Double(size)))
        }
        guard fsync(copy) == 0 else { throw .inputOutput(code: errno) }
    }

    private func sync(_ path: String, _ flags: Int32) throws(StoreError) {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(at: path) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .inputOutput(code: errno) }
    }

    /// The time for which a database from before a change of schema is kept, so that a person can go back to the program of
    /// before.
    static let copySeconds = 7 * 86_400

    /// Removes databases from before a change of schema that were kept for `seconds` and longer.
    ///
    /// - Returns: true if one was there.
    @discardableResult
    func removeCopies(below version: Int, keptFor seconds: Int) -> Bool {
        let now = time(nil)
        var isRemoved = false
        for old in 1..<max(1, version) {
            var status = stat()
            guard stat(copy(ofVersion: old), &status) == 0, now - status.st_mtim.tv_sec >= seconds else { continue }
            if unlink(copy(ofVersion: old)) == 0 { isRemoved = true }
        }
        return isRemoved
    }

    /// Writes, syncs and removes a file of one page: whether the disk takes a write now.
    func probe() throws(StoreError) {
        let path = directory + "/probe"
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(at: path) }
        defer {
            Glibc.close(descriptor)
            unlink(path)
        }
        let page = [UInt8](repeating: 0x5a, count: 4096)
        let count = page.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == page.count else { throw Self.failure(at: path) }
        guard fsync(descriptor) == 0 else {
            throw errno == ENOSPC || errno == EDQUOT ? .diskFull : .inputOutput(code: errno)
        }
    }
}
