/// The columns of a `TextContents`, read: runs of scalars with their places, and which of them live.
///
/// Scalars are numbered by dot, from 0: replicas in order, then counters. Reading checks all that can be checked without the
/// text that they are for; what is allocated is bounded by `PositionTree.decodedLimit`
/// scalars of four bytes, for a run or a match of any length takes a few bytes.
struct TextColumns {
    /// Scalars of one replica with consecutive counters, each but the first the right child of the one before.
    struct Run {
        var replica: Int32
        var counter: UInt64
        /// Of the first scalar.
        var number: Int32
        var count: Int32
        var parent: Reference
        var side: Side
        /// Of a left child its parent.
        var rightOrigin: RightOrigin
    }

    enum Side: UInt8 {
        case left = 0
        case right = 1
    }

    enum RightOrigin: Equatable {
        /// That of the parent.
        case inherited
        case end
        case scalar(Reference)
    }

    /// A scalar: one of these columns, or an earlier one that the receiver holds.
    enum Reference: Equatable {
        case root
        case here(Int32)
        case elsewhere(replica: Int32, counter: UInt64)
    }

    /// Whether this is a whole text: then the scalars come in reading order.
    var isWhole = true
    var replicas: [ReplicaID] = []
    /// By replica, then by counter; as few as possible.
    var runs: ContiguousArray<Run> = []
    /// Per replica, the first number; and the total at the end.
    var bases: [Int32] = []
    var count = 0
    /// Live dots as counters, per replica, sorted, not touching. Also those before the columns, unless whole.
    var live: ContiguousArray<Live> = []

    struct Live {
        var replica: Int32
        var start: UInt64
        var end: UInt64
    }

    /// UTF-8 of the live scalars of these columns: in reading order if whole, else by number.
    var text: [UInt8] = []
    /// Where in the bytes it begins.
    var textPosition = 0
}

// MARK: - Bytes

extension TextColumns {
    /// The codes of a run's place, in the lowest two bits beside its length.
    enum Kind {
        static let left: UInt64 = 0
        static let inherited: UInt64 = 1
        static let end: UInt64 = 2
        static let followed: UInt64 = 3
    }

    /// Reads what `TextColumnsWriter` wrote.
    init(_ contents: TextContents) throws(CodecError) {
        replicas = contents.replicas
        var reader = ByteReader(contents.columns)
        switch try reader.byte() {
        case 0: isWhole = true
        case 1: isWhole = false
        case _: throw .outOfRange(field: "text.form")
        }
        try readRuns(&reader)
        try checkReferences()
        try readLive(&reader)
        try readText(&reader)
        guard reader.isAtEnd else { throw .trailingBytes }
        guard causalOrder() != nil else { throw .outOfRange(field: "text.place") }
    }

    private mutating func readRuns(_ reader: inout ByteReader) throws(CodecError) {
        // A whole text names no scalar that is elsewhere.
        var parents = ReferenceReader(replicas: isWhole ? 0 : replicas.count)
        var origins = parents
        var total: UInt64 = 0
        for replica in replicas.indices {
            bases.append(Int32(truncatingIfNeeded: total))
            var end: UInt64 = 0
            for _ in 0..<(try reader.count(bytesEach: 3, "text.runs")) {
                let gap = try reader.varint(upTo: Limits.counters, "text.gap")
                let (counter, overflow) = end.addingReportingOverflow(gap)
                let head = try reader.varint()
                let length = head >> 2 + 1
                guard !overflow, counter <= Limits.counters, length <= PositionTree.decodedLimit else {
                    throw .outOfRange(field: "text.run")
                }
                let parent = try parents.parent(&reader)
                let place: (Side, RightOrigin)
                switch head & 3 {
                case Kind.left: place = (.left, .scalar(parent))
                case Kind.inherited: place = (.right, .inherited)
                case Kind.end: place = (.right, .end)
                case _: place = (.right, .scalar(try origins.rightOrigin(&reader)))
                }
                if parent == .root, place.0 == .left || place.1 == .end { throw .outOfRange(field: "text.place") }
                runs.append(
                    Run(
                        replica: Int32(truncatingIfNeeded: replica), counter: counter,
                        number: Int32(truncatingIfNeeded: total), count: Int32(truncatingIfNeeded: length),
                        parent: parent, side: place.0, rightOrigin: place.1))
                end = counter + length
                total += length
                guard total <= PositionTree.decodedLimit else { throw .outOfRange(field: "text.count") }
            }
        }
        count = Int(total)
        bases.append(Int32(truncatingIfNeeded: total))
        guard max(parents.greatest, origins.greatest) < Int64(count) else { throw .outOfRange(field: "text.reference") }
    }

