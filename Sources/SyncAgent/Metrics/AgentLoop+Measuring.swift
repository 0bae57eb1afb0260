import SyncCore
import SyncModel
import SyncStore

/// The meters of the loop. They are told of what happens, and nothing is decided by them.
struct LoopMeters: Sendable {
    var lag = LagMeter()
    var durability = DurabilityMeter()
    /// The time since which a change of this device is durable here and not signed; nil if there is none.
    var openSince: Tick?
}

// What metrics say of lag and durability. Each call costs as much as what it is told of, however much is stored.
extension AgentLoop {
    /// Begins anew with what is stored: at the start, and where a history was taken back.
    func beginMeasuring() {
        let held = core.held.entries.map { VersionVector.Entry(replica: $0.replica, next: $0.tip.next) }
        meters.lag.begin(held, at: now)
    }

    /// - Parameter changesBefore: the number of changes in the log before the commit.
    func measure(_ commit: Commit, changesBefore: Int64) {
        guard !commit.segments.isEmpty else {
            guard commit.counts.changes > changesBefore else { return }
            meters.openSince = meters.openSince ?? now
            return
        }
        let now = now
        for verified in commit.segments {
            let segment = verified.segment
            let isOwn = segment.replica.device == core.configuration.own
            let at = isOwn ? meters.openSince ?? now : now
            meters.lag.arrived(segment, changes: verified.changeCount, at: at)
            if isOwn { meters.durability.committed(segment.replica, next: segment.end, at: at) }
        }
        // Whatever was open is signed first.
        meters.openSince = nil
    }

    func measure(_ have: Frame.Have, on connection: ConnectionID) {
        guard have.space == core.space, let device = core.device(of: connection) else { return }
        let (now, held) = (now, core.held)
        guard !have.entries.isEmpty || have.vectorDigest != held.digest else {
            for entry in held.entries(of: core.configuration.own) {
                meters.durability.announced(by: device, entry.replica, next: entry.tip.next, at: now)
            }
            return meters.lag.left(device)
        }
        for entry in have.entries {
            if entry.replica.device == core.configuration.own {
                meters.durability.announced(by: device, entry.replica, next: entry.next, at: now)
            }
            meters.lag.claimed(
                by: device, entry.replica, next: entry.next, held: held.next(of: entry.replica), at: now)
        }
        meters.lag.forgetMet(by: device) { held.next(of: $0) }
    }
}
