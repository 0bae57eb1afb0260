import Glibc

/// The translation of `errno` into a refusal that the caller can act on.
enum PosixFailure {
    /// The refusal for the call that just failed.
    static var last: BlobError { refusal(errno) }

    static func refusal(_ code: Int32) -> BlobError {
        switch code {
        // Beyond what the file system, or a limit of the process, allows for a file counts as full, too.
        case ENOSPC, EDQUOT, EFBIG: .diskFull
        case EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ELOOP, EISDIR, ENOTEMPTY, EEXIST: .unreadable(code: code)
        default: .inputOutput(code: code)
        }
    }

    /// True if the code can mean that bytes accepted earlier are lost (fsync(2)).
    static func isOfWriting(_ code: Int32) -> Bool { isOfDisk(code) || code == ENOSPC || code == EDQUOT }

    /// True if the code comes from the disk or its file system, and not from a limit of this process or machine.
    static func isOfDisk(_ code: Int32) -> Bool {
        switch code {
        // The last two are what ext4 and XFS call damage of their own structures.
        case EIO, EUCLEAN, EBADMSG: true
        default: false
        }
    }
}
