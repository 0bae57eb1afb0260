import Dispatch
import NIOPosix
import SyncStore
import Synchronization

/// A queue of work on a thread that may block: calls of a `BlobStore` are made here and never on the event loop.
///
/// The threads are shared, and get what others leave (`ThreadPriority`).
final class BlobThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    /// The threads: writing, serving, reading, upkeep, and some uploads have one each while they work.
    private static let pool = {
        let pool = NIOThreadPool(numberOfThreads: 6)
        pool.start()
        return pool
    }()

    private let state = Mutex(State())

    /// Waits for its turn and for the disk. Work that was begun is not cancelled.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(BlobError) -> Value
    ) async throws(BlobError) -> Value {
        try await result(body).get()
    }

    func result<Value: Sendable>(
        _ body: @escaping @Sendable () throws(BlobError) -> Value
    ) async -> Result<Value, BlobError> {
        await withCheckedContinuation { continuation in
            start { continuation.resume(returning: Result { () throws(BlobError) in try body() }) }
        }
    }

    func start(_ body: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            state.waiting.append(body)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isIdle { Self.pool.submit { _ in self.drain() } }
    }

    /// Returns when all that was begun is done. Not to be called from its own work.
    func finish() {
        let done = DispatchSemaphore(value: 0)
        start { done.signal() }
        done.wait()
    }

    private func drain() {
        // Only the first time on each thread counts.
        ThreadPriority.letOthersRunFirst()
        while true {
            let works = state.withLock { state in
                state.isRunning = !state.waiting.isEmpty
                defer { state.waiting = [] }
                return state.waiting
            }
            if works.isEmpty { return }
            for work in works { work() }
        }
    }
}
