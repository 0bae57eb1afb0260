import SyncModel
import SyncStore
import Synchronization

/// The writer that makes durable changes of applications' writes. A write never waits for company: it commits at once, and the
/// writes that arrive meanwhile are the next group.
///
/// From the caller's task straight to the store's thread and back. The agent's loop hears of each commit, in order, before
/// the callers do.
final class LocalWriter: Sendable {
    private typealias Answer = CheckedContinuation<[Result<WriteOutcome, WriteRefusal>], any Error>

    private struct Request: Sendable {
        let writes: [LocalWrite]
        let answer: Answer
    }

    private struct State {
        var waiting: [Request] = []
        /// True from the first request until a commit leaves none.
        var isCommitting = false

        /// Takes the requests of the next commit: as many as fit, at least one.
        mutating func takeGroup() -> [Request] {
            var (count, changes) = (0, 0)
            while count < waiting.count, count == 0 || changes + waiting[count].writes.count <= Limits.changesPerGroup {
                changes += waiting[count].writes.count
                count += 1
            }
            defer { waiting.removeFirst(count) }
            return Array(waiting[..<count])
        }
    }

    private let store: StoreDriver
    private let journal: AgentJournal
    private let committed: @Sendable (Commit) -> Void
    private let state = Mutex(State())

    /// - Parameter committed: called on the store's thread after each commit.
    init(store: StoreDriver, journal: AgentJournal, committed: @escaping @Sendable (Commit) -> Void) {
        self.store = store
        self.journal = journal
        self.committed = committed
    }

    /// The number of requests that wait for the next commit.
    var waitingCount: Int { state.withLock(\.waiting.count) }

    /// Makes one change per write, in this order, all in one commit; at most `Limits.changesPerGroup` writes. A refused write
    /// does not affect the others.
    func write(_ writes: [LocalWrite]) async throws -> [Result<WriteOutcome, WriteRefusal>] {
        precondition(writes.count <= Limits.changesPerGroup, "a commit takes \(writes.count) changes")
        if journal.isIdentityShared { throw AgentError.duplicateIdentity }
        // Of a revocation that reached the tables, the store says whether it holds.
        if let revocation = journal.ownRevocation, writes.contains(where: \.needsWriter),
            try store.store.logState().cuts.trust.row(at: revocation) == nil
        {
            throw StoreError.retired
        }
        return try await withCheckedThrowingContinuation { answer in
            let isFirst = state.withLock { state in
                state.waiting.append(Request(writes: writes, answer: answer))
                defer { state.isCommitting = true }
                return !state.isCommitting
            }
            if isFirst { store.onWriter { [self] store in commit(to: store) } }
        }
    }

    /// Commits the next group, on the store's thread.
    private func commit(to replica: SQLiteStore) {
        let group = state.withLock { $0.takeGroup() }
        let writes = group.count == 1 ? group[0].writes : group.flatMap(\.writes)
        do {
            let result = try store.measures.commits.timing { () throws(StoreError) in
                try replica.append(writes, wallMilliseconds: WallClock.milliseconds)
            }
            committed(result.commit)
            answer(group, result.outcomes)
        } catch {
            journal.record(code: StoreDriver.code(of: error))
            for request in group { request.answer.resume(throwing: error) }
        }
        let hasMore = state.withLock { state in
            state.isCommitting = !state.waiting.isEmpty
            return state.isCommitting
        }
        // Not at once: the store's other writes have their turn.
        if hasMore { store.onWriter { [self] store in commit(to: store) } }
    }

    private func answer(_ group: [Request], _ outcomes: [Result<WriteOutcome, WriteRefusal>]) {
        if group.count == 1 { return group[0].answer.resume(returning: outcomes) }
        var rest = outcomes[...]
        for request in group {
            request.answer.resume(returning: Array(rest.prefix(request.writes.count)))
            rest = rest.dropFirst(request.writes.count)
        }
    }
}
