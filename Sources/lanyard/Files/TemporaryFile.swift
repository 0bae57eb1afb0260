import ControlAPI
import Glibc

/// A file that has no name and goes with the process, however that ends.
final class TemporaryFile {
    let descriptor: Int32
    private let directory: String
    /// The number of bytes so far.
    private(set) var size: UInt64 = 0

    /// The directory for temporary files.
    static var directory: String {
        getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }

    /// - Parameter directory: empty for the working directory.
    init(in directory: String) throws(ControlError) {
        self.directory = directory.isEmpty ? "." : directory
        var path = Array("\(self.directory)/.lanyard-XXXXXX".utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Self.failure(self.directory) }
        unlink(path)
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws(ControlError) {
        guard Descriptor.write(bytes, to: descriptor) else { throw Self.failure(directory) }
        size += UInt64(bytes.count)
    }

    /// Reads at most `count` bytes; none behind the end.
    func read(at offset: UInt64, count: Int) throws(ControlError) -> [UInt8] {
        guard let bytes = Descriptor.read(descriptor, at: offset, count: count) else { throw Self.failure(directory) }
        return bytes
    }

    /// Returns the error of the call that failed just now.
    private static func failure(_ directory: String) -> ControlError {
        let reason = errno
        return ControlError(
            reason == ENOSPC || reason == EDQUOT ? .diskFull : .fileUnwritable,
            "A temporary file cannot be kept in \(shown(directory)): \(String(cString: strerror(reason))).",
            hint: "Free some space there, or set TMPDIR to a directory that has it.")
    }
}
