/// The dropped events of one stream: all before the vector except those that are kept. A replica that knows it no longer
/// shows them, and need not store them.
///
/// Two values join like a set of dots with its causal context: an event is dropped for good as soon as one of the two drops
/// it.
package struct DroppedEvents: Hashable, Sendable {
    package private(set) var vector: VersionVector
    /// Sorted, each once; before the vector.
    package private(set) var kept: [Dot]

    /// - Parameter kept: those beyond the vector are left out.
    package init(before vector: VersionVector = VersionVector(), but kept: some Sequence<Dot> = []) {
        self.vector = vector
        self.kept = Set(kept).filter(vector.covers).sorted()
    }

    package var isEmpty: Bool { vector.isEmpty }

    package func contains(_ dot: Dot) -> Bool { vector.covers(dot) && !keeps(dot) }

    package mutating func join(_ other: DroppedEvents) {
        kept =
            kept.filter { !other.vector.covers($0) || other.keeps($0) }
            + other.kept.filter { !vector.covers($0) }
        kept.sort()
        vector.join(other.vector)
    }

    /// Returns the dropped events up to the vector.
    package func within(_ vector: VersionVector) -> DroppedEvents {
        DroppedEvents(before: self.vector.meet(vector), but: kept)
    }

    /// True if some event of a replica's changes from `start` on may be dropped.
    package func reaches(_ replica: ReplicaID, from start: UInt64) -> Bool { vector.next(of: replica) > start }

    private func keeps(_ dot: Dot) -> Bool {
        var (low, high) = (0, kept.count)
        while low < high {
            let middle = (low + high) / 2
            if kept[middle] < dot { low = middle + 1 } else { high = middle }
        }
        return low < kept.count && kept[low] == dot
    }
}

/// The dropped events of all streams of which some are.
package struct DroppedByStream: Hashable, Sendable {
    package private(set) var streams: [ExactString: DroppedEvents] = [:]
    /// The same by the bytes of the streams' names.
    private var byName: [ArraySlice<UInt8>: DroppedEvents] = [:]

    package init() {}

    package subscript(stream: ExactString) -> DroppedEvents { streams[stream] ?? DroppedEvents() }

    package var isEmpty: Bool { streams.isEmpty }

    package mutating func drop(_ events: DroppedEvents, of stream: ExactString) {
        guard !events.isEmpty else { return }
        streams[stream, default: DroppedEvents()].join(events)
        byName[ArraySlice(stream.string.utf8)] = streams[stream]
    }

    /// - Parameter stream: its name, in UTF-8.
    package func contains(_ dot: Dot, of stream: ArraySlice<UInt8>) -> Bool {
        !byName.isEmpty && byName[stream]?.contains(dot) ?? false
    }

    /// Returns the dropped events of each stream up to the vector.
    package func within(_ vector: VersionVector) -> DroppedByStream {
        var within = DroppedByStream()
        for (stream, events) in streams { within.drop(events.within(vector), of: stream) }
        return within
    }

    /// Returns the streams of which more is dropped than in `before`.
    package func changed(since before: DroppedByStream) -> [ExactString: DroppedEvents] {
        streams.filter { before.streams[$0.key] != $0.value }
    }
}

extension DroppedEvents: ByteCoded {
    /// Layout: varint count of entries, each: replica, varint next; varint count of kept ones, each: dot.
    package func append(to bytes: inout [UInt8]) {
        bytes.append(entries: vector.entries)
        bytes.append(varint: UInt64(kept.count))
        for dot in kept { bytes.append(dot) }
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        let entries = try reader.entries("dropped.vector", upTo: Limits.stateVectorEntries)
        guard entries.allSatisfy({ $0.next > 0 }) else { throw .outOfRange(field: "dropped.vector") }
        vector = VersionVector(entries)
        let count = try reader.varint(upTo: UInt64(reader.remainingCount / (ReplicaID.byteCount + 1)), "dropped.kept")
        kept = []
        kept.reserveCapacity(Int(count))
        for _ in 0..<count {
            let dot = try reader.dot("dropped.kept")
            // One form only: sorted, and nothing that is not dropped anyway.
            guard vector.covers(dot), kept.last.map({ $0 < dot }) ?? true else {
                throw .outOfRange(field: "dropped.kept")
            }
            kept.append(dot)
        }
    }
}

extension Operation {
    /// The dropping of stored events of a stream: at most those that its author had seen, once every member has them.
    package struct EventDrop: Hashable, Sendable {
        /// A name; see `Name`.
        package let stream: ExactString
        /// The dropped events; not empty.
        package let events: DroppedEvents

        package init(stream: ExactString, events: DroppedEvents) {
            self.stream = stream
            self.events = events
        }
    }
}

extension Operation.EventDrop: ByteCoded {
    /// Layout: stream with length, which events.
    package func append(to bytes: inout [UInt8]) {
        stream.append(to: &bytes)
        events.append(to: &bytes)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        stream = try ExactString(reading: &reader)
        guard Name.isValid(stream.string) else { throw .outOfRange(field: "drop.stream") }
        events = try DroppedEvents(reading: &reader)
        guard !events.isEmpty else { throw .outOfRange(field: "drop.vector") }
    }
}
