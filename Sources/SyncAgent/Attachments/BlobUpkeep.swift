import NIOCore
import SyncStore
import Synchronization

/// Long work that can wait: sweeps, and checks of all blobs. One at a time.
final class BlobUpkeep: Sendable {
    private static let pause = TimeAmount.hours(1)

    private let thread = BlobThread()
    private let state = Mutex(State())

    private struct State {
        var sweeps: RepeatedTask?
        var isStopped = false
    }

    /// Sweeps now, for the remains of a crash, and then once an hour.
    func start(
        on eventLoop: any EventLoop, journal: AgentJournal,
        _ sweep: @escaping @Sendable () async throws(BlobError) -> Void
    ) {
        let sweeps = eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.pause) { _ in
            Task {
                do throws(BlobError) { try await sweep() } catch { journal.record(code: error.code) }
            }
        }
        state.withLock { $0.sweeps = sweeps }
    }

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

    func compact(_ blobs: BlobStore) async throws(BlobError) -> BlobSweep {
        try await thread.run { () throws(BlobError) in try blobs.compact() }
    }

    /// Ends early, between two chunks, with its task or the agent.
    func checkAll(
        _ blobs: BlobStore, _ progress: @escaping @Sendable (BlobCheck) -> Void
    ) async throws(BlobError) -> BlobCheck {
        let task = Cancellation()
        let result = await withTaskCancellationHandler {
            await thread.result { [self] () throws(BlobError) in
                let isStopped = { task.isCancelled.withLock(\.self) || self.state.withLock(\.isStopped) }
                return try blobs.checkAll(isStopped: isStopped, progress)
            }
        } onCancel: {
            task.isCancelled.withLock { $0 = true }
        }
        return try result.get()
    }

    /// Returns when nothing runs any more.
    func stop() {
        let sweeps = state.withLock { state in
            state.isStopped = true
            return state.sweeps
        }
        sweeps?.cancel()
        thread.finish()
    }

    private final class Cancellation: Sendable {
        let isCancelled = Mutex(false)
    }
}