    /// What is elsewhere was written before what is here: or the order of the runs would not see it.
    private func checkReferences() throws(CodecError) {
        if isWhole { return }
        for run in runs {
            var references = [run.parent]
            if case .scalar(let reference) = run.rightOrigin { references.append(reference) }
            for case .elsewhere(let replica, let counter) in references {
                let first = runs.firstIndexPast { $0.replica >= replica }
                if first < runs.count, runs[first].replica == replica, counter >= runs[first].counter {
                    throw .outOfRange(field: "text.reference")
                }
            }
        }
    }

    /// The least vector that covers the runs.
    var vector: VersionVector {
        VersionVector(
            runs.map {
                VersionVector.Entry(replica: replicas[Int($0.replica)], next: $0.counter + UInt64($0.count))
            })
    }

    private mutating func readLive(_ reader: inout ByteReader) throws(CodecError) {
        guard isWhole else {
            for replica in replicas.indices {
                var end: UInt64 = 0
                for index in 0..<(try reader.count(bytesEach: 2, "text.live")) {
                    let gap = try reader.varint(upTo: Limits.counters - end, "text.live")
                    if index > 0, gap == 0 { throw .outOfRange(field: "text.live") }
                    let start = end + gap
                    guard start < Limits.counters else { throw .outOfRange(field: "text.live") }
                    end = start + (try reader.varint(upTo: Limits.counters - start - 1, "text.live")) + 1
                    live.append(Live(replica: Int32(truncatingIfNeeded: replica), start: start, end: end))
                }
            }
            return
        }
        var number = 0
        var isLive = true
        var run = 0
        for index in 0..<(try reader.count(bytesEach: 1, "text.live")) {
            let length = Int(try reader.varint(upTo: UInt64(count - number), "text.live"))
            if length == 0, index > 0 { throw .outOfRange(field: "text.live") }
            if isLive { addLive(number..<number + length, &run) }
            number += length
            isLive.toggle()
        }
        guard number == count else { throw .outOfRange(field: "text.live") }
    }

    /// Adds live numbers as counters; `run` is where the search goes on.
    private mutating func addLive(_ numbers: Range<Int>, _ run: inout Int) {
        var number = numbers.lowerBound
        while number < numbers.upperBound {
            while Int(runs[run].number) + Int(runs[run].count) <= number { run += 1 }
            let end = min(numbers.upperBound, Int(runs[run].number) + Int(runs[run].count))
            let start = runs[run].counter + UInt64(number - Int(runs[run].number))
            let behind = start + UInt64(end - number)
            if let last = live.last, last.replica == runs[run].replica, last.end == start {
                live[live.count - 1].end = behind
            } else {
                live.append(Live(replica: runs[run].replica, start: start, end: behind))
            }
            number = end
        }
    }

    private mutating func readText(_ reader: inout ByteReader) throws(CodecError) {
        textPosition = reader.position
        let length = try reader.varint(upTo: UInt64(count) * 4, "text.bytes")
        let packed = try reader.varint(upTo: UInt64(reader.remainingCount), "text.packed")
        guard packed > 0 else {
            text = Array(reader.bytes[try reader.skip(Int(length))])
            return
        }
        // One byte of a match stands for a thousand at most, in bytes that we wrote.
        let range = try reader.skip(Int(packed))
        let source = reader.bytes
        var isComplete = false
        let unpacked = [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, written in
            let output = UnsafeMutableBufferPointer(rebasing: buffer[0..<Int(length)])
            isComplete = source.withUnsafeBufferPointer {
                TextCompression.decompress(UnsafeBufferPointer(rebasing: $0[range]), into: output)
            }
            if !isComplete { output.initialize(repeating: 0) }
            written = Int(length)
        }
        guard isComplete else { throw .outOfRange(field: "text.packed") }
        text = unpacked
    }
}

