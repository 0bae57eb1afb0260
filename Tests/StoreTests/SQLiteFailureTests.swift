import Glibc
import SyncStore
import Testing

/// What SQLite's result codes are called.
@Suite struct SQLiteFailureTests {
    private func refusal(_ code: Int32, _ systemError: Int32) -> StoreError {
        SQLiteFailure.refusal(code: code, systemError: systemError, path: "p", detail: "d")
    }

    /// SQLITE_ABORT is 4, SQLITE_IOERR 10, SQLITE_CORRUPT 11.
    @Test func `a damaged file is corrupt, one that the disk does not read is not`() {
        guard case .corrupt = refusal(11, 0) else {
            Issue.record("a damaged file")
            return
        }
        for (code, systemError) in [(11, EIO), (10, EIO), (4, 0)] as [(Int32, Int32)] {
            guard case .inputOutput(code: code) = refusal(code, systemError) else {
                Issue.record("code \(code)")
                continue
            }
        }
    }
}
