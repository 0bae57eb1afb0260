import SyncModel

/// The histories of devices that were retired and come back, while some of them wait that the device has to write again.
///
/// What a retired device wrote while it was away comes with its return. Its events count as soon as they are held, its edits
/// only once the device has written them again: taken in at once, a transaction of both would be seen in two parts. So both
/// are taken in together, by one transaction of the store. Work that comes without its rewriting waits `rewritingWait` and no
/// longer; so does more of one history than is persisted at once.
struct ReturningHistories: Sendable {
    private struct History: Sendable, Equatable {
        /// The time until which the history waits for what is rewritten of it. Nil while nothing of it has come.
        var until: Tick?
        /// The counter up to which waiting changes of the device claim that the history is rewritten.
        var rewritten: UInt64 = 0
    }

    /// The number of histories that may wait at once.
    private static var maximumWaiting: Int { 64 }

    /// The number of histories of which marks are kept before they have come.
    private static var maximumKnown: Int { 1_024 }

    private let settings: CoreSettings
    private var histories: [ReplicaID: History] = [:]

    init(_ settings: CoreSettings) { self.settings = settings }

    /// Records a segment that waits from now on. A member that passes such work on holds what was written again of it, too,
    /// and sends it next.
    mutating func record(
        _ verified: VerifiedSegment, from peer: DeviceID, in room: WaitingRoom, _ log: SpaceLog, at now: Tick
    ) {
        let segment = verified.segment
        guard !log.cuts.isEmpty, segment.replica.device != settings.own,
            !settings.faults.contains(.tearReturningWork)
        else { return }
        if isLeftBehind(verified, room, log), histories[segment.replica]?.until == nil {
            let timing = settings.timing
            let wait = peer == segment.replica.device ? timing.rewritingWait : timing.passedOnWait
            histories[segment.replica, default: History()].until = now + wait
        }
        guard !log.cuts.cuts(of: segment.replica.device).isEmpty else { return }
        segment.forEachRewriting { mark in
            let old = ReplicaID(device: segment.replica.device, incarnation: mark.incarnation)
            guard histories[old] != nil || histories.count < Self.maximumKnown else { return }
            histories[old, default: History()].rewritten.join(mark.start + mark.count)
        }
    }

    /// True if the author has to write something of the segment again.
    private func isLeftBehind(_ verified: VerifiedSegment, _ room: WaitingRoom, _ log: SpaceLog) -> Bool {
        let (segment, cuts) = (verified.segment, log.cuts)
        let replica = segment.replica
        guard let end = cuts.end(of: replica), max(end, cuts.rewritten(of: replica)) < segment.end else { return false }
        // What a revocation ended is not written again.
        if let strictEnd = cuts.strictEnd(of: replica), strictEnd <= end { return false }
        // The table says of a history where it ends once its first change is held.
        if log.held.next(of: replica) > 0 { return true }
        // Of one that waits here the first segment was asked.
        guard segment.start == 0 else { return false }
        // A device that has heard of its retirement begins no history before it is admitted again.
        let known = cuts.cuts(of: replica.device).map(\.dot)
        return !verified.context.contains { entry in
            known.contains { $0.replica == entry.replica && $0.counter < entry.next }
                || entry.replica.device == replica.device && isBehindReturn(entry.replica, room, log)
        }
    }

    private func isBehindReturn(_ replica: ReplicaID, _ room: WaitingRoom, _ log: SpaceLog) -> Bool {
        if log.held.next(of: replica) > 0 { return log.cuts.end(of: replica) == nil }
        return room.tip(of: replica) != nil && histories[replica]?.until == nil
    }

    /// Returns the time at which histories that wait for their rewriting are taken in without it.
    func deadline(at now: Tick) -> Tick? { histories.values.compactMap(\.until).filter { $0 > now }.min() }

    /// Returns the replicas of which nothing is taken in yet. Work of other devices that builds on one does not wait for it.
    ///
    /// Bounds: `maximumWaiting` histories and `persistBatchBytes` in all. More than that waits for nothing: it would fill the
    /// memory of every member.
    func waiting(in room: WaitingRoom, held: TipTable, at now: Tick) -> Set<ReplicaID> {
        guard !histories.isEmpty else { return [] }
        let waiting = histories.compactMap { replica, returning -> ReplicaID? in
            guard let until = returning.until, now < until, let tip = room.tip(of: replica),
                returning.rewritten < tip.next
            else { return nil }
            return replica
        }
        let bytes = waiting.reduce(0) { $0 + room.bytes(of: $1) }
        guard waiting.count <= Self.maximumWaiting, bytes <= settings.bounds.persistBatchBytes else { return [] }
        return Set(waiting.filter { !room.isNamedByOthers($0, beyond: held.next(of: $0)) })
    }

    /// The byte budget of a batch. It is larger for rewritten work, which is longer, and comes along.
    var persistBudgetBytes: Int { settings.bounds.persistBatchBytes * (histories.isEmpty ? 1 : 4) }

    /// Forgets the histories that no longer wait.
    mutating func forgetReturned(in room: WaitingRoom, at now: Tick) {
        guard !histories.isEmpty else { return }
        guard !room.isEmpty else {
            histories = [:]
            return
        }
        // A device that is retired anew is waited for anew, whatever else waits in the room.
        histories = histories.filter { replica, returning in
            returning.until.map { now < $0 || room.tip(of: replica) != nil } ?? true
        }
    }
}

extension UInt64 {
    fileprivate mutating func join(_ other: UInt64) { self = Swift.max(self, other) }
}

extension Segment {
    /// Calls `body` with each mark of rewritten work in its changes.
    fileprivate func forEachRewriting(_ body: (SyncModel.Operation.RewritingMark) -> Void) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            view.forEachOperation(in: bytes) { _, operation in
                guard operation.kind == Operation.Kind.markRewriting,
                    case .markRewriting(let mark) = Operation(operation, in: bytes)
                else { return }
                body(mark)
            }
        }
    }
}
