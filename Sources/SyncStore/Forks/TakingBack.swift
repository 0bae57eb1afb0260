import SyncModel

/// The work of taking over the other of two histories: everything in ours beyond the last common change goes, and with it
/// every change with an author that had seen it, because elsewhere those counters say something else.
///
/// A stored segment ends on a signature, so the log is cut at the last one at or before that change. The rest of the other
/// history, which is at hand, is put behind it as soon as all that its author had seen is stored.
struct TakingBack {
    /// The fate of a segment.
    enum Fate: Sendable, Equatable {
        case stays
        /// Goes. This device's work in it is done again from the counter on; nil: it is not.
        case goes(redoneFrom: UInt64?)
        /// Waits, because its author had seen what the others have, too, or because it is a third device's: it is put behind
        /// that. This device's work in it that counts nowhere there is done again (`WorkToRedo`).
        case waits
    }

    /// The segments that replace those that go, in the order of counters.
    let instead: [Segment]
    private let other: OtherHistory
    /// The changes that other devices are known to hold.
    private let heldByOthers: VersionVector
    private let device: DeviceID
    private let space: SpaceID
    private let faults: StoreFaults
    /// The end of the last common change.
    private let common: UInt64
    /// The counters from which on changes go, by replica.
    private(set) var starts: [ReplicaID: UInt64]
    /// Likewise, the counters from which no replica will hold the changes: they are done again under another replica.
    private var redone: [ReplicaID: UInt64] = [:]
    /// The ends of the changes that this device does again.
    private(set) var gaveWay: [ReplicaID: [ChainEnd]] = [:]
    /// The heads of the histories up to the segments already asked about.
    private var heads: [ReplicaID: ChainHead] = [:]

    /// Nil if one of the two is the beginning of the other.
    ///
    /// - Parameters:
    ///   - device: whose store this is.
    ///   - state: with what goes.
    ///   - head: where ours stands where the other was walked from.
    ///   - forEachSegment: what is held of the replica that ends behind where the other was walked from, in the order of counters.
    /// - Throws: `notApplicable` where the other history is not at hand from the cut on, and where ours goes further than it was
    ///   walked.
    init?(
        _ other: OtherHistory, by device: DeviceID, on state: LogState, from head: ChainHead?, faults: StoreFaults,
        _ forEachSegment: ((Segment) -> Void) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard head == other.start.head else { throw .notApplicable(other.replica, at: other.start.end) }
        let theirs = Dictionary(other.ends.map { ($0.end, $0.head) }) { first, _ in first }
        var head = other.start.head
        var (common, kept, next) = (other.start.end, other.start.end, other.start.end)
        var parted: Segment?
        try forEachSegment { segment in
            let isCommon = common == next
            // The other one was walked from within it.
            if segment.start < next { (kept, parted) = (segment.start, segment) }
            for end in segment.suffix(from: next)?.ends(from: head) ?? [] {
                head = end.head
                next = end.end
                // A head covers all before it.
                if theirs[end.end] == end.head { common = end.end }
            }
            if isCommon, common == next { kept = next }
        }
        guard next > common, other.tip.next > common else { return nil }
        if other.segments.isEmpty {
            instead = []
        } else {
            let walked = other.ends.last?.end ?? other.start.end
            guard walked >= min(next, other.tip.next) else { throw .notApplicable(other.replica, at: walked) }
            let rest = other.segments.filter { $0.end > kept }
            guard let first = rest.first,
                first.start <= common,
                let joined = first.start <= kept ? first.suffix(from: kept) : parted?.joined(with: first)
            else {
                throw .notApplicable(other.replica, at: kept)
            }
            instead = [joined] + rest.dropFirst()
        }
        self.other = other
        self.device = device
        space = state.space
        heldByOthers = state.tips.reduce(into: other.kept) { held, known in
            if known.replica.device != device { held.join(state.context(of: known.replica)) }
        }
        self.faults = faults
        self.common = common
        starts = [other.replica: kept]
    }

    /// The error thrown if what goes cannot be told apart from what stays.
    var refusal: StoreError { .notApplicable(other.replica, at: common) }

    /// Decides the fate of a segment. Called for every segment, in order of arrival.
    ///
    /// - Throws: `notApplicable` if a device that has no part in the fork would lose something: no other device can do its
    ///   work again.
    mutating func fate(of verified: VerifiedSegment) throws(StoreError) -> Fate {
        let replica = verified.segment.replica
        let before = heads[replica] ?? ChainHead(space: space, replica: replica)
        heads[replica] = verified.tip.head
        let fate = try decide(verified)
        // If the fork is another device's, this device's work on it is taken back here only.
        if case .goes(redoneFrom: .some) = fate, other.replica.device == device {
            gaveWay[replica, default: []] += verified.segment.ends(from: before)
        }
        return fate
    }

