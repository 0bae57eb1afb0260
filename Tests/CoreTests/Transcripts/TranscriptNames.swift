import SyncCore
import SyncModel
import SyncSimulator

/// The short names that a transcript uses: device `2`, and `2a`, `2b`, … for its replicas in the order they are met.
final class TranscriptNames {
    private var replicas: [DeviceID: [ReplicaID]] = [:]

    func name(_ device: DeviceID) -> String {
        SimulatedDevice.all.firstIndex { $0.id == device }.map { "\($0 + 1)" } ?? "stranger"
    }

    /// The node at an address, which the scenarios call `node0` and on.
    func name(_ endpoint: Endpoint) -> String {
        Int(endpoint.host.dropFirst("node".count)).map { "\($0 + 1)" } ?? endpoint.host
    }

    func name(_ replica: ReplicaID) -> String {
        var known = replicas[replica.device] ?? []
        let index = known.firstIndex(of: replica) ?? known.count
        if index == known.count {
            known.append(replica)
            replicas[replica.device] = known
        }
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        return name(replica.device) + (index < letters.count ? String(letters[index]) : "?")
    }

    /// `1a:3 2a:1`: the next counter of each replica, sorted by name.
    func vector(_ entries: some Sequence<(ReplicaID, UInt64)>) -> String {
        let shown = entries.map { "\(name($0.0)):\($0.1)" }.sorted()
        return shown.isEmpty ? "nothing" : shown.joined(separator: " ")
    }

    func vector(_ vector: VersionVector) -> String { self.vector(vector.entries.map { ($0.replica, $0.next) }) }

    /// `1a 0..<3`: the counters of a segment.
    func segments(_ segments: some Sequence<(ReplicaID, UInt64, UInt64)>) -> String {
        let shown = segments.map { "\(name($0.0)) \($0.1)..<\($0.2)" }
        return shown.isEmpty ? "nothing" : shown.joined(separator: ", ")
    }
}
