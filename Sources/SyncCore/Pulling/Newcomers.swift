import SyncModel

/// Histories and devices that begin here, and how fast they may.
///
/// An honest device begins a history after a restart that found no lease: a few thousand in ten years. A member that turned bad
/// could begin thousands in a second, each for ever in every vector. A history beyond the bound is not taken in for now; nothing
/// is void by it, and no session ends. One that another device's work builds on is taken in however many there are, else that
/// work would wait: so all that hold an author's work come to hold the same.
///
/// Devices that others admit are waited for by all before anything is forgotten, so an author's admissions are taken in at a
/// rate. Changes beyond it wait like early ones; none is void.
struct Newcomers: Sendable {
    private struct KnownMissing: Sendable {
        let version: UInt64
        let held: Sum256
        let list: [WaitingRoom.Missing]
    }

    private let own: DeviceID
    private let replicasPerDevice: Int
    private let lookAfter: Tick.Span
    private let admissionEvery: Tick.Span
    /// The budgets of histories that devices begin.
    private var beginning: DeviceBudgets
    /// The budgets of devices that authors admit.
    private var admitting: DeviceBudgets
    /// Waiting segments that admit devices that are not members yet: the number of these, by the segment's first dot.
    private var admissions: [Dot: Int] = [:]
    /// The last result of `missing`.
    private var known: KnownMissing?
    /// The place in the list of missing replicas where the next step begins to ask.
    private var offset = 0
    /// The time at which histories that were not taken in are looked at again.
    private(set) var lookAt: Tick?
    /// Devices of which a report told the user.
    private var reported: [DeviceID] = []

    init(_ settings: CoreSettings) {
        let (bounds, timing) = (settings.bounds, settings.timing)
        own = settings.own
        replicasPerDevice = bounds.replicasPerDevice
        lookAfter = timing.newReplicaLook
        admissionEvery = timing.admissionEvery
        beginning = DeviceBudgets(atOnce: bounds.newReplicasAtOnce, every: timing.newReplicaEvery)
        admitting = DeviceBudgets(atOnce: bounds.admissionsAtOnce, every: timing.admissionEvery)
    }

    // MARK: Histories

    /// Returns the replicas that waiting segments build on. The list is computed again when the waiting room or what is held
    /// has changed.
    mutating func missing(in room: WaitingRoom, held: TipTable) -> [WaitingRoom.Missing] {
        if let known, known.version == room.version, known.held == held.digest { return known.list }
        let list = room.missing(held: held)
        known = KnownMissing(version: room.version, held: held.digest, list: list)
        return list
    }

    /// Returns the part of the list that is looked at in this step; the next step goes on behind it.
    mutating func turn(of missing: [WaitingRoom.Missing], atMost limit: Int) -> [WaitingRoom.Missing] {
        let count = min(missing.count, limit)
        let part = (0..<count).map { missing[(offset + $0) % missing.count] }
        offset = missing.count > count ? (offset + count) % missing.count : 0
        return part
    }

    /// - Parameter isNamed: true if another device's work builds on the replica.
    func mayBegin(
        _ replica: ReplicaID, isNamed: Bool, _ room: WaitingRoom, held: TipTable, at now: Tick
    ) -> Bool {
        let device = replica.device
        guard device != own, held[replica] == nil else { return true }
        guard beginning.mayTake(device, at: now) else { return false }
        return isNamed || !isFull(device, room, held: held)
    }

    private func isFull(_ device: DeviceID, _ room: WaitingRoom, held: TipTable) -> Bool {
        let count = held.entries(of: device).count
        guard count + room.replicaCount >= replicasPerDevice else { return false }
        return count + room.newReplicas(of: device, held: held) >= replicasPerDevice
    }

    /// Records that a device began a history here.
    mutating func recordBegun(by device: DeviceID, at now: Tick) { beginning.take(device, at: now) }

    /// True if a history was not taken in since the start.
    var hasRefused: Bool { !reported.isEmpty }

    /// Handles a history that is not taken in: it is asked for again in a while.
    mutating func recordRefused(_ device: DeviceID, _ step: inout CoreStep) {
        lookAt = step.now + lookAfter
        guard !reported.contains(device) else { return }
        reported.append(device)
        step.emit(.report(.tooManyHistories(device)))
    }

    mutating func passDeadline(at now: Tick) { if let at = lookAt, now >= at { lookAt = nil } }

    // MARK: Admissions

    /// A segment that waits from now on: how many devices it would make members.
    mutating func recordAdmissions(_ verified: VerifiedSegment, _ room: WaitingRoom, _ membership: Membership) {
        let segment = verified.segment
        guard segment.replica.device != own else { return }
        var devices: Set<DeviceID> = []
        segment.forEachAdmission { device in if membership[device] == nil { devices.insert(device) } }
        guard !devices.isEmpty else { return }
        // Of what was dropped from the room.
        admissions = admissions.filter { room.contains($0.key) }
        admissions[Dot(replica: segment.replica, counter: segment.start)] = devices.count
    }

    /// Takes out of the waiting room what may be applied now, as far as the rates allow. What another device's work builds on
    /// does not wait.
    ///
    /// - Parameter heldUp: replicas that wait for another reason.
    mutating func takeReady(
        of receiver: inout ChangeReceiver, held: TipTable, byteBudget: Int, heldUp: Set<ReplicaID>, at now: Tick
    ) -> [VerifiedSegment] {
        guard !admissions.isEmpty else {
            return receiver.takeReady(held: held, byteBudget: byteBudget) { heldUp.contains($0.segment.replica) }
        }
        let room = receiver.waiting
        var isWaiting = false
        let batch = receiver.takeReady(held: held, byteBudget: byteBudget) { segment in
            let replica = segment.segment.replica
            let dot = Dot(replica: replica, counter: segment.segment.start)
            if heldUp.contains(replica) { return true }
            guard let count = admissions[dot] else { return false }
            guard
                admitting.mayTake(replica.device, at: now)
                    || room.isNamedByOthers(replica, beyond: segment.segment.start)
            else {
                isWaiting = true
                return true
            }
            admitting.take(replica.device, count: count, at: now)
            return false
        }
        for segment in batch {
            admissions[Dot(replica: segment.segment.replica, counter: segment.segment.start)] = nil
        }
        if isWaiting { lookAt = now + admissionEvery }
        return batch
    }
}

extension Segment {
    /// The devices that its add-facts name.
    fileprivate func forEachAdmission(_ body: (DeviceID) -> Void) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            view.forEachOperation(in: bytes) { counter, operation in
                guard operation.kind == Operation.Kind.addMember, view.mayAdmit(at: counter),
                    let fact = try? MemberFact(encoded: bytes, operation.body)
                else { return }
                body(fact.device)
            }
        }
    }
}
