import SyncCore
import SyncModel

/// Checks that every member a node knows has at some time held what the node takes for stable: that is what allows it to
/// forget. A retired member need not have, once all that are left have heard of its retirement.
struct StabilityChecker: Checker {
    static let name = "stable is held by all"

    /// Everything that the core ever held as durable, by node, in whatever way it came.
    private var held: [Int: VersionVector] = [:]
    /// The digest of what each node held at its last step, and under whose keys: most steps change nothing of it.
    private var looked: [Int: (holder: Int, digest: Sum256)] = [:]
    /// The vector last found right, by node.
    private var checked: [Int: VersionVector] = [:]
    private let numbers = Dictionary(uniqueKeysWithValues: SimulatedDevice.all.enumerated().map { ($1.id, $0) })

    mutating func stepped(node: Int, _ core: AgentCore, bounds: CoreConfiguration.Bounds) -> String? {
        // By its keys: of two machines that run from one disk, either may have held it.
        let holder = numbers[core.membership.own] ?? node
        if looked[node]?.holder != holder || looked[node]?.digest != core.held.digest {
            looked[node] = (holder, core.held.digest)
            for entry in core.held.entries {
                held[holder, default: VersionVector()].advance(entry.replica, to: entry.tip.next)
            }
        }
        let stable = core.stable
        guard !stable.isEmpty, checked[node] != stable else { return nil }
        checked[node] = stable
        let left = core.membership.members.filter { !core.cuts.isAway($0.device) }
        for member in core.membership.members {
            guard let number = numbers[member.device], !(held[number] ?? VersionVector()).covers(stable) else {
                continue
            }
            var cuts = core.cuts.cuts(holdingAway: member.device).map(\.dot)
            if core.cuts.isBarred(member.device) {
                // Where only void facts admitted it, some statement made them void.
                cuts = core.cuts.revocation(of: member.device).map { [$0.dot] } ?? core.cuts.trust.rows.map(\.dot)
            }
            guard !cuts.isEmpty else { return "node \(node) takes for stable what node \(number) has never held" }
            for other in left.compactMap({ numbers[$0.device] })
            where !cuts.allSatisfy({ (held[other] ?? VersionVector()).covers($0) }) {
                return "node \(node) does not wait for node \(number), which node \(other) does not know was retired"
            }
        }
        return nil
    }
}
