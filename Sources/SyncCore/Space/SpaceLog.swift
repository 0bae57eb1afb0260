import SyncModel

/// The contents of the space's store, as far as decisions need them: what is durable here, who is a member, who is retired.
///
/// Invariants: `held` is exactly what the store made durable. It never shrinks, and neither does `floor`.
struct SpaceLog: Sendable {
    let space: SpaceID
    /// The tips that are durable here, and therefore what we announce.
    private(set) var held = TipTable()
    private(set) var stateDigest: Sum256
    /// The counter of each replica from which on changes are held. What was before came as state or was dropped.
    private(set) var firstHeld: VersionVector
    /// The join of the vectors at which something was forgotten here, or state was taken.
    private(set) var floor: VersionVector
    private(set) var membership: Membership
    /// The cuts of devices, as far as the store has them durable.
    private(set) var cuts: CutTable
    /// True while objects are incomplete, see `StoreChange`: nothing is acknowledged, collected or handed over as state.
    private(set) var isIncomplete: Bool

    init(space: SpaceID, membership: Membership, _ history: StoredHistory) {
        self.space = space
        self.membership = membership
        stateDigest = history.stateDigest
        firstHeld = history.firstHeld
        floor = history.floor
        cuts = history.cuts
        isIncomplete = history.isIncomplete
        for known in history.tips { held.set(known.replica, known.tip) }
    }

    /// Raises the durable tip of a replica.
    ///
    /// - Returns: the counter before; nil if at least as much was held.
    mutating func raise(_ replica: ReplicaID, to tip: ReplicaTip) -> UInt64? {
        let before = held.next(of: replica)
        guard before < tip.next else { return nil }
        held.set(replica, tip)
        return before
    }

    /// True if what the device writes now counts: it is a member, no reader, and was not retired.
    func mayWrite(_ device: DeviceID) -> Bool { isWriter(device) && !cuts.isAway(device) }

    /// True for a member that is no reader.
    func isWriter(_ device: DeviceID) -> Bool { role(of: device).map { $0 >= .writer } ?? false }

    /// True if the device's work counts by its role, and it is not away. Without a founder no role is judged.
    func countsWork(of device: DeviceID) -> Bool {
        !cuts.isAway(device) && (cuts.verdicts.map { $0.roles[device].map { $0 >= .writer } ?? false } ?? true)
    }

    /// Nil for a device that is no member.
    func role(of device: DeviceID) -> MemberFact.Role? { cuts.role(of: device, in: membership) }

    mutating func record(stateDigest: Sum256) { self.stateDigest = stateDigest }

    /// - Returns: the devices that became members, in the order they did.
    mutating func add(_ additions: [Membership.Addition]) -> [DeviceID] {
        additions.flatMap { membership.add($0) }
    }

    /// Takes all cuts that are durable.
    mutating func record(_ cuts: CutTable) { self.cuts = cuts }

    /// - Returns: true if that is news.
    mutating func record(isIncomplete: Bool) -> Bool {
        defer { self.isIncomplete = isIncomplete }
        return isIncomplete != self.isIncomplete
    }

    /// Records where the log begins after changes were dropped.
    mutating func record(firstHeld: VersionVector) { self.firstHeld = firstHeld }

    /// Records that state replaced changes.
    mutating func record(_ joined: JoinedState) { (firstHeld, floor) = (joined.firstHeld, joined.floor) }

    /// Records that deletions were forgotten which are stable at this vector.
    mutating func recordForgotten(upTo vector: VersionVector) { floor.join(vector) }
}
