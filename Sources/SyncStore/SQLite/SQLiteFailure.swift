import GRDB
import GRDBSQLite
import Glibc

/// Turns SQLite's result codes into the refusals a caller can act on.
package enum SQLiteFailure {
    /// - Parameters:
    ///   - code: extended result code.
    ///   - systemError: errno of the failed call, 0 when there was none.
    package static func refusal(
        code: Int32, systemError: Int32, path: String, detail: @autoclosure () -> String
    ) -> StoreError {
        switch code & 0xff {
        case SQLITE_FULL: .diskFull
        case SQLITE_IOERR: systemError == ENOSPC || systemError == EDQUOT ? .diskFull : .inputOutput(code: code)
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH: .unreadable(path: path, code: systemError)
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_INTERRUPT, SQLITE_PROTOCOL, SQLITE_ABORT:
            .inputOutput(code: code)
        // SQLITE_CORRUPT, SQLITE_NOTADB; and whatever our own fixed SQL can only meet in a damaged file, or in one that the disk
        // did not read: when its power fails, the rest of a page comes as zeros.
        default: systemError == EIO ? .inputOutput(code: code) : .corrupt(detail: detail())
        }
    }

    static func refusal(_ connection: OpaquePointer?, code: Int32, path: String) -> StoreError {
        refusal(
            code: code, systemError: sqlite3_system_errno(connection), path: path,
            detail: sqlite3_errmsg(connection).map { String(cString: $0) } ?? "")
    }

    /// Returns the refusal for an error that GRDB throws while it opens a connection.
    static func refusal(_ error: any Error, path: String) -> StoreError {
        guard let error = error as? DatabaseError else { return .corrupt(detail: "\(type(of: error))") }
        return refusal(
            code: error.extendedResultCode.rawValue, systemError: errno, path: path,
            detail: error.message ?? "")
    }
}
