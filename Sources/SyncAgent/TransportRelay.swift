import SyncModel
import SyncTransport

/// Breaks the circle between transport and loops (the transport holds its listener weakly and wants it at birth), and
/// gives the events of each connection to the loop of its protocol.
final class TransportRelay: TransportEvents {
    private var sessions: AgentLoop?
    private var bulk: BulkLoop?
    /// Bulk connections, from when they are dialled or were accepted until they are closed.
    private var bulkConnections: Set<UInt64> = []

    func connect(sessions: AgentLoop, bulk: BulkLoop) {
        self.sessions = sessions
        self.bulk = bulk
        bulk.willDial = { [weak self] connection in self?.bulkConnections.insert(connection) }
    }

    private func target(of connection: UInt64) -> (any TransportEvents)? {
        bulkConnections.contains(connection) ? bulk : sessions
    }

    /// The last event of a connection.
    private func lastTarget(of connection: UInt64) -> (any TransportEvents)? {
        bulkConnections.remove(connection) == nil ? sessions : bulk
    }

    func opened(
        _ connection: UInt64, _ protocol: ApplicationProtocol, direction: Direction, device: DeviceID, remote: HostPort
    ) {
        if `protocol` == .bulk { bulkConnections.insert(connection) }
        target(of: connection)?.opened(
            connection, `protocol`, direction: direction, device: device, remote: remote)
    }

    func received(_ connection: UInt64, payload: [UInt8]) {
        target(of: connection)?.received(connection, payload: payload)
    }

    func written(_ connection: UInt64, byteCount: Int) {
        target(of: connection)?.written(connection, byteCount: byteCount)
    }

    func closed(_ connection: UInt64, reason: EndReason) {
        lastTarget(of: connection)?.closed(connection, reason: reason)
    }

    func dialFailed(_ connection: UInt64, reason: EndReason) {
        lastTarget(of: connection)?.dialFailed(connection, reason: reason)
    }

    /// Tells the sessions of a connection that was turned away before its protocol was known.
    func turnedAway(_ remote: HostPort, device: DeviceID?, reason: EndReason) {
        sessions?.turnedAway(remote, device: device, reason: reason)
    }
}
