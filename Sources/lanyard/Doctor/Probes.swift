import Glibc

/// The facts about a file that checks need.
struct FileStatus {
    private let mode: mode_t

    /// Nil when it cannot be looked at; `errno` says why.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        mode = status.st_mode
    }

    var othersMayLook: Bool { mode & 0o077 != 0 }
}

/// A probe that makes a small file durable in a directory, and measures the time.
struct FsyncProbe {
    let directory: String

    /// Nil when it failed; `errno` says why.
    func milliseconds() -> Double? {
        let path = "\(directory)/.doctor-\(getpid())"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        defer {
            close(descriptor)
            unlink(path)
        }
        let start = Self.nanoseconds()
        let bytes = [UInt8](repeating: 0, count: 4_096)
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == bytes.count, fdatasync(descriptor) == 0 else { return nil }
        return Double(Self.nanoseconds() - start) / 1_000_000
    }

    private static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// A probe for the holder of an agent's lock.
struct LockProbe {
    enum Holder {
        case nobody
        case process(Int)
        case unknown
    }

    let path: String

    /// Returns the holder by the kernel's own list (proc(5), /proc/locks): trying the lock would get in the way of an agent
    /// that starts.
    func holder() -> Holder {
        var status = stat()
        guard stat(path, &status) == 0 else { return errno == ENOENT ? .nobody : .unknown }
        guard let text = Self.contents(of: "/proc/locks") else { return .unknown }
        for line in text.split(separator: "\n") {
            // 1: FLOCK  ADVISORY  WRITE 4711 08:01:131077 0 EOF
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[5].split(separator: ":").last == "\(status.st_ino)"
            else { continue }
            return Int(words[4]).map { .process($0) } ?? .unknown
        }
        return .nobody
    }

    static func contents(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            var block = [UInt8](repeating: 0, count: 65_536)
            let count = block.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += block.prefix(count)
        }
    }
}
