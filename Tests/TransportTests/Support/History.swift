import Synchronization

/// What happened so far, and a way to wait for what has not happened yet.
final class History<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state = Mutex(State())

    var all: [Entry] { state.withLock { $0.entries } }

    func append(_ entry: Entry) {
        let watchers = state.withLock { state in
            state.entries.append(entry)
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield() }
    }

    /// The first answer that `find` gives on what happened, now or later; bounded by `patience`.
    func first<T: Sendable>(_ what: String, _ find: @escaping @Sendable ([Entry]) -> T?) async throws -> T {
        let (changes, id) = watch()
        defer { state.withLock { _ = $0.watchers.removeValue(forKey: id) } }
        do {
            return try await bounded(what) {
                for await _ in changes {
                    if let found = find(self.all) { return found }
                }
                throw CancellationError()
            }
        } catch let error as Overdue {
            throw Overdue(what: "\(error.what); so far: \(all)")
        }
    }

    private func watch() -> (AsyncStream<Void>, Int) {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let id = state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = continuation
            return state.nextWatcher
        }
        return (changes, id)
    }
}
