import Synchronization

/// A signal that wakes waiting readers after a change. It carries no data: a reader asks the store from its own position, so
/// a slow one costs nothing and misses nothing.
package final class ChangeSignal: Sendable {
    private struct State {
        var version: UInt64 = 0
        var isFinished = false
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Grows with every change. Read it before looking, then wait for one that is greater: nothing is missed between.
    package var version: UInt64 { state.withLock(\.version) }

    package var isFinished: Bool { state.withLock(\.isFinished) }

    /// Wakes all that wait.
    package func touch() {
        wake { $0.version += 1 }
    }

    /// Ends all waits, now and later.
    func finish() {
        wake { $0.isFinished = true }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.self)
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Returns when the version is greater than `version`, the agent stops, or the task is cancelled.
    package func wait(beyond version: UInt64) async {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.version > version || state.isFinished || Task.isCancelled { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    /// The same, and returns at the latest after this time.
    package func wait(beyond version: UInt64, atMost patience: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(beyond: version) }
            group.addTask { try? await Task.sleep(for: patience) }
            await group.next()
            group.cancelAll()
        }
    }
}
