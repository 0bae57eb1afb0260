import SyncModel
import SyncStore
import Synchronization
import SyncTransport

/// The upgrade of an older program's store, while it runs: before there is an agent that listens and dials.
package struct AgentUpgrade: Sendable {
    /// The id of this device, and the first seven characters of it.
    package let device: String
    package let shortID: String
    package let name: String
    /// The version of this program, to which the store is brought.
    package let version: String
    /// The share that is done, from 0 to 1.
    package let share: Double
    /// The agent for reads of its store, which are answered with what the older program knew; nil while nothing can be read.
    /// Only reads: it has no loop yet.
    package let agent: Agent?

    package init(
        device: String, shortID: String, name: String, version: String, share: Double, agent: Agent? = nil
    ) {
        self.device = device
        self.shortID = shortID
        self.name = name
        self.version = version
        self.share = share
        self.agent = agent
    }
}

/// Passes on how far the upgrade is, with the agent once its store can be read.
final class UpgradeWatch: Sendable {
    private struct State {
        var agent: Agent?
        var share = 0.0
    }

    private let identity: DeviceIdentity
    private let name: String
    private let version: String
    private let body: @Sendable (AgentUpgrade) -> Void
    private let state = Mutex(State())

    init(
        _ identity: DeviceIdentity, name: String, version: String, body: @escaping @Sendable (AgentUpgrade) -> Void
    ) {
        self.identity = identity
        self.name = name
        self.version = version
        self.body = body
    }

    /// To be called on the thread that opens the store.
    func record(_ upgrade: StoreUpgrade) {
        state.withLock { $0.share = upgrade.share }
        pass()
    }

    func letRead(_ agent: Agent) {
        state.withLock { $0.agent = agent }
        pass()
    }

    private func pass() {
        let (agent, share) = state.withLock { ($0.agent, $0.share) }
        let device = identity.deviceID
        body(
            AgentUpgrade(
                device: "\(device)", shortID: device.shortID, name: name, version: version, share: share, agent: agent))
    }
}
