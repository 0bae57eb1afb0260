import Glibc

/// An open folder whose content is removed, entry by entry, by its descriptor: nothing is followed out of it but the two links
/// by which a person may have moved the database or the blobs to another disk.
final class WipedFolder {
    private let descriptor: Int32
    private let path: String

    init(at path: String) throws(StoreError) {
        self.path = path
        descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, code: errno) }
    }

    private init?(_ name: UnsafePointer<CChar>, in folder: WipedFolder, flags: Int32) {
        path = folder.path + "/" + String(cString: name)
        descriptor = openat(folder.descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)
        if descriptor < 0 { return nil }
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    /// Makes durable what was removed.
    func sync() throws(StoreError) {
        guard fsync(descriptor) == 0 else { throw .inputOutput(code: errno) }
    }

    /// Removes every entry that is not kept, with all that is in it, durably.
    ///
    /// - Parameter isKept: gets the name, and whether it is a socket.
    /// - Returns: the name of an entry that is still there, with `errno` set; nil if all are gone.
    func removeAll(isKept: (String, Bool) -> Bool = { _, _ in false }) -> String? {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else { return "." }
        defer { closedir(stream) }
        var left: (name: String, code: Int32)?
        while let entry = readdir(stream) {
            let name = entry.pointee.name
            if name == "." || name == ".." { continue }
            entry.withName { pointer in
                var status = stat()
                guard fstatat(descriptor, pointer, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
                let kind = status.st_mode & S_IFMT
                if isKept(name, kind == S_IFSOCK) { return }
                if kind == S_IFLNK { emptyTarget(of: name, pointer) }
                if !remove(pointer, isFolder: kind == S_IFDIR) { left = (name, errno) }
            }
        }
        _ = fsync(descriptor)
        if let left { errno = left.code }
        return left?.name
    }

    private func remove(_ name: UnsafePointer<CChar>, isFolder: Bool) -> Bool {
        guard isFolder else { return unlinkat(descriptor, name, 0) == 0 || errno == ENOENT }
        guard let folder = WipedFolder(name, in: self, flags: O_NOFOLLOW) else { return errno == ENOENT }
        guard folder.removeAll() == nil else { return false }
        // A disk that is mounted there is empty now; it stays.
        return unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT || errno == EBUSY
    }

    private func emptyTarget(of name: String, _ pointer: UnsafePointer<CChar>) {
        if name == "blobs" {
            _ = WipedFolder(pointer, in: self, flags: 0)?.removeAll()
        } else if name.hasPrefix("lanyard.sqlite") {
            guard let target = realpath(path + "/" + name, nil) else { return }
            unlink(target)
            free(target)
        }
    }
}

extension dirent {
    /// The entry's name.
    var name: String {
        withUnsafePointer(to: d_name) { tuple in
            tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: d_name)) {
                String(cString: $0)
            }
        }
    }
}

extension UnsafeMutablePointer<dirent> {
    /// Calls `body` with the bytes of the name, which need not be UTF-8.
    fileprivate func withName(_ body: (UnsafePointer<CChar>) -> Void) {
        withUnsafePointer(to: &pointee.d_name) { tuple in
            tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) { body($0) }
        }
    }
}
