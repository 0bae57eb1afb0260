package import SyncModel

/// The summary that a store keeps of one segment beside its bytes: which streams have events in it and where, what it adds to
/// the digest, and the members it names.
///
/// Positions inside are *ordinals*: the n-th shown event of the segment, from 0. A void event (its body breaks a rule of
/// `EventView`) has no ordinal: it is shipped and chained, and shown nowhere. One of our own that was folded after it got an
/// ordinal keeps that taken. An event at or beyond the replica's strict end has an ordinal and a place in its run, since that
/// end may move; it is not counted, and in no digest.
package struct SegmentScan: Sendable {
    /// The events of one stream in one segment.
    package struct Run: Sendable, Equatable {
        package let stream: String
        /// Shown ones.
        package var count: Int64 = 0
        package var lastOrdinal: Int64 = 0
        /// The stamp of the first change with such events; in a run, stamps grow with ordinals.
        package let firstStamp: Stamp
        package var lastStamp: Stamp
        package var places: EventPlaces
        /// True if its events are `collected` and not in `digest`.
        let isCollected: Bool
    }

    private let collecting: Set<ExactString>
    private let dropped: DroppedByStream
    private let strictEnd: UInt64
    /// The first dropped event, by stream, of the newest change that has one.
    private var passedOver: [ArraySlice<UInt8>: EventPlaces.Place] = [:]
    /// The runs, in order of their first event.
    package private(set) var runs: [Run] = []
    /// Shown ones.
    package private(set) var eventCount: Int64 = 0
    /// Ordinals taken.
    package private(set) var ordinalCount: Int64 = 0
    /// The digest of the events that are not collected.
    package private(set) var digest = Sum256.zero
    /// Events of streams that show only the greatest per type; positions are ordinals.
    package private(set) var collected: [RankedEvent] = []
    package private(set) var settings: [KeptStream] = []
    /// The drops of events in the segment, with the counters of their operations.
    private(set) var drops: [(counter: UInt64, drop: Operation.EventDrop)] = []
    package private(set) var additions: [Membership.Addition] = []
    /// The dots of `additions`, in the same order.
    package private(set) var additionDots: [Dot] = []
    /// The segment's statements on which devices count, with the dots of their operations.
    package private(set) var statements: [(dot: Dot, says: CutStatement)] = []
    /// True if it has operations of a kind that only later versions know.
    package private(set) var hasLaterOperations = false
    /// The facts for the log of trust.
    private(set) var trust: [TrustFact] = []
    private static let statements = [
        Operation.Kind.cut, Operation.Kind.markRewriting, Operation.Kind.settleCut, Operation.Kind.trust,
    ]

    /// - Parameters:
    ///   - verified: so its changes read without an error.
    ///   - foldedEvents: counters of events that went after they had an ordinal, ascending.
    ///   - streams: whose events are collected.
    ///   - dropped: events that are not shown; they have ordinals.
    ///   - strictEnd: of the replica (`CutTable.strictEnd`): settings and drops beyond it are left out, statements on which
    ///     devices count are judged by the law.
    package init(
        _ verified: VerifiedSegment, collecting streams: Set<ExactString> = [],
        dropped: DroppedByStream = DroppedByStream(), strictEnd: UInt64? = nil, foldedEvents: [UInt64] = []
    ) {
        collecting = streams
        self.dropped = dropped
        self.strictEnd = strictEnd ?? .max
        let segment = verified.segment
        var folded = foldedEvents[...]
        var reader = ByteReader(segment.bytes)
        var table = StreamTable()
        while !reader.isAtEnd {
            guard let change = try? ChangeView(&reader) else { preconditionFailure("a verified segment reads back") }
            change.forEachOperation(in: segment.bytes) { counter, operation in
                while let first = folded.first, first < counter {
                    if first >= segment.start { ordinalCount += 1 }
                    folded.removeFirst()
                }
                take(operation, counter, of: change, in: segment, &table)
            }
        }
        ordinalCount += Int64(folded.count { $0 >= segment.start && $0 < segment.end })
    }

    private mutating func take(
        _ operation: OperationView, _ counter: UInt64, of change: ChangeView, in segment: Segment,
        _ streams: inout StreamTable
    ) {
        if operation.kind > Operation.Kind.greatest { hasLaterOperations = true }
        guard operation.span == 1 else { return }
        if operation.kind == Operation.Kind.appendEvent {
            guard let event = try? EventView(operation.body, in: segment.bytes) else { return }
            let dot = Dot(replica: segment.replica, counter: counter)
            if dropped.contains(dot, of: segment.bytes[event.stream]) {
                passOver(event.stream, change, segment.bytes)
                return
            }
            let index = streams.index(of: event.stream, in: segment.bytes)
            let isShown = counter < strictEnd
            record(index, event.stream, change, segment.bytes, isShown: isShown)
            guard isShown else { return }
            let term = EventItem.digestTerm(dot: dot, stamp: change.stamp, event: event, in: segment.bytes)
            guard runs[index].isCollected else {
                digest += term
                return
            }
            let type = event.type.map { ExactString(String(decoding: segment.bytes[$0], as: UTF8.self)) }
            collected.append(
                RankedEvent(
                    kind: EventKind(stream: ExactString(runs[index].stream), type: type),
                    key: CanonicalKey(stamp: change.stamp, dot: dot), position: ordinalCount - 1, term: term))
        } else if operation.kind == Operation.Kind.setStream {
            guard counter < strictEnd, case .setStream(let setting) = Operation(operation, in: segment.bytes) else {
                return
            }
            let dot = Dot(replica: segment.replica, counter: counter)
            settings.append(KeptStream(setting, at: CanonicalKey(stamp: change.stamp, dot: dot)))
        } else if operation.kind == Operation.Kind.dropEvents {
            guard counter < strictEnd, case .dropEvents(let drop) = Operation(operation, in: segment.bytes) else {
                return
            }
            drops.append((counter, drop))
        } else if operation.kind == Operation.Kind.addMember {
            guard change.mayAdmit(at: counter), let fact = try? MemberFact(encoded: segment.bytes, operation.body)
            else {
                return
            }
            let addition = Membership.Addition(
                author: segment.replica.device, fact: fact, wallMilliseconds: change.wallMilliseconds)
            let dot = Dot(replica: segment.replica, counter: counter)
            additions.append(addition)
            additionDots.append(dot)
            let says = state(operation, dot, segment)
            trust.append(TrustFact(addition, at: dot, isBound: says != nil))
        } else if Self.statements.contains(operation.kind) {
            let dot = Dot(replica: segment.replica, counter: counter)
            switch state(operation, dot, segment) {
            case .cut(let cut): trust.append(TrustFact(cut, at: dot, wallMilliseconds: change.wallMilliseconds))
            case .trust(let statement):
                trust.append(TrustFact(statement, at: dot, wallMilliseconds: change.wallMilliseconds))
            case .addition, .rewriting, .settled, nil: break
            }
        }
    }

    /// - Returns: the statement of the operation; nil for an add-fact that is not bound.
    private mutating func state(_ operation: OperationView, _ dot: Dot, _ segment: Segment) -> CutStatement? {
        guard let says = Operation(operation, in: segment.bytes).statement else { return nil }
        statements.append((dot, says))
        return says
    }

    /// A dropped event: others of the change are counted from it on.
    private mutating func passOver(_ stream: Range<Int>, _ change: ChangeView, _ bytes: [UInt8]) {
        let place = EventPlaces.Place(change: change.range.lowerBound, ordinal: ordinalCount)
        if passedOver[bytes[stream]]?.change != place.change { passedOver[bytes[stream]] = place }
        ordinalCount += 1
    }

    private mutating func record(
        _ index: Int, _ stream: Range<Int>, _ change: ChangeView, _ bytes: [UInt8], isShown: Bool
    ) {
        if index == runs.count {
            let name = String(decoding: bytes[stream], as: UTF8.self)
            runs.append(
                Run(
                    stream: name, firstStamp: change.stamp, lastStamp: change.stamp, places: EventPlaces(),
                    isCollected: !collecting.isEmpty && collecting.contains(ExactString(name))))
        }
        if isShown {
            runs[index].count += 1
            eventCount += 1
        }
        runs[index].lastOrdinal = ordinalCount
        runs[index].lastStamp = change.stamp
        let offset = change.range.lowerBound
        let first = passedOver.isEmpty ? nil : passedOver[bytes[stream]].flatMap { $0.change == offset ? $0 : nil }
        runs[index].places.append(change: offset, ordinal: first?.ordinal ?? ordinalCount)
        ordinalCount += 1
    }
}

/// Stream names met in one segment → index of their run. Most events have the stream of the one before.
private struct StreamTable {
    private var indices: [ArraySlice<UInt8>: Int] = [:]
    private var last: (name: ArraySlice<UInt8>, index: Int)?

    mutating func index(of range: Range<Int>, in bytes: [UInt8]) -> Int {
        let name = bytes[range]
        if let last, last.name.elementsEqual(name) { return last.index }
        let index = indices[name] ?? indices.count
        indices[name] = index
        last = (name, index)
        return index
    }
}
