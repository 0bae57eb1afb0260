import SyncModel

/// A budget for each device: the number of actions at once, and the rate after that.
///
/// Bounds: one row for each device that did something since the start.
struct DeviceBudgets: Sendable {
    private struct Budget: Sendable {
        /// The budget in nanoseconds of waiting, so that nothing is rounded. It is below zero after more was done at once
        /// than was left.
        var credit: Int64
        var at: Tick
    }

    private let burst: Int
    private let everyNanoseconds: Int64
    private var budgets: [DeviceID: Budget] = [:]

    init(atOnce burst: Int, every span: Tick.Span) {
        self.burst = burst
        everyNanoseconds = span.nanoseconds
    }

    private func credit(of device: DeviceID, at now: Tick) -> Int64 {
        let full = Int64(burst) * everyNanoseconds
        guard let budget = budgets[device] else { return full }
        return min(full, budget.credit + (now - budget.at).nanoseconds)
    }

    func mayTake(_ device: DeviceID, at now: Tick) -> Bool { credit(of: device, at: now) >= everyNanoseconds }

    mutating func take(_ device: DeviceID, count: Int = 1, at now: Tick) {
        let credit = credit(of: device, at: now) - Int64(count) * everyNanoseconds
        budgets[device] = Budget(credit: credit, at: now)
    }
}

// Histories that other devices begin: how many are taken in, and how fast.
//
// An honest device begins one after a restart that found no lease: a few thousand in ten years. A member that turned bad could
// begin thousands in a second, each for ever in every vector. A history beyond the bound is not taken in for now; nothing is
// void by it, and no session ends. One that another device's work builds on is taken in however many there are, else that
// work would wait: so all that hold an author's work come to hold the same.

extension SpaceMachine {
    /// The time to look again at histories that were not taken in.
    var replicaDeadline: Tick? { replicas.lookAt }

    /// Returns the replicas that waiting segments build on. The list is computed again when the waiting room or what is held
    /// has changed.
    mutating func missingReplicas() -> [WaitingRoom.Missing] {
        if let known = replicas.missing, known.version == room.version, known.held == held.digest { return known.list }
        let list = room.missing(held: held)
        replicas.missing = ReplicaKeeping.KnownMissing(version: room.version, held: held.digest, list: list)
        return list
    }

    /// - Parameter isNamed: true if another device's work builds on it.
    func mayBegin(_ replica: ReplicaID, isNamed: Bool, _ step: CoreStep) -> Bool {
        let device = replica.device
        guard device != configuration.own, held[replica] == nil else { return true }
        guard replicas.beginning.mayTake(device, at: step.now) else { return false }
        return isNamed || !isFull(device)
    }

    private func isFull(_ device: DeviceID) -> Bool {
        let count = held.entries(of: device).count
        guard count + room.replicaCount >= configuration.bounds.replicasPerDevice else { return false }
        return count + room.newReplicas(of: device, held: held) >= configuration.bounds.replicasPerDevice
    }

    /// Returns true if a replica that came may begin: waiting work of another device may name it, or a member's
    /// acknowledgement may.
    mutating func mayBegin(_ replica: ReplicaID, _ step: CoreStep) -> Bool {
        if mayBegin(replica, isNamed: false, step) { return true }
        return mayBegin(replica, isNamed: true, step)
            && (missingReplicas().contains { $0.replica == replica && $0.isNamedByOthers }
                || acknowledgedElsewhere.contains(replica))
    }

    /// The replicas that members' acknowledgements wait for, the next of each.
    var acknowledgedElsewhere: [ReplicaID] {
        acknowledgements.rows.compactMap { row in
            guard case .waiting(let entry?) = row.check, entry.replica.device != row.device else { return nil }
            return entry.replica
        }
    }

    /// Handles a history that is not taken in: it is asked for again in a while.
    mutating func recordRefusedReplica(_ device: DeviceID, _ step: inout CoreStep) {
        replicas.lookAt = step.now + configuration.timing.newReplicaLook
        guard !replicas.reported.contains(device) else { return }
        replicas.reported.append(device)
        step.emit(.report(.tooManyHistories(device)))
    }
}

/// The state about histories that begin here, and that may not.
struct ReplicaKeeping: Sendable {
    struct KnownMissing: Sendable {
        let version: UInt64
        let held: Sum256
        let list: [WaitingRoom.Missing]
    }

    /// The budgets of histories that devices begin.
    var beginning: DeviceBudgets
    /// The budgets of devices that authors admit.
    var admitting: DeviceBudgets
    /// Waiting segments that admit devices that are not members yet: the number of these, by the segment's first dot.
    var admissions: [Dot: Int] = [:]
    /// The last result of `missingReplicas`.
    var missing: KnownMissing?
    /// The place in the list where the next step begins to ask.
    var missingOffset = 0
    /// The time at which histories that were not taken in are looked at again.
    var lookAt: Tick?
    /// Devices of which a report told the user.
    var reported: [DeviceID] = []

    init(_ configuration: CoreConfiguration) {
        let (bounds, timing) = (configuration.bounds, configuration.timing)
        beginning = DeviceBudgets(atOnce: bounds.newReplicasAtOnce, every: timing.newReplicaEvery)
        admitting = DeviceBudgets(atOnce: bounds.admissionsAtOnce, every: timing.admissionEvery)
    }
}
