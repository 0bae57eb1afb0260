package import ControlAPI
import Glibc

/// A file that must not change while it is read: its size, its times and its inode are compared at the beginning and at the
/// end.
///
/// Once, from its beginning to its end, a thread of its own reads it; the next chunk only after the last one was taken. What
/// is looked at more than once is read by place.
package final class FileInput: AsyncSequence, Sendable {
    package typealias Element = [UInt8]

    private static let chunkBytes = 256 << 10

    /// The size in bytes.
    package var size: UInt64 { mark.size }
    /// The last part of the path, with replacement characters for what is no UTF-8.
    package let name: String
    private let descriptor: Int32
    private let mark: FileMark
    private let thread = BlockingThread()

    /// - Parameter path: bytes, as the system has them.
    /// - Throws: `not_found`, `file_unreadable`: also for a directory, and for what has no end.
    package init(path: [UInt8]) throws(ControlError) {
        let shownPath = String(decoding: path, as: UTF8.self)
        guard !path.contains(0) else { throw Self.unreadable(shownPath, "its name has a NUL in it") }
        // A pipe without a writer would block the opening.
        let descriptor = open((path + [0]).map { CChar(bitPattern: $0) }, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw Self.unreadable(shownPath, String(cString: strerror(errno))) }
            throw ControlError(
                .notFound, "There is no file \(shownPath).", hint: "Check the path, or give - for standard input.")
        }
        do throws(ControlError) { mark = try FileMark(descriptor, shownPath) } catch {
            close(descriptor)
            throw error
        }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        self.descriptor = descriptor
        name = shownPath.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Wraps standard input that was kept in `file`, to be read by place.
    init(_ file: TemporaryFile) throws(ControlError) {
        name = "standard input"
        let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Self.unreadable(name, String(cString: strerror(errno))) }
        do throws(ControlError) { mark = try FileMark(descriptor, name) } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Reads at most `count` bytes, fewer only at the end. Throws as iterating does.
    func bytes(at offset: UInt64, count: Int) throws(ControlError) -> [UInt8] {
        guard let bytes = Descriptor.read(descriptor, at: offset, count: count) else {
            throw Self.unreadable(name, String(cString: strerror(errno)))
        }
        guard try FileMark(descriptor, name) == mark else {
            throw ControlError(
                .fileChanged, "The file \(shown(name)) changed while it was read.",
                hint: "Try it again when no program writes to it.")
        }
        return bytes
    }

    static func unreadable(_ path: String, _ reason: String) -> ControlError {
        ControlError(
            .fileUnreadable, "The file \(path) cannot be read: \(reason).",
            hint: "Check what it is and who may read it, or give - for standard input.")
    }

    package func makeAsyncIterator() -> Iterator { Iterator(file: self) }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let file: FileInput
        private var readBytes: UInt64 = 0

        fileprivate init(file: FileInput) { self.file = file }

        /// Throws `file_changed` as soon as that is seen, `file_unreadable` for a disk that fails.
        package mutating func next() async throws(ControlError) -> [UInt8]? {
            let file = file
            let result = await withCheckedContinuation { continuation in
                file.thread.async { continuation.resume(returning: file.read()) }
            }
            let bytes = try result.get()
            readBytes += UInt64(bytes.count)
            // The last bytes are held back until it is sure that they are the last of the same file.
            if bytes.isEmpty || readBytes >= file.size {
                guard readBytes == file.size, try FileMark(file.descriptor, file.name) == file.mark else {
                    throw .fileChanged
                }
            }
            return bytes.isEmpty ? nil : bytes
        }
    }

    private func read() -> Result<[UInt8], ControlError> {
        while true {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunkBytes) { buffer, count in
                let result = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                failure = result < 0 ? errno : 0
                count = Swift.max(0, result)
            }
            if failure == EINTR { continue }
            guard failure == 0 else { return .failure(Self.unreadable(name, String(cString: strerror(failure)))) }
            return .success(bytes)
        }
    }
}

/// The attributes of a file by which a write to it is noticed. Its times are as fine as the kernel's clock of files, a few
/// milliseconds.
private struct FileMark: Equatable {
    let size: UInt64
    private let inode: UInt64
    private let times: [Int]

    init(_ descriptor: Int32, _ path: String) throws(ControlError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw FileInput.unreadable(path, String(cString: strerror(errno)))
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw FileInput.unreadable(path, "it is a directory")
        case _: throw FileInput.unreadable(path, "it is no file")
        }
        size = UInt64(clamping: status.st_size)
        inode = UInt64(status.st_ino)
        times = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
