import ControlAPI
import SyncAgent
import SyncModel
import SyncStore
import Synchronization

/// The figures that only a count on the disk gives: conflicts, attachments.
struct StoredFigures: Sendable {
    var conflicts = 0
    var missing = MissingFigures()
    var blobs = BlobUsage()
    var takenAt = ContinuousClock.now

    /// Counts. To be called on a reading thread.
    init(of agent: Agent) throws(ControlError) {
        conflicts = try agent.conflictCount(upTo: 256)
        let store = agent.store
        missing = try agent.read { () throws(StoreError) in try store.missingFigures(of: .home) }
        do throws(BlobError) { blobs = try agent.attachments.blobs.usage() } catch { throw agent.refusal(error) }
    }
}

/// The last count of the figures on the disk, and the times of old operations. A scrape takes what is here, and has it
/// counted anew when it is old.
///
/// Bounds: one count at a time; the times of 4,096 operations.
final class StoredFigureCache: Sendable {
    private struct State {
        var figures: StoredFigures?
        var isCounting = false
        var times: [VersionVector.Entry: Int64] = [:]
    }

    private static let goodFor = Duration.seconds(5)
    private static let timeLimit = 4_096
    /// Operations that one scrape looks up in the log: a look-up costs some microseconds.
    private static let looksPerScrape = 64

    private let state = Mutex(State())

    /// Returns the last count; waits only for the first one.
    func figures(of agent: Agent) async -> StoredFigures? {
        let (known, mustCount) = state.withLock { state in
            let isOld = state.figures.map { ContinuousClock.now - $0.takenAt > Self.goodFor } ?? true
            let mustCount = isOld && !state.isCounting
            if mustCount { state.isCounting = true }
            return (state.figures, mustCount)
        }
        guard mustCount else { return known }
        let counting = Task { [self] in await count(agent) }
        return if let known { known } else { await counting.value }
    }

    private func count(_ agent: Agent) async -> StoredFigures? {
        let counted = try? await agent.reading { () throws(ControlError) in try StoredFigures(of: agent) }
        return state.withLock { state in
            state.isCounting = false
            if let counted { state.figures = counted }
            return state.figures
        }
    }

    /// Returns the times of operations, by their authors' clocks, in milliseconds since 1970. Those that are not known
    /// are looked up, a few in each scrape.
    func times(of operations: Set<VersionVector.Entry>, agent: Agent) async -> [VersionVector.Entry: Int64] {
        var known = state.withLock(\.times).filter { operations.contains($0.key) }
        let unknown = operations.filter { known[$0] == nil }.prefix(Self.looksPerScrape)
        guard !unknown.isEmpty else { return known }
        let found = try? await agent.reading { () throws(ControlError) in
            var found: [VersionVector.Entry: Int64] = [:]
            let store = agent.store
            for entry in unknown {
                found[entry] = try agent.read { () throws(StoreError) in
                    try store.wallMilliseconds(of: entry.replica, at: entry.next)
                }
            }
            return found
        }
        guard let found else { return known }
        state.withLock { state in
            if state.times.count + found.count > Self.timeLimit { state.times = [:] }
            state.times.merge(found) { $1 }
        }
        known.merge(found) { $1 }
        return known
    }
}
