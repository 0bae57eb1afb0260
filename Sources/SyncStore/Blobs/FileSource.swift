import Glibc

/// A file to add. If another process writes to it meanwhile, the bytes read match neither the old nor the new file, and
/// are refused.
///
/// A write is detected by the file's size, its times (nanoseconds, as fine as the kernel's clock of files, a few
/// milliseconds) and its inode, at the beginning and at the end.
package final class FileSource: BlobSource {
    private let descriptor: Int32
    private let first: FileMark

    /// - Throws: `sourceUnreadable`: also for what is no file (EISDIR for a directory, EINVAL for the rest).
    package init(path: String) throws(BlobError) {
        // A pipe without a writer would block the opening.
        descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .sourceUnreadable(code: errno) }
        do throws(BlobError) {
            first = try FileMark(descriptor)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    deinit { Glibc.close(descriptor) }

    package var size: UInt64? { first.size }

    package func read(into target: UnsafeMutableRawBufferPointer) throws(BlobError) -> Int {
        while true {
            let count = Glibc.read(descriptor, target.baseAddress, target.count)
            if count >= 0 { return count }
            if errno != EINTR { throw .sourceUnreadable(code: errno) }
        }
    }

    package func checkUnchanged() throws(BlobError) {
        if try FileMark(descriptor) != first { throw .sourceChanged }
    }
}

/// The properties of a file that show that it was written to.
private struct FileMark: Equatable {
    let size: UInt64
    private let modified: [Int]

    init(_ descriptor: Int32) throws(BlobError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .sourceUnreadable(code: errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .sourceUnreadable(code: EISDIR)
        default: throw .sourceUnreadable(code: EINVAL)
        }
        size = UInt64(clamping: status.st_size)
        modified = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
