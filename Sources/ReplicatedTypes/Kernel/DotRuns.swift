/// Many dots as runs of counters: 100,000 elements added by one change are a single run.
///
/// What a delta says of the live things that the receiver holds already.
public struct DotRuns: Hashable, Sendable {
    /// Counters `start ..< end` of one replica.
    public struct Run: Hashable, Sendable, Codable {
        /// The replica of the dots.
        public let replica: ReplicaID
        /// The first counter.
        public let start: UInt64
        /// The counter behind the last one.
        public let end: UInt64

        /// Creates a run that is not empty: `start < end`.
        public init(replica: ReplicaID, start: UInt64, end: UInt64) {
            self.replica = replica
            self.start = start
            self.end = end
        }
    }

    /// Sorted; those of one replica neither touch nor overlap.
    public private(set) var runs: [Run] = []

    /// The empty set.
    public init() {}

    /// The dots given, in any order.
    public init(_ dots: some Sequence<Dot>) {
        var counters: [ReplicaID: [UInt64]] = [:]
        for dot in dots { counters[dot.replica, default: []].append(dot.counter) }
        for replica in counters.keys.sorted() {
            for counter in counters[replica, default: []].sorted() { append(counter, of: replica) }
        }
    }

    /// True if there is no dot.
    public var isEmpty: Bool { runs.isEmpty }

    /// Logarithmic in the number of runs.
    public func contains(_ dot: Dot) -> Bool {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            let run = runs[middle]
            if run.replica < dot.replica || run.replica == dot.replica && run.end <= dot.counter {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < runs.count && runs[low].replica == dot.replica && runs[low].start <= dot.counter
    }

    /// Appends a dot; it must not be before the last one in order.
    private mutating func append(_ counter: UInt64, of replica: ReplicaID) {
        if let last = runs.last, last.replica == replica, last.end >= counter {
            if last.end == counter {
                runs[runs.count - 1] = Run(replica: replica, start: last.start, end: counter + 1)
            }
        } else {
            runs.append(Run(replica: replica, start: counter, end: counter + 1))
        }
    }
}

extension DotRuns: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        for run in try container.decode([Run].self) {
            guard run.start < run.end, run.end <= Limits.counters + 1, follows(run.replica, run.start) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "runs out of order")
            }
            runs.append(run)
        }
    }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(runs)
    }

    /// True if a run that starts there is behind all others, and does not touch the last.
    private func follows(_ replica: ReplicaID, _ start: UInt64) -> Bool {
        guard let last = runs.last else { return true }
        return last.replica < replica || last.replica == replica && last.end < start
    }
}

extension DotRuns: StateCoded {
    /// Layout: varint count; each run: replica, varint start, varint length − 1.
    public func write(to writer: inout StateWriter) {
        writer.append(varint: UInt64(runs.count))
        for run in runs {
            writer.append(run.replica)
            writer.append(varint: run.start)
            writer.append(varint: run.end - run.start - 1)
        }
    }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        for _ in 0..<(try reader.count(bytesEach: 3, "runs")) {
            let replica = try reader.replica()
            let start = try reader.varint(upTo: Limits.counters, "runs")
            let length = try reader.varint(upTo: Limits.counters - start, "runs") + 1
            guard follows(replica, start) else { throw .outOfRange(field: "runs") }
            runs.append(Run(replica: replica, start: start, end: start + length))
        }
    }
}
