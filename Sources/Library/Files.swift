import ControlAPI
import Dispatch
import Glibc

/// The queue on which files are read and written: a disk that is slow holds up no task.
private let fileQueue = DispatchQueue(label: "lanyard.files", attributes: .concurrent)

private func onQueue<Value: Sendable>(
    _ work: @escaping @Sendable () -> Result<Value, ControlError>
) async throws(ControlError) -> Value {
    let result = await withCheckedContinuation { continuation in
        fileQueue.async { continuation.resume(returning: work()) }
    }
    return try result.get()
}

/// A file as chunks of at most 256 KiB.
struct FileReading: AsyncSequence, Sendable {
    typealias Element = [UInt8]

    /// The size in bytes when it was opened.
    let size: UInt64
    private let file: OpenFile

    /// Opens a file. Throws `file_unreadable`, also for what is no regular file.
    init(_ path: String) throws(ControlError) {
        file = OpenFile(open(path, O_RDONLY | O_CLOEXEC))
        var status = stat()
        guard file.descriptor >= 0, fstat(file.descriptor, &status) == 0 else {
            throw ControlError(
                .fileUnreadable, "\(path) cannot be read: \(String(cString: strerror(errno))).",
                hint: "Check the path and its permissions.")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ControlError(.fileUnreadable, "\(path) is no file.", hint: "Give the path of a regular file.")
        }
        size = UInt64(status.st_size)
    }

    func makeAsyncIterator() -> Iterator { Iterator(file: file) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let file: OpenFile

        func next() async throws(ControlError) -> [UInt8]? {
            let bytes = try await onQueue { [file] in file.read(limit: 262_144) }
            return bytes.isEmpty ? nil : bytes
        }
    }
}

/// A file that appears under its name once it is whole.
final class FileWriting: Sendable {
    private let path: String
    private let unfinished: String
    private let file: OpenFile

    /// Creates the unfinished file beside it. Throws `file_unwritable`.
    init(_ path: String) throws(ControlError) {
        self.path = path
        unfinished = "\(path).part-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        file = OpenFile(open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644))
        guard file.descriptor >= 0 else { throw Self.failure(path) }
    }

    /// Without `finish`, nothing stays.
    deinit { unlink(unfinished) }

    func append(_ bytes: [UInt8]) async throws(ControlError) {
        try await onQueue { [file, path] in file.write(bytes) ? .success(()) : .failure(Self.failure(path)) }
    }

    func finish() async throws(ControlError) {
        try await onQueue { [file, path, unfinished] () -> Result<Void, ControlError> in
            guard fsync(file.descriptor) == 0, rename(unfinished, path) == 0 else {
                return .failure(Self.failure(path))
            }
            return .success(())
        }
    }

    private static func failure(_ path: String) -> ControlError {
        ControlError(
            errno == ENOSPC ? .diskFull : .fileUnwritable,
            "\(path) cannot be written: \(String(cString: strerror(errno))).",
            hint: "Check the folder, its permissions and the space on its disk.")
    }
}

/// A descriptor that is closed when the last user has let go of it.
private final class OpenFile: Sendable {
    let descriptor: CInt

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func read(limit: Int) -> Result<[UInt8], ControlError> {
        while true {
            var number: CInt = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                let result = Glibc.read(descriptor, buffer.baseAddress, limit)
                number = result < 0 ? errno : 0
                count = max(0, result)
            }
            if number == EINTR { continue }
            if number == 0 { return .success(bytes) }
            return .failure(
                ControlError(
                    .fileUnreadable, "The file cannot be read: \(String(cString: strerror(number))).",
                    hint: "Is its disk still there?"))
        }
    }

    func write(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            let result = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + start }, buffer.count - start)
            }
            if result < 0, errno == EINTR { continue }
            if result < 0 { return false }
            start += result
        }
        return true
    }
}
