package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

/// The metrics of an agent, read at each scrape.
///
/// A scrape reads what the loop, the store and the transport keep in memory, and a few files of the kernel. It waits
/// for no count on the disk but the first one (`StoredFigureCache`), and its cost does not grow with the log.
package struct MetricsReader: Sendable {
    private let agent: Agent
    private let cache = StoredFigureCache()

    package init(agent: Agent) { self.agent = agent }

    /// Throws `stopping` once the agent ends.
    package func read() async throws(ControlError) -> MetricsText {
        let figures = try await agent.controlled { try await agent.figures() }
        let log: LogState
        do throws(StoreError) { log = try agent.logState() } catch {
            throw ControlError(agent: error, directory: agent.configuration.dataDirectory)
        }
        let stored = await cache.figures(of: agent)
        var metrics = AgentMetrics(agent: agent, figures: figures, stored: stored, held: log.held)
        metrics.earlyTimes = await cache.times(of: metrics.earlyOperations, agent: agent)
        return metrics.text
    }
}
