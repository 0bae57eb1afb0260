import ControlAPI
import Glibc

/// A file that is named on the command line.
enum FileBytes {
    /// All of it, at most `limit` bytes. Throws `not_found`, or `invalid_argument` when it cannot be read or is too long.
    static func read(_ path: String, limit: Int) throws(ControlError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ControlError(
                errno == ENOENT ? .notFound : .invalidArgument,
                "The file \(path) cannot be opened: \(String(cString: strerror(errno))).",
                hint: "Check the path, or give - for standard input.")
        }
        defer { close(descriptor) }
        var all: [UInt8] = []
        while all.count <= limit {
            var failure: Int32 = 0
            let block = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, filled in
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                failure = count < 0 ? errno : 0
                filled = max(0, count)
            }
            if failure == EINTR { continue }
            guard failure == 0 else {
                throw ControlError(
                    .invalidArgument, "The file \(path) cannot be read: \(String(cString: strerror(failure))).",
                    hint: "Check what it is.")
            }
            if block.isEmpty { return all }
            all += block
        }
        throw ControlError(.tooLarge, "The file \(path) is longer than \(limit) bytes.", hint: "Check what it is.")
    }
}
