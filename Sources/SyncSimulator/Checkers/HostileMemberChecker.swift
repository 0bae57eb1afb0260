import SyncCore
import SyncModel

/// Checks a world with a member that turned bad: no node believes what it says of others. The world has no fork and no copied
/// key, so each one that is reported was invented; a report of its own key makes a node stop its writes.
struct HostileMemberChecker: Checker {
    static let name = "a member's word stops nothing"

    mutating func reported(node: Int, device: DeviceID, _ report: Report) -> String? {
        switch report {
        case .forked(let replica, let peer):
            return "node \(node) takes \(replica) for forked, by the word of \(peer.shortID)"
        case .tookBack(let replica, let peer):
            return "node \(node) took \(replica) back, by the word of \(peer.shortID)"
        case .duplicateIdentity(device): return "node \(node) believes that its key is used twice, and stops its writes"
        case _: return nil
        }
    }

    mutating func stepped(node: Int, _ core: AgentCore, bounds: CoreConfiguration.Bounds) -> String? {
        core.cuts.isEmpty ? nil : "node \(node) takes a device for retired, and no person retired one"
    }
}
