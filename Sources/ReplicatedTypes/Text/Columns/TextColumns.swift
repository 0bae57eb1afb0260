/// The columns of a `TextContents`, read: runs of scalars with their places, and which of them live.
///
/// Scalars are numbered by dot, from 0: replicas in order, then counters. Reading checks all that can be checked without the
/// text that they are for; what is allocated is bounded by `PositionTree.decodedLimit`
/// scalars of four bytes, for a run or a match of any length takes a few bytes.
struct TextColumns {
    /// Scalars of one replica with consecutive counters, each but the first the right child of the one before.
    struct Run: BitwiseCopyable {
        var counter: UInt64
        var replica: Int32
        /// The number of the first scalar.
        var number: Int32
        var count: Int32
        var parent: Reference
        /// The right origin; for a left child, its parent.
        var rightOrigin: Reference
        var side: Side
    }

    enum Side: UInt8, BitwiseCopyable {
        case left = 0
        case right = 1
    }

    /// A scalar: one of these columns, or an earlier one that the receiver holds (an index in `elsewhere`); or none.
    struct Reference: Equatable, BitwiseCopyable {
        private let code: Int32

        private init(code: Int32) { self.code = code }
        init(here number: Int32) { code = number }
        init(elsewhere index: Int) { code = -2 - Int32(truncatingIfNeeded: index) }

        /// The beginning as a parent, the end as a right origin.
        static let none = Self(code: -1)
        /// The right origin of the parent.
        static let inherited = Self(code: .min)

        var here: Int? { code >= 0 ? Int(code) : nil }
        var elsewhere: Int? { code < -1 && code != .min ? -2 - Int(code) : nil }
    }

    /// True if this is a whole text: then the scalars come in reading order.
    var isWhole = true
    var replicas: [ReplicaID] = []
    /// The runs by replica, then by counter; as few as possible.
    var runs: ContiguousArray<Run> = []
    /// Scalars that references name and that are not of these columns.
    private(set) var elsewhere: ContiguousArray<(replica: Int32, counter: UInt64)> = []
    /// The first run of each replica, and the number of runs at the end; `bases` is the same for scalars.
    private(set) var firstRuns: [Int32] = []
    private(set) var bases: [Int32] = []
    private(set) var count = 0
    /// The runs so that each comes behind what it names.
    private(set) var order: [Int32] = []
    /// The right origin of each run, with inherited ones looked up. It stays inherited where only the holder of an earlier
    /// scalar knows it. Empty until `resolve` is called: reading only the text does not need it.
    private(set) var origins: ContiguousArray<Reference> = []
    /// Finds runs by the number of a scalar, as long as `origins` are there.
    private(set) var finder = NumberFinder()
    /// Live dots as counters, per replica, sorted, not touching. Also those before the columns, unless whole.
    var live: ContiguousArray<Live> = []

    struct Live {
        var replica: Int32
        var start: UInt64
        var end: UInt64
    }

    /// UTF-8 of the live scalars of these columns: in reading order if whole, else by number.
    private(set) var text: [UInt8] = []
    /// The range of the packed form in the bytes; empty if it is not packed.
    private(set) var packed = 0..<0
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
        guard let order = causalOrder() else { throw .outOfRange(field: "text.place") }
        self.order = order
        try readLive(&reader)
        try readText(&reader)
        guard reader.isAtEnd else { throw .trailingBytes }
        guard scalarCount == liveHere else { throw .outOfRange(field: "text.count") }
    }

    /// Looks up what is inherited.
    mutating func resolve() {
        if !origins.isEmpty { return }
        finder = NumberFinder(runs.map(\.number), count: count)
        origins = resolvedRightOrigins()
    }

    private mutating func readRuns(_ reader: inout ByteReader) throws(CodecError) {
        // A whole text names no scalar that is elsewhere.
        var parents = ReferenceReader(replicas: isWhole ? 0 : replicas.count)
        var rightOrigins = parents
        var total: UInt64 = 0
        for replica in replicas.indices {
            bases.append(Int32(truncatingIfNeeded: total))
            firstRuns.append(Int32(truncatingIfNeeded: runs.count))
            let ownCount = try reader.count(bytesEach: 3, "text.runs")
            var end: UInt64 = 0
            for _ in 0..<ownCount {
                let gap = try reader.varint(upTo: Limits.counters, "text.gap")
                let (counter, overflow) = end.addingReportingOverflow(gap)
                let head = try reader.varint()
                let length = head >> 2 + 1
                guard !overflow, counter <= Limits.counters, length <= PositionTree.decodedLimit else {
                    throw .outOfRange(field: "text.run")
                }
                let parent = try parents.parent(&reader, &elsewhere)
                var side = Side.right
                var rightOrigin = Reference.inherited
                switch head & 3 {
                case Kind.left: (side, rightOrigin) = (.left, parent)
                case Kind.inherited: break
                case Kind.end: rightOrigin = .none
                case _: rightOrigin = try rightOrigins.rightOrigin(&reader, &elsewhere)
                }
                if parent == .none, side == .left || rightOrigin == .none { throw .outOfRange(field: "text.place") }
                runs.append(
                    Run(
                        counter: counter, replica: Int32(truncatingIfNeeded: replica),
                        number: Int32(truncatingIfNeeded: total), count: Int32(truncatingIfNeeded: length),
                        parent: parent, rightOrigin: rightOrigin, side: side))
                end = counter + length
                total += length
                guard total <= PositionTree.decodedLimit else { throw .outOfRange(field: "text.count") }
            }
        }
        count = Int(total)
        bases.append(Int32(truncatingIfNeeded: total))
        firstRuns.append(Int32(truncatingIfNeeded: runs.count))
        guard max(parents.greatest, rightOrigins.greatest) < Int64(count) else {
            throw .outOfRange(field: "text.reference")
        }
    }

    /// Checks that the scalars elsewhere were written before these columns. Otherwise the order of the runs would not include
    /// them.
    private func checkReferences() throws(CodecError) {
        for (replica, counter) in elsewhere {
            let first = Int(firstRuns[Int(replica)])
            if first < Int(firstRuns[Int(replica) + 1]), counter >= runs[first].counter {
                throw .outOfRange(field: "text.reference")
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
        let length = try reader.varint(upTo: UInt64(count) * 4, "text.bytes")
        let packedLength = try reader.varint(upTo: UInt64(reader.remainingCount), "text.packed")
        guard packedLength > 0 else {
            text = Array(reader.bytes[try reader.skip(Int(length))])
            return
        }
        // One byte of a match stands for a thousand at most, in bytes that we wrote.
        let range = try reader.skip(Int(packedLength))
        packed = range
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
