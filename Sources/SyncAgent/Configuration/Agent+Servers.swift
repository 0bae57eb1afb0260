import Synchronization

// The servers over TCP that have their addresses from the configuration: `metrics` and `dashboard`. The process runs them.

/// The result of giving a server an address.
package enum ServerMove: Sendable {
    /// The server listens there already; or there is none, as before.
    case asBefore
    /// The server listens at the address; or it is closed, if there is none.
    case moved
    /// The server cannot listen there. The one before goes on where it could.
    case failed(message: String, hint: String)
}

/// Gives a server, `metrics` or `dashboard`, its address; nil: it is to be closed.
package typealias ServerSetter =
    @Sendable (ConfigurationLayer.Key, AgentConfiguration.ListenAddress?) async -> ServerMove

extension Agent {
    /// Sets what moves the servers when the configuration is read again. Without it their addresses count from the next start on.
    package func moveServers(by setter: @escaping ServerSetter) { servers.withLock { $0 = setter } }

    /// Gives each server the address that the configuration has for it. Empty if nothing moves servers.
    func moveServers(to wanted: AgentConfiguration) async -> [ConfigurationLayer.Key: ServerMove] {
        guard let set = servers.withLock(\.self) else { return [:] }
        let addresses = [(ConfigurationLayer.Key.metrics, wanted.metrics), (.dashboard, wanted.dashboard)]
        var moves: [ConfigurationLayer.Key: ServerMove] = [:]
        // One that is closed leaves its port to another.
        for (key, address) in addresses.filter({ $0.1 == nil }) + addresses.filter({ $0.1 != nil }) {
            moves[key] = await set(key, address)
        }
        return moves
    }
}
