import ControlAPI
import SyncAgent
import SyncModel
import SyncStore
import Synchronization

/// The live queries whose readers wait for a change.
///
/// One task brings all of their results up to date after each commit, in one view of the store: a changed object is read and
/// compared once, and only the readers it concerns are woken. A reader that is still busy with its last difference is not part
/// of it; it catches up by itself when it comes back, so a slow one holds nothing but its places.
final class LiveQueries: Sendable {
    /// The reason for which a reader was woken.
    enum Wake: Sendable {
        case changed(LiveResult, LiveLines)
        /// The result must be searched anew.
        case outdated
        /// The commit a reader looked at is not the newest any more.
        case again(LiveResult)
        case failed(ControlError)
        /// The agent stops, or the task was cancelled.
        case ended
    }

    private struct Waiting {
        /// Nil while the result is brought up to date.
        var result: LiveResult?
        let continuation: CheckedContinuation<Wake, Never>
    }

    private struct State {
        var waiting: [UInt64: Waiting] = [:]
        var lastID: UInt64 = 0
        var isRunning = false
        /// The places of all results together.
        var places = 0
    }

    /// The places that all results together may keep, some 150 bytes each.
    private static let maximumPlaces = 1_000_000

    let agent: Agent
    private let state = Mutex(State())

    init(_ agent: Agent) { self.agent = agent }

    /// Searches the result of a query, or what changed of it behind a position. Throws as `Agent.beginLive` does.
    ///
    /// - Parameter query: its limit is `.max` for no limit.
    func begin(_ query: ObjectListQuery, after position: String?) async throws(ControlError) -> LiveReading {
        try agent.checkSpace(query.space)
        let (result, lines) = try await agent.beginLive(try agent.liveStoreQuery(query), after: position)
        return LiveReading(self, result, lines)
    }

    /// Records that a result keeps another number of places. Throws `too_large` if all results together keep too many.
    func reserve(_ change: Int) throws(ControlError) {
        let isKept = state.withLock { state in
            guard change <= 0 || state.places + change <= Self.maximumPlaces else { return false }
            state.places += change
            return true
        }
        guard isKept else {
            throw ControlError(
                .tooLarge, "All live queries together hold more than \(Self.maximumPlaces) objects.",
                hint: "Give them limits, or end some of them.")
        }
    }

    /// Waits for a difference. It returns at once if the result is behind.
    ///
    /// A result is passed on from hand to hand, and never held twice: a copy of it would be as large as the result.
    func next(_ result: consuming LiveResult) async throws(ControlError) -> Wake {
        var results = [consume result]
        while true {
            // Read before looking: what is committed after the look is found by the next one.
            let version = agent.objectSignal.version
            let step = try await advance(&results)[0]
            switch step {
            case .unchanged: break
            case .outdated: return .outdated
            case .changed(let lines): return .changed(results.removeLast(), lines)
            }
            let wake = await wait(results.removeLast(), since: version)
            guard case .again(let same) = wake else { return wake }
            results.append(same)
        }
    }

    private enum Step: Sendable {
        case unchanged
        case changed(LiveLines)
        case outdated
    }

    private func advance(_ results: inout [LiveResult]) async throws(ControlError) -> [Step] {
        try await agent.reading { () throws(ControlError) in
            let found = try agent.read { () throws(StoreError) in try agent.store.advance(&results) }
            var entries = LiveEntries(agent.store)
            var steps: [Step] = []
            for (index, step) in found.enumerated() {
                switch step {
                case .unchanged: steps.append(.unchanged)
                case .outdated: steps.append(.outdated)
                case .changed(let difference, let objects):
                    let lines = try agent.read { () throws(StoreError) in try entries.lines(difference, objects) }
                    steps.append(
                        .changed(LiveLines(lines: lines, position: LivePosition(of: results[index]).text)))
                }
            }
            return steps
        }
    }

    private func wait(_ result: consuming LiveResult, since version: UInt64) async -> Wake {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        // Taken where it goes: this frame lives as long as the wait.
        var held: LiveResult? = consume result
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (wake, starts): (Wake?, Bool) = state.withLock { state in
                    if agent.objectSignal.isFinished || Task.isCancelled { return (.ended, false) }
                    if agent.objectSignal.version != version {
                        return (held.take().map { .again($0) } ?? .ended, false)
                    }
                    state.waiting[id] = Waiting(result: held.take(), continuation: continuation)
                    defer { state.isRunning = true }
                    return (nil, !state.isRunning)
                }
                if let wake { continuation.resume(returning: wake) }
                if starts { Task { await run(since: version) } }
            }
        } onCancel: {
            let waiting = state.withLock { $0.waiting.removeValue(forKey: id) }
            waiting?.continuation.resume(returning: .ended)
        }
    }

    /// Brings the waiting results up to date after each commit, as long as there are any.
    ///
    /// - Parameter version: that of the signal up to which all waiting results are up to date.
    private func run(since version: UInt64) async {
        var version = version
        while true {
            await agent.objectSignal.wait(beyond: version)
            if agent.objectSignal.isFinished {
                endAll()
                return
            }
            version = agent.objectSignal.version
            var (ids, results) = state.withLock { state in
                let ids = state.waiting.keys.sorted()
                if ids.isEmpty { state.isRunning = false }
                return (ids, ids.compactMap { state.waiting[$0]?.result.take() })
            }
            if ids.isEmpty { return }
            do throws(ControlError) {
                for (id, step) in zip(ids, try await advance(&results)).reversed() {
                    give(id, results.removeLast(), step)
                }
            } catch {
                for id in ids { resume(id, .failed(error)) }
            }
        }
    }

    private func give(_ id: UInt64, _ result: LiveResult, _ step: Step) {
        switch step {
        case .unchanged: state.withLock { $0.waiting[id]?.result = result }
        case .outdated: resume(id, .outdated)
        case .changed(let lines): resume(id, .changed(result, lines))
        }
    }

    private func resume(_ id: UInt64, _ wake: Wake) {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.continuation.resume(returning: wake)
    }

    private func endAll() {
        let waiting = state.withLock { state in
            state.isRunning = false
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.continuation)
        }
        for continuation in waiting { continuation.resume(returning: .ended) }
    }
}
