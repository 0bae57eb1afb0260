import ControlAPI
import Glibc

/// The events that the command of `lanyard run` never took: one file each, in a folder of this stream and consumer.
///
/// They are files beside the agent's data, not events of a stream: a letter concerns one consumer of one device, must not be
/// shipped to others, may have a payload of any length, and needs no agent to be read. A letter is on the disk before the event
/// is acknowledged. After a crash in between the event comes again, and its letter replaces the first: the name is its dot.
final class DeadLetters {
    /// An event, and the failure of the last try.
    struct Letter: Codable {
        let event: EventLine
        let consumer: String
        var attempts: Int
        var failure: String
        var time: Timestamp
    }

    /// A file of a letter.
    struct Entry {
        let file: String
        let letter: Letter
    }

    private static let suffix = ".json"
    /// An event of the greatest size, and what stands around it.
    private static let fileBytes = 2 * ControlLimits.bodyBytes

    let folder: String
    private var lock: Int32 = -1

    /// - Parameter base: the folder for all consumers.
    init(in base: String, device: String, space: String, stream: String, consumer: String) {
        // With a word before it no name is hidden, or leads up.
        folder = "\(base)/\(device)/space-\(space)/stream-\(stream)/consumer-\(consumer)"
    }

    deinit { if lock >= 0 { close(lock) } }

    /// The folder for letters: of the service, of the user, or nil where neither is known.
    static var usualBase: String? {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let state = variable("STATE_DIRECTORY") ?? variable("XDG_STATE_HOME").map { $0 + "/lanyard" }
        return (state ?? variable("HOME").map { $0 + "/.local/state/lanyard" }).map { $0 + "/dead-letters" }
    }

    /// Makes the folder, and holds it for as long as this value lives. Throws `already_running` while another run holds it: two
    /// would do each event twice.
    ///
    /// - Parameter isForRetry: letters are tried again, beside a run that reads the stream. An event with a letter is acknowledged;
    ///   if that was lost, it may run on both sides, as any event may run again after a crash.
    func open(isForRetry: Bool) throws(ControlError) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("make the folder") }
        }
        lock = Glibc.open(
            isForRetry ? "\(folder)/retry-lock" : "\(folder)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw failure("write in the folder") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw ControlError(
                .alreadyRunning,
                isForRetry
                    ? "These letters are tried again already." : "Another lanyard run works for this consumer already.",
                hint: isForRetry ? "Let it end." : "Let it work, or give this one another name: --consumer NAME")
        }
    }

    /// Returns when the letter is on the disk.
    func keep(_ letter: Letter) throws(ControlError) {
        let name = name(of: letter.event)
        let file = try FileOutput(directory: folder, name: name, replaces: true, mode: 0o600)
        try file.write(JSONEncoding.bytes(letter) + [0x0A])
        try file.finish()
    }

    /// Forgets a letter.
    func remove(_ event: EventLine) throws(ControlError) {
        guard unlink("\(folder)/\(name(of: event))") == 0 || errno == ENOENT else { throw failure("remove a letter") }
        let directory = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    /// All letters, in the order in which their events arrived. A file that is none is an error, not an absence.
    func all() throws(ControlError) -> [Entry] {
        guard let stream = opendir(folder) else {
            guard errno == ENOENT else { throw failure("read the folder") }
            return []
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while let item = readdir(stream) {
            let name = withUnsafeBytes(of: &item.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasSuffix(Self.suffix), !name.hasPrefix(".") else { continue }
            let path = "\(folder)/\(name)"
            let bytes = try FileBytes.read(path, limit: Self.fileBytes)
            guard let letter = try? JSONDecoding.value(Letter.self, from: bytes, unknownKeys: .ignore) else {
                throw ControlError(
                    .damaged, "The file \(shown(path)) holds no letter.", hint: "Move it out of the folder.")
            }
            entries.append(Entry(file: path, letter: letter))
        }
        return entries.sorted { $0.letter.event.position < $1.letter.event.position }
    }

    private func name(of event: EventLine) -> String {
        // A replica is letters and digits; what is not becomes an underscore, and the counter tells events apart.
        let replica = event.dot.replica.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
        return "\(String(replica))-\(event.dot.counter)\(Self.suffix)"
    }

    private func failure(_ what: String) -> ControlError {
        ControlError(
            .fileUnwritable, "Cannot \(what) for dead letters, \(shown(folder)): \(String(cString: strerror(errno))).",
            hint: "Give another one: --dead-letters FOLDER")
    }
}
