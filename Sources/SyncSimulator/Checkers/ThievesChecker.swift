import SyncCore
import SyncModel
import SyncStore

/// Checks that a thief has nothing of its theft. A node that holds a device's revocation has no session with it. In the end all
/// members give all devices the same roles; nothing that a thief wrote beyond its end is shown; it let no device in;
/// and all that honest members wrote counts, unless an honest admin decided otherwise.
struct ThievesChecker: Checker {
    static let name = "thieves are kept out"

    private var roles: [DeviceID: MemberFact.Role]?

    mutating func stepped(node: Int, _ core: AgentCore, bounds: CoreConfiguration.Bounds) -> String? {
        guard let barred = core.cuts.verdicts?.barred, !barred.isEmpty else { return nil }
        guard let device = core.connectedDevices.first(where: barred.contains) else { return nil }
        return "node \(node) has a session with \(device.shortID), which it refuses"
    }

    mutating func thievesEnded(_ ending: ThievesEnding) -> String? {
        let cuts = ending.state.cuts
        guard let known = cuts.verdicts?.roles else {
            // It may lack what members said of roles.
            return ending.isAtRest ? "node \(ending.node) judges no roles" : nil
        }
        for dot in ending.events where ending.thieves.contains(dot.replica.device) {
            if dot.counter >= ThievesEnding.namedEnd(of: dot.replica, cuts) || cuts.isStrictlyVoid(dot) {
                return "node \(ending.node) shows the event \(dot), which a thief wrote beyond its end"
            }
        }
        if let thief = ending.thieves.first, known[thief] != nil, ending.isRevokedByKey(thief) {
            return "node \(ending.node) takes the thief for a member, which the recovery key has revoked"
        }
        guard ending.isAtRest else { return nil }
        if let roles, roles != known {
            return "node \(ending.node) gives the roles \(Self.text(known)), and another one \(Self.text(roles))"
        }
        roles = known
        for tip in ending.state.tips where ending.steady.contains(tip.replica.device) {
            if known[tip.replica.device] == .reader { continue }
            if let end = cuts.strictEnd(of: tip.replica), end < tip.tip.next {
                return "node \(ending.node) ends \(tip.replica) at \(end) of \(tip.tip.next), by no honest admin's word"
            }
        }
        if ending.thieves.count == 2 {
            let (thief, accomplice) = (ending.thieves[0], ending.thieves[1])
            if known[thief] != nil { return "node \(ending.node) takes the thief for a member" }
            if known[accomplice] != nil, !ThievesEnding.hasAdmitted(thief, accomplice, ending.state) {
                return "node \(ending.node) takes for a member a device that the thief let in beyond its end"
            }
        }
        return nil
    }

    private static func text(_ roles: [DeviceID: MemberFact.Role]) -> String {
        roles.sorted { $0.key < $1.key }.map { "\($0.key.shortID) \($0.value)" }.joined(separator: ", ")
    }
}
