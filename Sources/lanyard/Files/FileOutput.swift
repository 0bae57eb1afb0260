package import ControlAPI
import Glibc

/// A file that is written under another name beside its own, and given its own when it is whole and synced. No reader ever sees
/// half of it, and a file that is there under the name stays unless it is to be replaced.
///
/// Nothing is followed out of the directory: the name has one part, the file is new (`O_EXCL`), and links are not followed. Not
/// finished, it is removed when it goes, and when the command is interrupted.
package final class FileOutput {
    private let directory: Int32
    private let descriptor: Int32
    private let name: String
    private let temporary: String
    private let replaces: Bool
    private let shownPath: String
    private var isOpen = true
    /// An empty file of ours stands under the name.
    private var isClaimed = false

    /// - Parameters:
    ///   - directory: empty for the working directory.
    ///   - name: one part of a path.
    ///   - replaces: whether a file that is there may go.
    ///   - mode: what may be done with it, before the umask.
    /// - Throws: `already_exists`, `not_found` without the directory, `file_unwritable`, `disk_full`.
    package init(
        directory path: String, name: String, replaces: Bool, mode: UInt32 = 0o666
    ) throws(ControlError) {
        guard Self.isOnePart(name) else {
            throw ControlError(
                .invalidArgument, "\"\(shown(name))\" is no name of a file.", hint: "Give another name.")
        }
        self.name = name
        self.replaces = replaces
        let shownPath = path.isEmpty || path.hasSuffix("/") ? path + name : "\(path)/\(name)"
        self.shownPath = shownPath
        directory = open(path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            throw ControlError(
                errno == ENOENT ? .notFound : .fileUnwritable,
                "The directory \(path) cannot be opened: \(String(cString: strerror(errno))).",
                hint: "Make it, or give another.")
        }
        if !replaces, faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 {
            close(directory)
            throw Self.exists(shownPath)
        }
        // Short, whatever the name: a name may have all the bytes that the system allows.
        temporary = ".lanyard-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        descriptor = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            let error = Self.failure(shownPath)
            close(directory)
            throw error
        }
        Interruption.willRemove(temporary, in: directory)
    }

    deinit { discard() }

    package static func isOnePart(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
            && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
    }

    /// Returns when the system has taken them.
    package func write(_ bytes: [UInt8]) throws(ControlError) {
        guard Descriptor.write(bytes, to: descriptor) else { throw Self.failure(shownPath) }
    }

    /// Makes the file durable under its name. Throws `already_exists` also if another program was faster.
    package func finish() throws(ControlError) {
        guard fsync(descriptor) == 0 else { throw Self.failure(shownPath) }
        if !replaces { try claimName() }
        if replaces || isClaimed, renameat(directory, temporary, directory, name) != 0 {
            throw Self.failure(shownPath)
        }
        fsync(directory)
        discard()
    }

    /// Gives the file its name. Renaming would replace a file that another program put there meanwhile; a link never does. File
    /// systems without links (of cameras and sticks) are given an empty file of that name first, which no other program can
    /// have made.
    private func claimName() throws(ControlError) {
        if linkat(directory, temporary, directory, name, 0) == 0 { return }
        guard errno == EPERM || errno == EOPNOTSUPP else {
            throw errno == EEXIST ? Self.exists(shownPath) : Self.failure(shownPath)
        }
        let claimed = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard claimed >= 0 else { throw errno == EEXIST ? Self.exists(shownPath) : Self.failure(shownPath) }
        close(claimed)
        isClaimed = true
    }

    /// Removes the file under the other name, if it is still there, and closes all.
    private func discard() {
        guard isOpen else { return }
        isOpen = false
        unlinkat(directory, temporary, 0)
        Interruption.hasRemoved()
        close(descriptor)
        close(directory)
    }

    private static func exists(_ path: String) -> ControlError {
        ControlError(
            .alreadyExists, "There is a file \(shown(path)) already; it was left as it is.",
            hint: "Give another name, or --force to replace it.")
    }

    /// Returns the error of the call that just failed.
    private static func failure(_ path: String) -> ControlError {
        let reason = errno
        if reason == ENOSPC || reason == EDQUOT {
            return ControlError(
                .diskFull, "No space is left for \(shown(path)); nothing was kept of it.",
                hint: "Free some space, or give another place.")
        }
        return ControlError(
            .fileUnwritable, "The file \(shown(path)) cannot be written: \(String(cString: strerror(reason))).",
            hint: "Check who may write there, or give another place.")
    }
}
