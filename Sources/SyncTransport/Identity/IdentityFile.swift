// `stat` is attributed to this module once Foundation is in the target.
import CoreFoundation
import Foundation

/// Reads and writes the one file that holds a device's keys: mode 0600, in a directory of mode 0700, ours.
///
/// Writing: a temporary file beside it, fsync, rename, fsync of the directory. So after a crash there is the whole file or
/// none. Reading goes by the open descriptor, so the file that was checked is the one that is read.
struct IdentityFile {
    /// Four PEM blocks are under 2 KiB.
    static let byteLimit = 16 << 10

    let directory: String
    var path: String { directory + "/identity.pem" }
    private var temporaryPath: String { path + ".tmp" }

    /// Makes the directory if it is missing.
    func prepareDirectory() throws(IdentityError) {
        if mkdir(directory, 0o700) == 0 {
            // Else a power cut could take the directory away with the keys in it.
            try sync(directory + "/..")
        } else if errno != EEXIST {
            throw failed(directory, "Making")
        }
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOTDIR { throw .notRegular(path: directory) }
            throw failed(directory, "Opening")
        }
        defer { Glibc.close(descriptor) }
        try check(descriptor, directory, kind: S_IFDIR, wanted: 0o700)
    }

    /// The file's bytes; nil when there is none.
    func read() throws(IdentityError) -> [UInt8]? {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw .notRegular(path: path)
            default: throw failed(path, "Opening")
            }
        }
        defer { Glibc.close(descriptor) }
        try check(descriptor, path, kind: S_IFREG, wanted: 0o600)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw failed(path, "Reading")
            }
            bytes += chunk[..<count]
            if bytes.count > Self.byteLimit { throw .damaged(path: path, part: "it is too long") }
        }
    }

    func write(_ bytes: [UInt8]) throws(IdentityError) {
        // What a crashed start left has no meaning.
        unlink(temporaryPath)
        let descriptor = Glibc.open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failed(temporaryPath, "Creating") }
        do throws(IdentityError) {
            defer { Glibc.close(descriptor) }
            // Whatever the umask took away or a default ACL gave.
            if fchmod(descriptor, 0o600) != 0 { throw failed(temporaryPath, "Protecting") }
            try writeAll(bytes, to: descriptor)
            if fsync(descriptor) != 0 { throw failed(temporaryPath, "Syncing") }
            if rename(temporaryPath, path) != 0 { throw failed(path, "Renaming") }
        } catch {
            unlink(temporaryPath)
            throw error
        }
        try sync(directory)
    }

    private func writeAll(_ bytes: [UInt8], to descriptor: CInt) throws(IdentityError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failed(temporaryPath, "Writing") }
            rest = rest.dropFirst(count)
        }
    }

    private func sync(_ directory: String) throws(IdentityError) {
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failed(directory, "Opening") }
        defer { Glibc.close(descriptor) }
        if fsync(descriptor) != 0 { throw failed(directory, "Syncing") }
    }

    private func check(_ descriptor: CInt, _ path: String, kind: mode_t, wanted: UInt32) throws(IdentityError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failed(path, "Examining") }
        guard status.st_mode & S_IFMT == kind else { throw .notRegular(path: path) }
        guard status.st_uid == geteuid() else { throw .foreignOwner(path: path, owner: status.st_uid) }
        let mode = UInt32(status.st_mode) & 0o7777
        guard mode & 0o077 == 0 else { throw .tooOpen(path: path, mode: mode, wanted: wanted) }
    }

    private func failed(_ path: String, _ operation: String) -> IdentityError {
        .failed(path: path, operation: operation, errno: errno)
    }

    static func text(errno: Int32) -> String { String(cString: strerror(errno)) }
}
