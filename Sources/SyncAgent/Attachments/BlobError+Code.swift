package import SyncStore

extension BlobError {
    /// Stable: for logs, metrics, `why`, and the core, which tells a full quota from a disk that refuses everything.
    package var code: String {
        switch self {
        case .diskFull: "disk_full"
        case .quotaExceeded: "quota_exceeded"
        case .tooLarge: "too_large"
        case .sourceChanged: "file_changed"
        case .sourceUnreadable: "file_unreadable"
        case .inputOutput: "disk_error"
        case .unreadable: "directory_unreadable"
        case .notHere: "not_here"
        case .damaged: "damaged"
        case .wrongChunk, .wrongHashes: "wrong_bytes"
        case .incomplete: "incomplete"
        case .store(let error): StoreDriver.code(of: error)
        }
    }
}
