import SyncStore
import Synchronization

/// What takes long and can wait: sweeps, and looks at all blobs. One at a time, stopped between two blobs.
final class BlobUpkeep: Sendable {
    private let thread = BlobThread("lanyard.blobs.upkeep")
    private let isStopped = Mutex(false)

    /// Blobs that no record names, then files that no row speaks of.
    func sweep(_ blobs: BlobStore) async throws(BlobError) -> BlobSweep {
        try await thread.run { () throws(BlobError) in
            var sweep = try blobs.sweep()
            let strays = try blobs.sweepStrays()
            sweep.strayCount += strays.strayCount
            sweep.strayBytes += strays.strayBytes
            return sweep
        }
    }

    func checkAll(
        _ blobs: BlobStore, _ progress: @escaping @Sendable (BlobCheck) -> Void
    ) async throws(BlobError) -> BlobCheck {
        let task = Cancellation()
        let result = await withTaskCancellationHandler {
            await thread.result { [self] () throws(BlobError) in
                try blobs.checkAll { check in
                    progress(check)
                    return !task.isCancelled.withLock(\.self) && !isStopped.withLock(\.self)
                }
            }
        } onCancel: {
            task.isCancelled.withLock { $0 = true }
        }
        return try result.get()
    }

    func stop() {
        isStopped.withLock { $0 = true }
        thread.finish()
    }

    private final class Cancellation: Sendable {
        let isCancelled = Mutex(false)
    }
}
