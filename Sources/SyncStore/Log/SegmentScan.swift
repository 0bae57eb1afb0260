package import SyncModel

/// What a store keeps about one segment beside its bytes: which streams have events in it and where, what it adds to the
/// digest, and the members it names.
///
/// Positions inside are *ordinals*: the n-th shown event of the segment, from 0. A void event (its body breaks a rule of
/// `EventView`) has no ordinal: it is shipped and chained, and shown nowhere. One of our own that was folded after it got
/// an ordinal keeps that taken.
package struct SegmentScan: Sendable, Equatable {
    /// The events of one stream in one segment.
    package struct Run: Sendable, Equatable {
        package let stream: String
        package var count: Int64 = 0
        package var lastOrdinal: Int64 = 0
        /// Of the changes that hold them; in between, stamps grow with ordinals.
        package let firstStamp: Stamp
        package var lastStamp: Stamp
        package var places: EventPlaces
    }

    /// In order of their first event.
    package private(set) var runs: [Run] = []
    /// Shown ones.
    package private(set) var eventCount: Int64 = 0
    /// Ordinals taken.
    package private(set) var ordinalCount: Int64 = 0
    package private(set) var digest = Sum256.zero
    package private(set) var additions: [Membership.Addition] = []
    /// The dots of `additions`, in the same order.
    package private(set) var additionDots: [Dot] = []

    /// - Parameters:
    ///   - verified: so its changes read without an error.
    ///   - foldedEvents: counters of events that went after they had an ordinal, ascending.
    package init(_ verified: VerifiedSegment, foldedEvents: [UInt64] = []) {
        let segment = verified.segment
        var folded = foldedEvents[...]
        var reader = ByteReader(segment.bytes)
        var streams = StreamTable()
        while !reader.isAtEnd {
            guard let change = try? ChangeView(&reader) else { preconditionFailure("a verified segment reads back") }
            change.forEachOperation(in: segment.bytes) { counter, operation in
                while let first = folded.first, first < counter {
                    if first >= segment.start { ordinalCount += 1 }
                    folded.removeFirst()
                }
                take(operation, counter, of: change, in: segment, &streams)
            }
        }
        ordinalCount += Int64(folded.count { $0 >= segment.start && $0 < segment.end })
    }

    private mutating func take(
        _ operation: OperationView, _ counter: UInt64, of change: ChangeView, in segment: Segment,
        _ streams: inout StreamTable
    ) {
        guard operation.span == 1 else { return }
        if operation.kind == Operation.Kind.appendEvent {
            guard let event = try? EventView(operation.body, in: segment.bytes) else { return }
            digest += EventItem.digestTerm(
                dot: Dot(replica: segment.replica, counter: counter), stamp: change.stamp, event: event,
                in: segment.bytes)
            note(streams.index(of: event.stream, in: segment.bytes), event.stream, change, segment.bytes)
        } else if operation.kind == Operation.Kind.addMember {
            guard let fact = try? MemberFact(encoded: segment.bytes, operation.body) else { return }
            additions.append(
                Membership.Addition(
                    author: segment.replica.device, fact: fact, wallMilliseconds: change.wallMilliseconds))
            additionDots.append(Dot(replica: segment.replica, counter: counter))
        }
    }

    private mutating func note(_ index: Int, _ stream: Range<Int>, _ change: ChangeView, _ bytes: [UInt8]) {
        if index == runs.count {
            runs.append(
                Run(
                    stream: String(decoding: bytes[stream], as: UTF8.self), firstStamp: change.stamp,
                    lastStamp: change.stamp, places: EventPlaces()))
        }
        runs[index].count += 1
        runs[index].lastOrdinal = ordinalCount
        runs[index].lastStamp = change.stamp
        runs[index].places.append(change: change.range.lowerBound, ordinal: ordinalCount)
        eventCount += 1
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
