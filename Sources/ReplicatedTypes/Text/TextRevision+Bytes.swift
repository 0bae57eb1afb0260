extension TextRevision: ByteCoded {
    /// Appends the canonical bytes.
    ///
    /// Layout: varint 2 · (runs − 1), plus 1 if nodes of other replicas are named; each run: varint 8 · (scalars − 1) + code
    /// of its place, the nodes that it names; varint count of stretches that are gone, each: varint living scalars before it,
    /// varint (its scalars − 1); text; varint count of ranges deleted, each: its first, varint (count − 1).
    public func append(to bytes: inout [UInt8]) {
        let namesOthers = self.namesOthers
        var names = NodeNames(namesOthers: namesOthers)
        bytes.append(varint: UInt64(runs.count - 1) << 1 | (namesOthers ? 1 : 0))
        for run in runs {
            bytes.append(varint: UInt64(run.count - 1) << 3 | UInt64(run.placement.code))
            run.placement.forEachNode { names.append($0, $1, to: &bytes) }
        }
        bytes.append(varint: UInt64(gone.count))
        var end = 0
        for range in gone {
            bytes.append(varint: UInt64(range.lowerBound - end))
            bytes.append(varint: UInt64(range.count - 1))
            end = range.upperBound
        }
        text.append(to: &bytes)
        bytes.append(varint: UInt64(deleted.count))
        for range in deleted {
            names.append(range.first, .deleted, to: &bytes)
            bytes.append(varint: max(1, range.count) - 1)
        }
    }

    private var namesOthers: Bool {
        func isOther(_ node: DotReference) -> Bool { if case .other = node { true } else { false } }
        var namesOthers = deleted.contains { isOther($0.first) }
        for run in runs where !namesOthers {
            run.placement.forEachNode { node, _ in namesOthers = namesOthers || isOther(node) }
        }
        return namesOthers
    }

    /// Reads what `append(to:)` wrote; refuses anything else.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        let start = try reader.varint(upTo: UInt64(2 * reader.remainingCount + 1), "text.runs")
        var names = NodeNames(namesOthers: start & 1 == 1)
        var runs: [Run] = []
        var total: UInt64 = 0
        for _ in 0...start >> 1 {
            let head = try reader.varint()
            let count = head >> 3 + 1
            guard count <= PositionTree.decodedLimit - total else { throw .outOfRange(field: "text.run") }
            total += count
            let placement = try Placement(code: UInt8(head & 7)) { sort throws(CodecError) in
                try names.node(sort, &reader)
            }
            runs.append(Run(placement: placement, count: Int(count)))
        }
        let gone = try Self.gone(of: total, &reader)
        let text = try ExactString(reading: &reader)
        var deleted: [DotRange] = []
        for _ in 0..<(try reader.count(bytesEach: 2, "ranges")) {
            let first = try names.node(.deleted, &reader)
            let count = try reader.varint(upTo: Limits.operationsPerChange - 1, "range.count") + 1
            deleted.append(DotRange(first: first, count: count))
        }
        guard names.hasOthers == names.namesOthers else { throw .outOfRange(field: "replica") }
        let living = UInt64(gone.reduce(0) { $0 + $1.count }) + UInt64(text.string.unicodeScalars.count)
        guard living == total, let revision = Self(runs: runs, gone: gone, text: text, deleted: deleted) else {
            throw .outOfRange(field: "text.gone")
        }
        self = revision
    }

    private static func gone(of total: UInt64, _ reader: inout ByteReader) throws(CodecError) -> [Range<Int>] {
        var gone: [Range<Int>] = []
        var end: UInt64 = 0
        for index in 0..<(try reader.count(bytesEach: 2, "text.gone")) {
            let gap = try reader.varint(upTo: total - end, "text.gone")
            if index > 0, gap == 0 { throw .outOfRange(field: "text.gone") }
            let start = end + gap
            guard start < total else { throw .outOfRange(field: "text.gone") }
            end = start + (try reader.varint(upTo: total - start - 1, "text.gone")) + 1
            gone.append(Int(start)..<Int(end))
        }
        return gone
    }
}

/// The names of nodes in one revision. A node is named by the number of its replica, if the revision names any but its
/// author's (0: the author's; the next unused number is followed by the name), and by the zigzag of the counter's difference
/// to the last one of the same sort and replica.
private struct NodeNames {
    let namesOthers: Bool
    private var numbers: [ReplicaID: Int] = [:]
    private var replicas: [ReplicaID] = []
    /// The last counter by sort and replica.
    private var last: [Int64] = [0, 0, 0]

    init(namesOthers: Bool) { self.namesOthers = namesOthers }

    /// True if a node of another replica was named.
    var hasOthers: Bool { !replicas.isEmpty }

    mutating func append(_ node: DotReference, _ sort: Placement.NodeSort, to bytes: inout [UInt8]) {
        switch node {
        case .own(let counter):
            if namesOthers { bytes.append(0) }
            append(counter, at: sort.rawValue, to: &bytes)
        case .other(let dot):
            let known = numbers[dot.replica]
            let number = known ?? add(dot.replica)
            bytes.append(varint: UInt64(number + 1))
            if known == nil { bytes.append(contentsOf: dot.replica.bytes) }
            append(dot.counter, at: 3 * (number + 1) + sort.rawValue, to: &bytes)
        }
    }

    private mutating func append(_ counter: UInt64, at index: Int, to bytes: inout [UInt8]) {
        bytes.append(signed: Int64(bitPattern: counter) &- last[index])
        last[index] = Int64(bitPattern: counter)
    }

    private mutating func add(_ replica: ReplicaID) -> Int {
        numbers[replica] = replicas.count
        replicas.append(replica)
        last += [0, 0, 0]
        return replicas.count - 1
    }

    mutating func node(
        _ sort: Placement.NodeSort, _ reader: inout ByteReader
    ) throws(CodecError) -> DotReference {
        let number = namesOthers ? Int(try reader.varint(upTo: UInt64(replicas.count + 1), "replica")) : 0
        if number == replicas.count + 1 {
            let name = try reader.skip(ReplicaID.byteCount)
            guard let replica = ReplicaID(bytes: reader.bytes[name]), numbers[replica] == nil else {
                throw .outOfRange(field: "replica")
            }
            _ = add(replica)
        }
        let index = 3 * number + sort.rawValue
        let (counter, overflow) = last[index].addingReportingOverflow(try reader.signed())
        guard !overflow, counter >= 0, UInt64(counter) <= Limits.counters else {
            throw .outOfRange(field: "dot.counter")
        }
        last[index] = counter
        if number == 0 { return .own(UInt64(counter)) }
        return .other(Dot(replica: replicas[number - 1], counter: UInt64(counter)))
    }
}
