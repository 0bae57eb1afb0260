import SyncCore
import SyncModel

/// What a node takes for stable, every member it knows has held at some time: that is what allows it to forget. One that
/// was let go need not have, once all that are left have heard of that.
struct StabilityChecker: Checker {
    static let name = "stable is held by all"

    /// By node, all that its core ever held as durable, in whatever way it came.
    private var held: [Int: VersionVector] = [:]
    /// By node, what was found right last.
    private var checked: [Int: VersionVector] = [:]
    private let numbers = Dictionary(uniqueKeysWithValues: SimulatedDevice.all.enumerated().map { ($1.id, $0) })

    mutating func stepped(node: Int, _ core: AgentCore, bounds: CoreConfiguration.Bounds) -> String? {
        // By its keys: of two machines that run from one disk, either may have held it.
        let holder = numbers[core.membership.own] ?? node
        for entry in core.held.entries {
            held[holder, default: VersionVector()].advance(entry.replica, to: entry.tip.next)
        }
        let stable = core.stable
        guard !stable.isEmpty, checked[node] != stable else { return nil }
        checked[node] = stable
        let left = core.membership.members.filter { !core.cuts.isAway($0.device) }
        for member in core.membership.members {
            guard let number = numbers[member.device], !(held[number] ?? VersionVector()).covers(stable) else {
                continue
            }
            let cuts = core.cuts.cuts(holdingAway: member.device).map(\.dot)
            guard !cuts.isEmpty else { return "node \(node) takes for stable what node \(number) has never held" }
            for other in left.compactMap({ numbers[$0.device] })
            where !cuts.allSatisfy({ (held[other] ?? VersionVector()).covers($0) }) {
                return "node \(node) does not wait for node \(number), which node \(other) does not know was let go"
            }
        }
        return nil
    }
}
