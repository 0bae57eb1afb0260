import FoundationEssentials
import Glibc
import Lanyard

/// The counts of this device in a file, for one process at a time.
///
/// They stay out of Lanyard: each device computes them from the same events, so there is nothing to send.
struct CountsFile: Sendable {
    struct State: Codable {
        /// The version of the counts' form.
        var schema: Int64
        var counts: [String: Int] = [:]
        /// The place of the last event that is counted; nil before the first, also behind a snapshot. It stands in one file with
        /// the counts, so that both are from the same moment whatever happens.
        var position: EventPosition?
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String

        /// The sentence, and the reason that the system gives.
        init(_ sentence: String) { description = "\(sentence): \(String(cString: strerror(errno)))." }
    }

    private let path: String

    /// Opens the file of this user, and holds it until the process ends.
    init() throws {
        path = (getenv("HOME").map { String(cString: $0) } ?? ".") + "/.plays.json"
        let lock = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Fault("\(path).lock cannot be opened") }
        // Two processes with one consumer would each miss what the other counted.
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw Fault("Another `plays` is running, end it first") }
    }

    /// Returns what was written last; nil for nothing.
    func read() throws -> State? {
        guard access(path, F_OK) == 0 else { return nil }
        return try JSONDecoder().decode(State.self, from: Data(contentsOf: URL(filePath: path)))
    }

    /// Writes the state. On return it is on the disk, whole; a process or machine that stops before leaves the one before.
    func write(_ state: State) throws {
        try JSONEncoder().encode(state).write(to: URL(filePath: path + ".new"))
        try flush(path + ".new")
        guard rename(path + ".new", path) == 0 else { throw Fault("\(path) cannot be written") }
        // The name, too.
        try flush(URL(filePath: path).deletingLastPathComponent().path)
    }

    private func flush(_ path: String) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        guard file >= 0, fsync(file) == 0 else { throw Fault("\(path) cannot be written") }
    }
}
