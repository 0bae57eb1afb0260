import ControlAPI
import Glibc

/// The agent's log file as a reader that keeps up with it, also when the agent begins a new file under the same name.
struct LogFile {
    static let name = "agent.log"

    private let path: String
    private var descriptor: CInt
    private var identity: ino_t

    /// Nil when there is none that this user may read.
    ///
    /// - Parameter isPrevious: the file before the present one, which it became when it was full.
    init?(directory: String, isPrevious: Bool = false) {
        path = "\(directory)/\(Self.name)\(isPrevious ? ".1" : "")"
        guard let (descriptor, identity) = Self.open(path) else { return nil }
        self.descriptor = descriptor
        self.identity = identity
    }

    private static func open(_ path: String) -> (CInt, ino_t)? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { return nil }
        return (descriptor, status.st_ino)
    }

    /// The newest `lines` lines; the file is read backwards in blocks until it has them.
    mutating func newest(lines: Int) -> [UInt8] {
        let end = lseek(descriptor, 0, SEEK_END)
        var (start, bytes): (off_t, [UInt8]) = (end, [])
        while start > 0, bytes.count(where: { $0 == 0x0A }) <= lines {
            let size = min(start, 65_536)
            start -= size
            bytes = readBlock(at: start, count: Int(size)) + bytes
        }
        var breaks = bytes.indices.filter { bytes[$0] == 0x0A }
        if bytes.last == 0x0A { breaks.removeLast() }
        lseek(descriptor, end, SEEK_SET)
        guard lines > 0 else { return [] }
        return breaks.count < lines ? bytes : Array(bytes[(breaks[breaks.count - lines] + 1)...])
    }

    private func readBlock(at offset: off_t, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, count, offset))
        }
    }

    /// Returns the bytes that were written since the last call.
    mutating func readOn() -> [UInt8] {
        var bytes = rest()
        var status = stat()
        // Another file under the name, or the same one cut short: begin it from its start.
        if stat(path, &status) == 0 {
            if status.st_ino != identity, let (next, identity) = Self.open(path) {
                close(descriptor)
                (descriptor, self.identity) = (next, identity)
                bytes += rest()
            } else if status.st_size < lseek(descriptor, 0, SEEK_CUR) {
                lseek(descriptor, 0, SEEK_SET)
                bytes += rest()
            }
        }
        return bytes
    }

    private func rest() -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let block = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, filled in
                filled = max(0, read(descriptor, buffer.baseAddress, buffer.count))
            }
            if block.isEmpty { return bytes }
            bytes += block
        }
    }
}

/// Tells when a file in a directory was written to, created or renamed (inotify(7)).
struct DirectoryChanges {
    private let descriptor: CInt

    init(directory: String) throws(ControlError) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        guard descriptor >= 0,
            inotify_add_watch(descriptor, directory, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)) >= 0
        else {
            throw ControlError(
                .internalFault, "The log cannot be followed: \(String(cString: strerror(errno))).",
                hint: "Raise fs.inotify.max_user_watches, or run the command without --follow.")
        }
    }

    /// Blocks until something changed since the last call.
    func waitForOne() {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        _ = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    }
}
