package import ControlAPI
import Glibc

/// The data directory that a backup is restored into.
///
/// The backup is written beside the other files, into `restoring`, and takes its place only when all of it was checked and is
/// on the disk. An agent that finds `restoring` refuses to start, so half a backup is never taken for a whole one. The agent's
/// own lock keeps it off meanwhile. Earlier files are moved aside, never removed.
package final class RestorePlace {
    private static let staging = "restoring"
    private static let asidePrefix = "before-restore-"
    private static let lockFile = "agent.lock"
    /// Says to the agent that changes which come back from others were expected.
    private static let mark = "restored"

    package let directory: String
    private let lock: Int32
    /// The owner of the restored files, for a restore by root: the agent's user.
    private let owner: (user: uid_t, group: gid_t)?
    /// The files that are there, and are to be moved aside.
    private let old: [String]
    private var isDone = false

    private var staged: String { "\(directory)/\(Self.staging)" }

    /// - Parameter replaces: whether a directory that has data may be used.
    /// - Throws: `already_running`, `already_exists`, `file_unwritable`.
    package init(_ directory: String, replaces: Bool) throws(ControlError) {
        self.directory = directory
        try Self.make(directory)
        let lock = try Self.locked("\(directory)/\(Self.lockFile)")
        do throws(ControlError) {
            old = try Self.names(in: directory).filter { !Self.isOurs($0) }
            guard old.isEmpty || replaces else {
                throw ControlError(
                    .alreadyExists, "The directory \(directory) is not empty.",
                    hint: "Give another with --data-dir, or --force to move what is there aside.")
            }
            var status = stat()
            guard stat(directory, &status) == 0 else { throw Self.failure(directory) }
            owner = geteuid() == 0 && status.st_uid != 0 ? (status.st_uid, status.st_gid) : nil
            try Self.makeStaging("\(directory)/\(Self.staging)", owner)
        } catch {
            close(lock)
            throw error
        }
        // The last: from here on `deinit` closes it, whatever happens.
        self.lock = lock
        let staged = staged
        Interruption.willRemove { Self.removeTree(staged) }
    }

    deinit {
        if !isDone {
            Interruption.hasRemoved()
            Self.removeTree(staged)
        }
        close(lock)
    }

    /// Returns true for files that stay: the lock is held, an ext4 has its own folder, and files that an earlier restore moved
    /// aside stay there.
    private static func isOurs(_ name: String) -> Bool {
        [lockFile, staging, "lost+found"].contains(name) || name.hasPrefix(asidePrefix)
    }

    // MARK: Files that come

    /// - Parameter name: as in the backup; checked by `BackupReader`.
    func create(_ name: String) throws(ControlError) -> RestoredFile {
        try RestoredFile("\(staged)/\(name)", owner)
    }

    /// Removes a blob that the backup says it does not hold.
    func drop(blob hash: String) { unlink("\(staged)/\(BackupFormat.blob(hash))") }

    // MARK: The end

    /// Moves the checked files to their place. Durable on return.
    ///
    /// - Returns: the directory to which the earlier files were moved; nil if there were none.
    package func finish(at time: Timestamp) throws(ControlError) -> String? {
        try Self.sync("\(staged)/\(BackupFormat.blobFolder)")
        try Self.sync(staged)
        // What is in its place must not be removed any more; `restoring` keeps agents off until all of it is.
        Interruption.hasRemoved()
        isDone = true
        let aside = try moveAside(time)
        try RestoredFile("\(directory)/\(Self.mark)", owner).finish()
        // The keys last: a directory with keys has everything.
        for name in [BackupFormat.blobFolder, BackupFormat.database, BackupFormat.identity] {
            try Self.move("\(staged)/\(name)", to: "\(directory)/\(name)")
        }
        try Self.sync(directory)
        guard rmdir(staged) == 0 else { throw Self.failure(staged) }
        try Self.sync(directory)
        return aside
    }

    private func moveAside(_ time: Timestamp) throws(ControlError) -> String? {
        guard !old.isEmpty else { return nil }
        let stamp = time.description.filter { !":-.".contains($0) }
        let aside = "\(directory)/\(Self.asidePrefix)\(stamp)"
        try Self.makeFolder(aside, owner)
        for name in old { try Self.move("\(directory)/\(name)", to: "\(aside)/\(name)") }
        try Self.sync(aside)
        return aside
    }

    // MARK: The system

    /// Makes a directory with all folders above it; existing ones stay as they are.
    private static func make(_ directory: String) throws(ControlError) {
        var path = ""
        for part in directory.split(separator: "/", omittingEmptySubsequences: false) {
            path += path.isEmpty && !part.isEmpty || path == "/" ? String(part) : "/\(part)"
            if path.isEmpty || mkdir(path, 0o700) == 0 || errno == EEXIST || access(path, F_OK) == 0 { continue }
            throw failure(path)
        }
    }

    private static func locked(_ path: String) throws(ControlError) -> Int32 {
        let lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw failure(path) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw ControlError(
                .alreadyRunning, "An agent, or another restore, uses \(path.dropLast(lockFile.count + 1)).",
                hint: "Stop it first, for example with: systemctl stop lanyard")
        }
        // The agent must be able to open it next, also if root was here first.
        var status = stat()
        let folder = String(path.dropLast(lockFile.count + 1))
        if geteuid() == 0, stat(folder, &status) == 0 { _ = fchown(lock, status.st_uid, status.st_gid) }
        return lock
    }

    private static func names(in directory: String) throws(ControlError) -> [String] {
        guard let stream = opendir(directory) else { throw failure(directory) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func makeFolder(_ path: String, _ owner: (user: uid_t, group: gid_t)?) throws(ControlError) {
        guard mkdir(path, 0o700) == 0 else { throw failure(path) }
        if let owner, lchown(path, owner.user, owner.group) != 0 { throw failure(path) }
    }

    private static func move(_ path: String, to target: String) throws(ControlError) {
        guard rename(path, target) == 0 else { throw failure(target) }
    }

    private static func makeStaging(
        _ path: String, _ owner: (user: uid_t, group: gid_t)?
    ) throws(ControlError) {
        // Of a restore that was stopped: what was moved out of it counts as old.
        removeTree(path)
        do throws(ControlError) {
            try makeFolder(path, owner)
            try makeFolder("\(path)/\(BackupFormat.blobFolder)", owner)
        } catch {
            removeTree(path)
            throw error
        }
    }

    private static func sync(_ path: String) throws(ControlError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path) }
    }

    /// Removes the files that `init` and `create` made; links are not followed.
    private static func removeTree(_ path: String) {
        let blobs = "\(path)/\(BackupFormat.blobFolder)"
        for folder in [blobs, path] {
            for name in (try? names(in: folder)) ?? [] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
    }

    /// Returns the error of the call that failed just now.
    static func failure(_ path: String) -> ControlError {
        let reason = errno
        if reason == ENOSPC || reason == EDQUOT {
            return ControlError(
                .diskFull, "No space is left for \(shown(path)).", hint: "Free some space, then restore it again.")
        }
        return ControlError(
            .fileUnwritable, "\(shown(path)) cannot be used: \(String(cString: strerror(reason))).",
            hint: "Check who may write there, or give another directory with --data-dir.")
    }
}

/// A file of the backup on its way to the disk.
final class RestoredFile {
    private let path: String
    private let descriptor: Int32

    fileprivate init(_ path: String, _ owner: (user: uid_t, group: gid_t)?) throws(ControlError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw RestorePlace.failure(path) }
        if let owner, fchown(descriptor, owner.user, owner.group) != 0 { throw RestorePlace.failure(path) }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws(ControlError) {
        guard Descriptor.write(bytes, to: descriptor) else { throw RestorePlace.failure(path) }
    }

    func finish() throws(ControlError) {
        guard fsync(descriptor) == 0 else { throw RestorePlace.failure(path) }
    }
}
