import SyncModel

/// Changes of peers on their way to the store: parts of segments, verified segments that wait, and the batch that the store
/// writes now.
///
/// Invariant: a replica's segments are verified one behind the other, so its frontier (durable, being persisted, waiting) is
/// one chain.
struct ChangeReceiver: Sendable {
    private struct Incoming: Sendable {
        /// Parts of a segment that spans frames, and the want they belong to.
        var assembly: Assembly?
        /// Replicas for which we asked this peer to stop pushing.
        var pruned: [ReplicaID] = []
    }

    private struct Assembly: Sendable {
        let wantID: UInt64
        let replica: ReplicaID
        let start: UInt64
        let end: UInt64
        var bytes: [UInt8]
    }

    /// The result of a part of a segment.
    enum Assembled: Sendable {
        case unfinished
        /// The part does not continue the segment that the peer began.
        case unfit
        case whole(Segment)
    }

    /// A batch that the store writes now.
    struct Batch: Sendable {
        let id: PersistID
        let segments: [VerifiedSegment]
        /// Replica → tip once it is durable, in the order of the batch.
        let tips: TipTable
    }

    private let settings: CoreSettings
    private var incoming = PerSession(initial: Incoming())
    private var room = WaitingRoom()
    private var batch: Batch?
    /// The time at which the store may be asked again, while it refuses writes. Nothing is pulled until then.
    private(set) var storeRetryAt: Tick?
    /// True if the last commit was refused.
    private var isStoreRefusing = false

    init(_ settings: CoreSettings) { self.settings = settings }

    mutating func open(_ id: ConnectionID) { incoming.open(id) }
    mutating func close(_ id: ConnectionID) { incoming.close(id) }

    /// Takes over what does not depend on the log from the machine before, after the store reverted a history.
    mutating func continueSessions(of old: ChangeReceiver) {
        (incoming, isStoreRefusing) = (old.incoming, old.isStoreRefusing)
    }

    // MARK: What is here

    /// True if nothing waits and nothing is being written.
    var isEmpty: Bool { room.isEmpty && batch == nil }
    var isPersisting: Bool { batch != nil }
    var persistingBytes: Int { batch?.segments.reduce(0) { $0 + $1.segment.bytes.count } ?? 0 }
    /// Verified segments that wait.
    var waiting: WaitingRoom { room }

    /// The end of what was verified of a replica and is not durable yet; nil if nothing is.
    func tip(of replica: ReplicaID) -> ReplicaTip? { room.tip(of: replica) ?? batch?.tips[replica] }

    /// The bytes that may not be asked for because of waiting segments (see `WaitingRoom`).
    func occupiedBytes(for device: DeviceID, atMost limit: Int) -> Int {
        room.occupiedBytes(for: device, atMost: limit)
    }

    // MARK: Parts and pushes

    /// True if the changes may not come packed, since a segment that spans frames is under way.
    func isAssembling(_ id: ConnectionID) -> Bool { incoming[id].assembly != nil }

    /// Joins the parts of a segment.
    mutating func assemble(_ changes: Frame.Changes, _ part: Frame.SegmentPart, from id: ConnectionID) -> Assembled {
        var data = part.bytes
        if let open = incoming[id].assembly {
            guard open.wantID == changes.wantID, open.replica == changes.replica, open.start == part.start,
                open.end == part.end, open.bytes.count + part.bytes.count <= Limits.changeBytes
            else { return .unfit }
            data = open.bytes + part.bytes
        }
        guard part.signature.isEmpty, !settings.faults.contains(.applyBeyondSignature) else {
            incoming[id].assembly = nil
            return .whole(
                Segment(
                    replica: changes.replica, start: part.start, end: part.end, bytes: data, signature: part.signature))
        }
        incoming[id].assembly = Assembly(
            wantID: changes.wantID, replica: changes.replica, start: part.start, end: part.end, bytes: data)
        return .unfinished
    }

    /// Asks the peer to push no more of a replica; once.
    mutating func prune(_ replica: ReplicaID, in space: SpaceID, by id: ConnectionID, _ step: inout CoreStep) {
        guard !incoming[id].pruned.contains(replica) else { return }
        incoming[id].pruned.append(replica)
        step.send(id, .prune(Frame.Prune(space: space, replica: replica)))
    }

    /// Records that the peer may push the replica again: it is asked for it.
    mutating func allowPush(of replica: ReplicaID, by id: ConnectionID) {
        incoming[id].pruned.removeAll { $0 == replica }
    }

    // MARK: The waiting room

    mutating func append(_ segment: VerifiedSegment) { room.append(segment) }

    /// Drops what waits of these replicas: it was checked behind another end, or is held by now.
    mutating func drop(_ replicas: [ReplicaID]) { room.remove(replicas) }

    /// - Returns: true if segments were dropped, to be asked for again.
    mutating func limitRoom(held: TipTable) -> Bool {
        let before = room.bytes
        // One segment beyond the limit may always come: it may be what the others wait for.
        room.evict(to: settings.bounds.waitingRoomBytes + Limits.segmentBytes, held: held)
        return room.bytes < before
    }

    /// Takes the segments out that may be applied now, in causal order.
    mutating func takeReady(
        held: TipTable, byteBudget: Int, unless isHeldUp: (VerifiedSegment) -> Bool
    ) -> [VerifiedSegment] {
        room.takeReady(
            held: held, byteBudget: byteBudget, ignoringContext: settings.faults.contains(.skipWaitingRoom),
            unless: isHeldUp)
    }

    // MARK: The store

    /// Has the store write a batch; an empty one makes it look at what it holds back.
    mutating func persist(_ segments: [VerifiedSegment], _ step: inout CoreStep) {
        let id = PersistID(rawValue: step.nextID())
        var tips = TipTable()
        for segment in segments { tips.set(segment.segment.replica, segment.tip) }
        batch = Batch(id: id, segments: segments, tips: tips)
        step.emit(.persist(id, segments))
    }

    /// - Returns: the batch that is durable now; nil if the answer is to another one.
    mutating func handlePersisted(_ id: PersistID) -> Batch? {
        guard let batch, batch.id == id else { return nil }
        self.batch = nil
        return batch
    }

    mutating func recordStoreRecovered(_ step: inout CoreStep) {
        if isStoreRefusing { step.emit(.report(.storeRecovered)) }
        isStoreRefusing = false
    }

    /// Handles a refused batch, of which nothing was written. Everything volatile is dropped and becomes wanted again once
    /// the store takes writes.
    ///
    /// - Returns: false if the answer is to another batch.
    mutating func handlePersistFailed(_ id: PersistID) -> Bool {
        guard batch?.id == id else { return false }
        batch = nil
        room.removeAll()
        return true
    }

    /// Pauses pulls after the store refused something that is asked for again.
    mutating func waitForStore(_ code: String, _ step: inout CoreStep) {
        storeRetryAt = step.now + settings.timing.storeRetry
        if !isStoreRefusing { step.emit(.report(.storeRefused(code: code))) }
        isStoreRefusing = true
    }

    mutating func passDeadline(at now: Tick) {
        if let retry = storeRetryAt, now >= retry { storeRetryAt = nil }
    }
}
