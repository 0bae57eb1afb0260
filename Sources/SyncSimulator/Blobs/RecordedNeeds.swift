import Synchronization
import SyncModel
import SyncStore

/// The blobs that the records of a simulated machine name. The machine may die while it is asked.
final class RecordedNeeds: BlobNeeds {
    private let state: Mutex<(store: SQLiteStore?, folder: CrashFolder)>

    init(_ folder: CrashFolder) { state = Mutex((nil, folder)) }

    /// The process that runs now, and the files beside it.
    func set(_ store: SQLiteStore?, _ folder: CrashFolder) { state.withLock { $0 = (store, folder) } }

    func need(of blob: BlobName) throws(StoreError) -> BlobNeed {
        let (store, folder) = state.withLock { ($0.store, $0.folder) }
        do throws(BlobError) { try folder.pass() } catch { throw .inputOutput(code: 5) }
        return try store?.need(of: blob) ?? .needed
    }
}

extension SQLiteStore {
    func need(of blob: BlobName) throws(StoreError) -> BlobNeed { try RecordNeeds(self).need(of: blob) }
}
