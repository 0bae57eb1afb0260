import SyncModel
import SyncStore

/// The database that rows of blobs lie in, on a simulated disk that never lies: what was committed is durable. So it goes on
/// when a process or the power ends; who used it knows nothing of that, and opens its blobs anew.
///
/// Records are no part of it: those lie in a `MemoryStore`.
final class BlobDatabase: Sendable {
    let store: SQLiteStore
    private let directory: ScratchDirectory

    /// - Throws: `unreadable` where there is no tmpfs, and what opening a store throws.
    init(_ device: SimulatedDevice) throws(StoreError) {
        guard let directory = ScratchDirectory() else { throw .unreadable(path: "/dev/shm", code: 0) }
        var configuration = SQLiteConfiguration(directory: directory.path, leases: nil)
        configuration.readerCount = 1
        // The real machine's free space must not decide anything.
        configuration.reserveBytes = 0
        store = try SQLiteStore(configuration, device: device.id, incarnations: { 0 }, sign: device.sign)
        self.directory = directory
    }

    deinit { store.close() }
}
