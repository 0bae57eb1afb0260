import Dispatch
import Synchronization

/// The queue of the reads that tasks ask for, run on threads of its own, first come first served.
///
/// A read of SQLite blocks its thread, and the cooperative pool has one thread per core: a few slow reads there would stop
/// every task of the process. So a task waits here without a thread, and its read runs on a thread that no other task needs.
///
/// Invariant: a read waits only while all threads have one. A cancelled task gives up its turn while it waits; a read that has
/// begun ends by itself. Closing refuses all that wait, and all that come later.
package final class ReadQueue: Sendable {
    /// The reason for which a read did not begin.
    package enum Refusal: Error, Hashable, Sendable {
        /// The task was cancelled while it waited.
        case cancelled
        /// The queue was closed.
        case closed
    }

    private typealias Turn = CheckedContinuation<Result<ReadThread, Refusal>, Never>

    private struct State {
        var free: [ReadThread]
        /// The waiting reads in their order, by increasing id.
        var waiting: [(id: UInt64, turn: Turn)] = []
        var lastID: UInt64 = 0
        var isClosed = false

        mutating func takeThread() -> ReadThread? { waiting.isEmpty ? free.popLast() : nil }
    }

    private let state: Mutex<State>
    package let threadCount: Int

    package init(threadCount: Int) {
        precondition(threadCount > 0, "a queue of reads has \(threadCount) threads")
        self.threadCount = threadCount
        state = Mutex(State(free: (1...threadCount).map { ReadThread(number: $0) }))
    }

    /// The number of reads that wait.
    package var waitingCount: Int { state.withLock(\.waiting.count) }

    /// The number of threads without a read.
    package var freeCount: Int { state.withLock(\.free.count) }

    /// False in a task that would block a thread of the cooperative pool: its reads belong inside `run`.
    package static var mayBlock: Bool { withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil || $0 == nil } }

    /// Runs a read on one of the threads, when it is its turn.
    ///
    /// - Parameter refused: makes the caller's error of a refusal.
    package func run<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, refused: (Refusal) -> Failure
    ) async throws(Failure) -> Value {
        switch await turn() {
        case .failure(let refusal): throw refused(refusal)
        case .success(let thread):
            return try await withTaskExecutorPreference(thread) { () async throws(Failure) in
                defer { giveBack(thread) }
                return try body()
            }
        }
    }

    /// Refuses the reads that wait and all later ones. Reads that have begun go on.
    package func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for read in waiting { read.turn.resume(returning: .failure(.closed)) }
    }

    private func turn() async -> Result<ReadThread, Refusal> {
        let (now, id) = state.withLock { state -> (Result<ReadThread, Refusal>?, UInt64) in
            if state.isClosed { return (.failure(.closed), 0) }
            state.lastID += 1
            return (state.takeThread().map { .success($0) }, state.lastID)
        }
        if let now { return now }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                let now = state.withLock { state -> Result<ReadThread, Refusal>? in
                    if state.isClosed { return .failure(.closed) }
                    // Looked at under the lock: a cancellation from here on finds the turn among those that wait.
                    if Task.isCancelled { return .failure(.cancelled) }
                    if let thread = state.takeThread() { return .success(thread) }
                    let place = state.waiting.lastIndex { $0.id < id }.map { $0 + 1 } ?? 0
                    state.waiting.insert((id, turn), at: place)
                    return nil
                }
                if let now { turn.resume(returning: now) }
            }
        } onCancel: {
            let turn = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).turn }
            }
            turn?.resume(returning: .failure(.cancelled))
        }
    }

    private func giveBack(_ thread: ReadThread) {
        let next = state.withLock { state -> Turn? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().turn }
            state.free.append(thread)
            return nil
        }
        next?.resume(returning: .success(thread))
    }
}

/// A thread for reads, as the preference of the task whose read it runs.
private final class ReadThread: TaskExecutor {
    /// Serial: such a queue has a thread beside those of the global queues, which carry the cooperative pool.
    private let queue: DispatchQueue

    init(number: Int) { queue = DispatchQueue(label: "lanyard.store.read.\(number)", qos: .userInitiated) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
