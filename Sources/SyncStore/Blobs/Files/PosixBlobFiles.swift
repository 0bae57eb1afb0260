import Glibc

/// Blobs in a folder of the file system (0700), a file (0600) each.
///
/// One flat folder: directories of ext4, XFS and Btrfs are trees, and only blobs above 64 KiB have files. So one sync of
/// one folder makes a name durable.
package struct PosixBlobFiles: BlobFiles {
    private let folder: String

    /// - Parameter folder: made by `prepare`; the one above it must be there.
    package init(folder: String) { self.folder = folder }

    package func prepare() throws(BlobError) {
        if mkdir(folder, 0o700) == 0 {
            try sync(folder: folder + "/..")
        } else if errno != EEXIST {
            throw PosixFailure.last
        }
    }

    package func create(_ name: BlobFileName) throws(BlobError) -> any BlobFile {
        let descriptor = Glibc.open(path(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw PosixFailure.last }
        return file(descriptor, name)
    }

    package func open(_ name: BlobFileName) throws(BlobError) -> (any BlobFile)? {
        let descriptor = Glibc.open(path(name), O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw PosixFailure.last
        }
        return file(descriptor, name)
    }

    /// Opens a file. Blobs being added stay in the page cache: peers will request them at once.
    private func file(_ descriptor: Int32, _ name: BlobFileName) -> PosixBlobFile {
        guard case .partial = name else { return PosixBlobFile(descriptor: descriptor) }
        return PosixBlobFile(descriptor: descriptor, direct: DirectWriting(path: path(name)))
    }

    package func rename(_ name: BlobFileName, to target: BlobFileName) throws(BlobError) -> Bool {
        if Glibc.rename(path(name), path(target)) == 0 { return true }
        if errno == ENOENT { return false }
        throw PosixFailure.last
    }

    @discardableResult
    package func remove(_ name: BlobFileName) throws(BlobError) -> UInt64? {
        var status = stat()
        let size = stat(path(name), &status) == 0 ? UInt64(clamping: status.st_size) : 0
        if unlink(path(name)) == 0 { return size }
        if errno == ENOENT { return nil }
        throw PosixFailure.last
    }

    package func syncFolder() throws(BlobError) { try sync(folder: folder) }

    private func sync(folder: String) throws(BlobError) {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PosixFailure.last }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw PosixFailure.last }
    }

    package func names() throws(BlobError) -> [BlobFileName] {
        guard let stream = opendir(folder) else { throw PosixFailure.last }
        defer { closedir(stream) }
        var names: [BlobFileName] = []
        errno = 0
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if let name = BlobFileName(String(decoding: bytes, as: UTF8.self)) { names.append(name) }
            errno = 0
        }
        if errno != 0 { throw PosixFailure.last }
        return names
    }

    package var freeBytes: UInt64? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        let (bytes, isBeyond) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isBeyond ? .max : bytes
    }

    private func path(_ name: BlobFileName) -> String { folder + "/" + name.string }
}