/// Reads references: each as the difference to the one before.
struct ReferenceReader {
    private let replicas: Int
    private var last: Int64 = 0
    /// Of the numbers read; to be checked when it is known how many there are.
    private(set) var greatest: Int64 = -1

    init(replicas: Int) { self.replicas = replicas }

    mutating func parent(_ reader: inout ByteReader) throws(CodecError) -> TextColumns.Reference {
        let code = try reader.varint()
        return code == 0 ? .root : try reference(code - 1, &reader)
    }

    mutating func rightOrigin(_ reader: inout ByteReader) throws(CodecError) -> TextColumns.Reference {
        try reference(try reader.varint(), &reader)
    }

    private mutating func reference(
        _ code: UInt64, _ reader: inout ByteReader
    ) throws(CodecError) -> TextColumns.Reference {
        if code & 1 == 1 {
            guard code >> 1 < UInt64(replicas) else { throw .outOfRange(field: "text.replica") }
            return .elsewhere(
                replica: Int32(truncatingIfNeeded: code >> 1),
                counter: try reader.varint(upTo: Limits.counters, "text.counter"))
        }
        let zigzag = code >> 1
        guard zigzag <= PositionTree.decodedLimit * 2 else { throw .outOfRange(field: "text.reference") }
        last += Int64(zigzag >> 1) ^ -Int64(zigzag & 1)
        guard last >= 0, last <= Int64(PositionTree.decodedLimit) else { throw .outOfRange(field: "text.reference") }
        greatest = max(greatest, last)
        return .here(Int32(truncatingIfNeeded: last))
    }
}

// MARK: - Order

extension TextColumns {
    /// The runs so that each comes behind what it names; nil: some name each other in a circle.
    ///
    /// A replica wrote its runs one after another, so what waits is always a replica's next run. A stack of our own: how deep
    /// it goes is up to whoever sent this.
    func causalOrder() -> [Int]? {
        if replicas.count == 1 {
            // The usual text: what was written first comes first.
            for run in runs { if !isBefore(run.parent, run) || !isBefore(run.rightOrigin, run) { return nil } }
            return Array(runs.indices)
        }
        var order: [Int] = []
        order.reserveCapacity(runs.count)
        // Per replica: its next run, and where its runs end.
        var next: [Int] = []
        for replica in replicas.indices { next.append(runs.firstIndexPast { Int($0.replica) >= replica }) }
        let ends = next.dropFirst() + [runs.count]
        var isOnStack = [Bool](repeating: false, count: replicas.count)
        for start in replicas.indices {
            // A replica, and the number that it must get behind.
            var stack: [(replica: Int, target: Int32)] = [(start, bases[start + 1] - 1)]
            isOnStack[start] = true
            while let (replica, target) = stack.last {
                let done =
                    next[replica] < ends[ends.startIndex + replica] ? runs[next[replica]].number : bases[replica + 1]
                guard done <= target else {
                    isOnStack[replica] = false
                    stack.removeLast()
                    continue
                }
                let run = runs[next[replica]]
                guard let missing = missing(of: run, next, ends) else {
                    order.append(next[replica])
                    next[replica] += 1
                    continue
                }
                guard !isOnStack[missing.replica] else { return nil }
                isOnStack[missing.replica] = true
                stack.append(missing)
            }
        }
        return order
    }

    private func isBefore(_ reference: Reference, _ run: Run) -> Bool {
        if case .here(let number) = reference { return number < run.number }
        return true
    }

    private func isBefore(_ rightOrigin: RightOrigin, _ run: Run) -> Bool {
        if case .scalar(let reference) = rightOrigin { return isBefore(reference, run) }
        return true
    }

    private func missing(of run: Run, _ next: [Int], _ ends: ArraySlice<Int>) -> (replica: Int, target: Int32)? {
        func missing(_ reference: Reference) -> (replica: Int, target: Int32)? {
            guard case .here(let number) = reference else { return nil }
            let replica = bases.firstIndexPast { $0 > number } - 1
            let done = next[replica] < ends[ends.startIndex + replica] ? runs[next[replica]].number : bases[replica + 1]
            return number < done ? nil : (replica, number)
        }
        if let parent = missing(run.parent) { return parent }
        if case .scalar(let reference) = run.rightOrigin { return missing(reference) }
        return nil
    }
}
