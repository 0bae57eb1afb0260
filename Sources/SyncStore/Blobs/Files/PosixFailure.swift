import Glibc

/// What `errno` says, as a refusal somebody can act on.
enum PosixFailure {
    /// Of the call that failed just now.
    static var last: BlobError { refusal(errno) }

    static func refusal(_ code: Int32) -> BlobError {
        switch code {
        // Beyond what the file system, or a limit of the process, allows for a file counts as full, too.
        case ENOSPC, EDQUOT, EFBIG: .diskFull
        case EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ELOOP, EISDIR, ENOTEMPTY, EEXIST: .unreadable(code: code)
        default: .inputOutput(code: code)
        }
    }

    /// Whether bytes that were taken before can turn out to be lost so (fsync(2)).
    static func isOfWriting(_ code: Int32) -> Bool { isOfDisk(code) || code == ENOSPC || code == EDQUOT }

    /// Whether it is the disk, or the file system on it, that says so, and not a limit of this process or machine.
    static func isOfDisk(_ code: Int32) -> Bool {
        switch code {
        // The last two are what ext4 and XFS call damage of their own structures.
        case EIO, EUCLEAN, EBADMSG: true
        default: false
        }
    }
}
