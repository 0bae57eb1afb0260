import SyncCore
import SyncModel

/// Checks that no event is dropped before every member that was not retired has held it. It goes by what nodes have ever
/// held, not by what they said.
struct DroppedEventsChecker: Checker {
    static let name = "dropped events were held by all"

    /// Everything ever held as durable, by the device whose keys the node has.
    private var held: [DeviceID: VersionVector] = [:]
    /// The members that each node waits for; while its store works on a drop, those that it waited for at the request. A
    /// member admitted meanwhile finds the events gone, like every later one.
    private var waitedFor: [Int: [DeviceID]] = [:]
    private var steps: [Int: Int] = [:]
    private var owners: [Int: DeviceID] = [:]
    /// The digest of what each node held at its last step: most steps change nothing of it.
    private var digests: [Int: Sum256] = [:]

    mutating func stepped(node: Int, _ core: AgentCore, bounds: CoreConfiguration.Bounds) -> String? {
        let own = core.membership.own
        if owners[node] != own || digests[node] != core.held.digest {
            owners[node] = own
            digests[node] = core.held.digest
            for entry in core.held.entries {
                held[own, default: VersionVector()].advance(entry.replica, to: entry.tip.next)
            }
        }
        let step = core.droppingEventsStep
        if step == nil || step != steps[node] {
            let cuts = core.cuts
            waitedFor[node] = core.membership.members.map(\.device).filter { !cuts.isAway($0) }
        }
        steps[node] = step
        return nil
    }

    mutating func committed(node: Int, _ segments: [VerifiedSegment], before: VersionVector) -> String? {
        for verified in segments where verified.segment.replica.device == owners[node] {
            let segment = verified.segment
            guard segment.start >= before.next(of: segment.replica) else { continue }
            for drop in Self.drops(in: segment) {
                for device in waitedFor[node] ?? [] where device != owners[node] {
                    guard (held[device] ?? VersionVector()).covers(drop.events.vector) else {
                        return "node \(node) lets events of \(drop.stream) go that \(device.shortID) has never held"
                    }
                }
            }
        }
        return nil
    }

    private static func drops(in segment: Segment) -> [SyncModel.Operation.EventDrop] {
        var drops: [SyncModel.Operation.EventDrop] = []
        var reader = ByteReader(segment.bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            view.forEachOperation(in: segment.bytes) { _, operation in
                if case .dropEvents(let drop) = SyncModel.Operation(operation, in: segment.bytes) { drops.append(drop) }
            }
        }
        return drops
    }
}
