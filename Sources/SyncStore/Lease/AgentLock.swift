import Glibc

/// The lock that keeps a second agent off a data directory: `agent.lock`, flock, with the holder's process id inside.
///
/// The kernel drops it when the process ends, however it ends. Close-on-exec: a child never keeps it.
final class AgentLock: Sendable {
    private let descriptor: Int32

    init(directory: String) throws(StoreError) {
        let path = directory + "/agent.lock"
        descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unreadable(path: path, code: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // `deinit` closes it: it runs for whatever throws here.
            throw .locked(processID: Self.processID(descriptor))
        }
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    private static func processID(_ descriptor: Int32) -> Int32? {
        let text = String(decoding: FileBytes.read(descriptor, upTo: 32), as: UTF8.self)
        return text.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// Lets go, and leaves no process id that means nothing any more.
    func release() {
        ftruncate(descriptor, 0)
        flock(descriptor, LOCK_UN)
    }
}