    private mutating func decide(_ verified: VerifiedSegment) throws(StoreError) -> Fate {
        let segment = verified.segment
        if segment.replica == other.replica {
            guard segment.start >= starts[other.replica] ?? 0 else { return .stays }
            guard isRedone(segment.replica), common < segment.end else { return .goes(redoneFrom: nil) }
            return .goes(redoneFrom: max(common, segment.start))
        }
        guard isBehind(starts, verified) else { return .stays }
        if starts[segment.replica] == nil { starts[segment.replica] = segment.start }
        var built = redone
        built[other.replica] = common
        guard isBehind(built, verified) else { return .waits }
        let author = segment.replica.device
        // Put behind what the others have in its place, as far as that goes.
        var lost = redone
        lost[other.replica] = other.tip.next
        if isKeptElsewhere(segment), !isBehind(lost, verified) { return .waits }
        if author == device || author == other.replica.device {
            if redone[segment.replica] == nil { redone[segment.replica] = segment.start }
            return .goes(redoneFrom: isRedone(segment.replica) ? segment.start : nil)
        }
        guard !isBehind(lost, verified) else { throw .notApplicable(segment.replica, at: segment.start) }
        return .waits
    }

    /// True if other replicas will hold the segment, whatever this device does.
    private func isKeptElsewhere(_ segment: Segment) -> Bool {
        let isThirds = segment.replica.device != other.replica.device
        return isThirds && heldByOthers.next(of: segment.replica) >= segment.end
            || other.elsewhere.contains { $0.replica == segment.replica && $0.tip.next >= segment.end }
    }

    /// Returns the drops without the events of the history that goes. Dropped events stay dropped, even if the operation that
    /// dropped them goes; but the drop was not meant for the history that stays.
    func shared(_ dropped: DroppedByStream) -> DroppedByStream {
        var shared = DroppedByStream()
        for (stream, events) in dropped.streams {
            shared.drop(events.within(self.shared(events.vector)), of: stream)
        }
        return shared
    }

    /// True if this device does its work under the replica again.
    func isRedone(_ replica: ReplicaID) -> Bool {
        replica.device == device && !faults.contains(.takeBackForgets)
    }

    /// True if the segment is in a history that goes, or its author had seen some of that.
    private func isBehind(_ starts: [ReplicaID: UInt64], _ verified: VerifiedSegment) -> Bool {
        if let start = starts[verified.segment.replica] { return verified.segment.start >= start }
        return verified.context.contains { entry in starts[entry.replica].map { $0 < entry.next } ?? false }
    }

    /// Returns what the author of a change that goes had seen and every replica will hold.
    func known(_ seen: VersionVector, at start: UInt64, of replica: ReplicaID) -> VersionVector {
        var entries = seen.entries.filter { $0.replica != replica }
        entries.append(.init(replica: replica, next: start))
        return shared(VersionVector(entries))
    }

    /// Returns the part of the vector that every replica will hold as it is here.
    func shared(_ seen: VersionVector) -> VersionVector {
        VersionVector(
            seen.entries.map { entry in
                let bound = entry.replica == other.replica ? common : redone[entry.replica] ?? .max
                return VersionVector.Entry(replica: entry.replica, next: min(entry.next, bound))
            })
    }
}

/// The contexts of authors at the beginning of their segments, asked in the order of counters.
struct SeenBefore {
    private var steps: ArraySlice<(start: UInt64, moved: [VersionVector.Entry])>
    private var seen = VersionVector()

    /// - Parameter steps: what changes named, in the order of counters.
    init(_ steps: [(start: UInt64, moved: [VersionVector.Entry])]) { self.steps = steps[...] }

    mutating func seen(at start: UInt64) -> VersionVector {
        while let step = steps.first, step.start <= start {
            seen.join(VersionVector(step.moved))
            steps.removeFirst()
        }
        return seen
    }
}

extension Segment {
    /// Returns this segment's changes up to the beginning of `next`, joined with it; nil if they do not fit.
    fileprivate func joined(with next: Segment) -> Segment? {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            let position = reader.position
            guard let view = try? ChangeView(&reader), view.start <= next.start else { return nil }
            guard view.start == next.start else { continue }
            let joined = Segment(
                replica: replica, start: start, end: next.end, bytes: bytes[..<position] + next.bytes,
                signature: next.signature)
            let before = ReplicaTip(next: start, head: ChainHead(space: .home, replica: replica), stamp: .zero)
            return (try? joined.walked(from: before)) == nil ? nil : joined
        }
        return nil
    }
}
