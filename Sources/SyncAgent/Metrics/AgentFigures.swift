package import SyncCore
package import SyncStore
import SyncTransport

/// The state of an agent at one moment with what metrics need beside a snapshot.
package struct AgentFigures: Sendable {
    package let snapshot: AgentSnapshot
    package let lag: LagMeter
    package let durability: [DurabilityMeter.Level]
    /// The time since which a change is durable here and not signed: it is no part of a session yet.
    package let openSince: Tick?
    package let load: CoreLoad
    package let bounds: CoreConfiguration.Bounds
    package let bulkBounds: BulkConfiguration.Bounds
    package let refusals: [(code: String, count: Int)]
    package let sessions: SessionCounts
    package let commits: DurationCounts
    package let applies: DurationCounts
    package let syncs: DurationCounts
    /// Requests that wait for the commit that is under way, and reads that wait for a thread.
    package let waitingWrites: Int
    package let waitingReads: Int
    package let readThreads: (busy: Int, count: Int)

    /// Takes the figures; on the loop only.
    init(snapshot: AgentSnapshot, loop: AgentLoop, agent: Agent) {
        self.snapshot = snapshot
        lag = loop.meters.lag
        durability = loop.meters.durability.levels
        openSince = loop.meters.openSince
        load = loop.core.load
        bounds = loop.core.configuration.bounds
        bulkBounds = loop.bulk?.core.configuration.bounds ?? BulkConfiguration.Bounds()
        refusals = loop.transport.refusals.all.map { ($0.reason.rawValue, Int(clamping: $0.count)) }
        sessions = agent.journal.sessions
        commits = agent.driver.measures.commits.counts
        applies = agent.driver.measures.applies.counts
        syncs = agent.driver.store.syncs.counts
        waitingWrites = agent.writer.waitingCount
        waitingReads = agent.driver.reads.waitingCount
        readThreads = (
            agent.driver.reads.threadCount - agent.driver.reads.freeCount, agent.driver.reads.threadCount
        )
    }
}

extension Agent {
    /// Returns the log as it is behind the newest commit. Reads memory only, so that any task may call it.
    package func logState() throws(StoreError) -> LogState { try driver.store.logState() }
}
