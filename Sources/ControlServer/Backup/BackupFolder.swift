import ControlAPI
import Glibc
import NIOCore
import NIOPosix

/// The folder in which an agent keeps its backups. Calls block, and belong on a thread that may.
///
/// A backup is written under another name, synced, read back, and only then given its own: a reader of the folder never sees half
/// of one. Files of other devices, and files that are no backups, are left alone.
final class BackupFolder: Sendable {
    static let threads = NIOThreadPool.singleton
    private let path: String
    private let device: String
    private let descriptor: Int32

    /// - Throws: `not_found` without the folder: it is never made, for a disk that is not mounted would be mistaken for an empty one.
    init(_ path: String, device: String) throws(ControlError) {
        self.path = path
        self.device = device
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = errno
            throw ControlError(
                reason == ENOENT ? .notFound : .fileUnwritable,
                "The folder for backups, \(TerminalText.line(path)), "
                    + (reason == ENOENT ? "is not there." : "cannot be opened: \(String(cString: strerror(reason)))."),
                hint: reason == ENOENT
                    ? "Mount its disk or make the folder; or give another: lanyard backup --to FOLDER --every 1d"
                    : "Let the agent's user write there, or give another folder: lanyard backup --to FOLDER --every 1d")
        }
    }

    deinit { close(descriptor) }

    /// Returns if a file can be written there; it is removed again.
    static func check(_ path: String, device: String) async throws(ControlError) {
        let result = try? await threads.runIfActive { () -> Result<Void, ControlError> in
            Result { () throws(ControlError) in
                let folder = try BackupFolder(path, device: device)
                let file = try folder.create()
                file.remove()
            }
        }
        try (result ?? .failure(ControlError(.stopping, "The agent stops."))).get()
    }

    /// The beginning of the names of this device's files; the time follows.
    private var prefix: String { "lanyard-\(device)-" }
    private static let suffix = ".backup"
    /// The beginning of the names of its unfinished files.
    private var unfinished: String { ".lanyard-\(device)-" }

    /// The name of a backup of this time, which sorts by it: `lanyard-7QXPBVD-2026-11-26T23-30-00Z.backup`.
    private func name(_ time: Timestamp) -> String {
        let text = "\(time)".prefix(19).map { $0 == ":" ? "-" : String($0) }.joined()
        return "\(prefix)\(text)Z\(Self.suffix)"
    }

    /// Removes what a crash left unfinished.
    func removeUnfinished() {
        for name in names() where name.hasPrefix(unfinished) { unlinkat(descriptor, name, 0) }
    }

    func create() throws(ControlError) -> BackupFile {
        let name = "\(unfinished)\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let file = openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure() }
        return BackupFile(descriptor: file, name: name, folder: self)
    }

    /// Gives a checked file its name, durably. Returns the path.
    func publish(_ file: BackupFile, time: Timestamp) throws(ControlError) -> String {
        let wanted = name(time)
        // Behind all of the same second, also where an earlier one was removed: rotation goes by this order.
        let same = names().compactMap { Made($0, prefix) }.filter { $0.time == Made(wanted, prefix)?.time }
        let number = (same.map(\.number).max() ?? 0) + 1
        let final = number == 1 ? wanted : wanted.dropLast(Self.suffix.count) + "-\(number)" + Self.suffix
        guard renameat(descriptor, file.name, descriptor, final) == 0, fsync(descriptor) == 0 else { throw failure() }
        return path.hasSuffix("/") ? path + final : "\(path)/\(final)"
    }

    /// Removes the oldest backups of this device, but for `keep` of them.
    ///
    /// - Parameter now: backups of a later time count as the oldest: a clock that was ahead made them.
    func rotate(keep: Int, now: Timestamp) {
        precondition(keep > 0, "the newest backup is never removed")
        let present = Made(name(now), prefix)
        let all = names().compactMap { Made($0, prefix) }.sorted()
        let future = all.filter { made in present.map { $0.time < made.time } ?? false }
        let past = all.filter { made in !future.contains { $0.name == made.name } }
        for made in (future + past).dropLast(keep) { unlinkat(descriptor, made.name, 0) }
    }

    /// The name of a backup that `publish` gave. A file that a person named otherwise is none.
    private struct Made: Comparable {
        let name: String
        /// `2026-11-26T23-30-00Z`, which sorts by time.
        let time: Substring
        /// 2 and more for further ones of the same second.
        let number: Int

        init?(_ name: String, _ prefix: String) {
            guard name.hasPrefix(prefix), name.hasSuffix(BackupFolder.suffix) else { return nil }
            let rest = name.dropFirst(prefix.count).dropLast(BackupFolder.suffix.count)
            let form = "dddd-dd-ddTdd-dd-ddZ"
            let (time, further) = (rest.prefix(form.count), rest.dropFirst(form.count))
            let isTime =
                time.count == form.count
                && zip(time, form).allSatisfy { $1 == "d" ? $0.isASCII && $0.isNumber : $0 == $1 }
            let number = further.isEmpty ? 1 : Int(further.dropFirst()) ?? 0
            guard isTime, further.isEmpty || number > 1 && further == "-\(number)" else { return nil }
            (self.name, self.time, self.number) = (name, time, number)
        }

        static func < (left: Made, right: Made) -> Bool {
            left.time == right.time ? left.number < right.number : left.time < right.time
        }
    }

    private func names() -> [String] {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    /// Returns the error of the call that just failed.
    func failure() -> ControlError {
        let reason = errno
        let place = TerminalText.line(path)
        if reason == ENOSPC || reason == EDQUOT {
            return ControlError(
                .diskFull, "No space is left in \(place).",
                hint: "Free some space there, or keep fewer: lanyard backup --to FOLDER --every 1d --keep N")
        }
        return ControlError(
            .fileUnwritable, "Nothing can be written in \(place): \(String(cString: strerror(reason))).",
            hint: "Let the agent's user write there (a systemd service: ReadWritePaths=), or give another folder.")
    }
}

/// A backup that is being written. Removed when it goes, unless it was published.
final class BackupFile: Sendable {
    private let descriptor: Int32
    let name: String
    private let folder: BackupFolder

    fileprivate init(descriptor: Int32, name: String, folder: BackupFolder) {
        self.descriptor = descriptor
        self.name = name
        self.folder = folder
    }

    deinit {
        remove()
        close(descriptor)
    }

    /// A name that was published is not the file's any more.
    func remove() { folder.unlink(name) }

    func write(_ bytes: ByteBuffer) throws(ControlError) {
        var rest = bytes.readableBytesView[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno != EINTR {
                throw folder.failure()
            }
        }
    }

    /// Makes it durable, and has the system forget what it keeps of it in memory: what is read back comes from the disk.
    func sync() throws(ControlError) {
        guard fsync(descriptor) == 0 else { throw folder.failure() }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    }

    /// Reads at most a mebibyte; empty at the end.
    func read(at offset: UInt64) throws(ControlError) -> [UInt8] {
        while true {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, filled in
                let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(clamping: offset))
                failure = count < 0 ? errno : 0
                filled = max(0, count)
            }
            if failure == 0 { return bytes }
            guard failure == EINTR else {
                throw ControlError(
                    .damaged, "The backup cannot be read back: \(String(cString: strerror(failure))).",
                    hint: "Look at that disk, or give another folder: lanyard backup --to FOLDER --every 1d")
            }
        }
    }
}

extension BackupFolder {
    fileprivate func unlink(_ name: String) { unlinkat(descriptor, name, 0) }
}
