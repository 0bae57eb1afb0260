/// Writes a text, or what a replica lacks of it, as columns; see `TextColumns`.
///
/// Layout: form (0 whole, 1 part); per replica: varint count of runs, and each run: varint counters left out since the run
/// before, varint (length − 1) · 4 + kind, parent, right origin if the kind says so; what lives; varint bytes of the text,
/// varint of its packed form (0: as it is), the text.
struct TextColumnsWriter {
    private struct Piece {
        let counter: UInt64
        let number: Int
        var count: Int
        /// The number among the scalars that are written.
        var canonical: Int
    }

    private var bytes: [UInt8] = []
    /// Engine's index of each replica, sorted by name.
    private var order: [Int] = []
    private var ranks: [Int: Int] = [:]
    /// The runs to write, per replica.
    private var pieces: [[Piece]] = []
    /// The engine's numbers of all scalars to write, in canonical order: a run may have come here in parts.
    private var numbers: [Range<Int>] = []
    private var total = 0
    /// The number that was referred to last, as a parent and as a right origin.
    private var lastParent: Int64 = 0
    private var lastRightOrigin: Int64 = 0
    private var shown = ShownNumbers(count: 0)

    /// Returns the scalars that `vector` does not cover, and the live ones among all.
    static func columns(
        of engine: inout TextEngine, since vector: VersionVector
    ) -> (replicas: [ReplicaID], columns: [UInt8]) {
        guard engine.count > 0 else { return ([], []) }
        var writer = TextColumnsWriter()
        return writer.write(&engine, vector)
    }

    private mutating func write(
        _ engine: inout TextEngine, _ vector: VersionVector
    ) -> (replicas: [ReplicaID], columns: [UInt8]) {
        let isWhole = vector.isEmpty
        let replicas = engine.dots.replicas
        let used = replicas.indices.filter { engine.dots.holdsAny(of: 0, count: .max, by: $0) }
        order = used.sorted { replicas[$0] < replicas[$1] }
        for (rank, replica) in order.enumerated() { ranks[replica] = rank }
        collect(&engine, vector)
        shown = ShownNumbers(engine)
        bytes.reserveCapacity(total / 2 + 64)
        bytes.append(isWhole ? 0 : 1)
        for pieces in pieces {
            bytes.append(varint: UInt64(pieces.count))
            var end: UInt64 = 0
            for piece in pieces {
                append(piece, behind: end, &engine)
                end = piece.counter + UInt64(piece.count)
            }
        }
        if isWhole { appendLiveNumbers() } else { appendLiveDots(&engine) }
        appendText(&engine, isWhole: isWhole)
        return (order.map { replicas[$0] }, bytes)
    }

    /// The runs of each replica by counter, as few as possible.
    private mutating func collect(_ engine: inout TextEngine, _ vector: VersionVector) {
        for replica in order {
            var runs: [Piece] = []
            let next = vector.next(of: engine.dots.replicas[replica])
            for stretch in engine.dots.stretches(of: replica) where stretch.end > next {
                let skipped = stretch.counter < next ? Int(next - stretch.counter) : 0
                var number = stretch.number + skipped
                let end = stretch.number + stretch.count
                while number < end {
                    let head = engine.head(of: number)
                    let behind = min(end, engine.tail(of: head) + 1)
                    let counter = stretch.counter + UInt64(number - stretch.number)
                    if let last = runs.last, continues(last, with: number, counter, &engine) {
                        runs[runs.count - 1].count += behind - number
                    } else {
                        runs.append(Piece(counter: counter, number: number, count: behind - number, canonical: total))
                    }
                    numbers.append(number..<behind)
                    total += behind - number
                    number = behind
                }
            }
            pieces.append(runs)
        }
    }

    private func continues(_ piece: Piece, with number: Int, _ counter: UInt64, _ engine: inout TextEngine) -> Bool {
        guard piece.counter + UInt64(piece.count) == counter else { return false }
        let place = engine.position(of: number)
        guard !place.isLeft, place.parent >= 0 else { return false }
        let parent = engine.dots.dot(of: place.parent)
        return parent.counter + 1 == counter && parent.replica == engine.dots.dot(of: number).replica
            && place.rightOrigin == engine.rightOrigin(of: piece.number)
    }

    private mutating func append(_ piece: Piece, behind end: UInt64, _ engine: inout TextEngine) {
        let place = engine.position(of: piece.number)
        let kind: UInt64
        if place.isLeft {
            kind = TextColumns.Kind.left
        } else if place.rightOrigin == engine.rightOrigin(of: place.parent) {
            kind = TextColumns.Kind.inherited
        } else {
            kind = place.rightOrigin == TextEngine.none ? TextColumns.Kind.end : TextColumns.Kind.followed
        }
        bytes.append(varint: piece.counter - end)
        bytes.append(varint: UInt64(piece.count - 1) << 2 | kind)
        if place.parent == TextEngine.none {
            bytes.append(0)
        } else {
            lastParent = append(place.parent, &engine, behind: lastParent, plus: 1)
        }
        if kind == TextColumns.Kind.followed {
            lastRightOrigin = append(place.rightOrigin, &engine, behind: lastRightOrigin, plus: 0)
        }
    }

    /// Returns what the next reference is written as the difference to.
    private mutating func append(
        _ number: Int, _ engine: inout TextEngine, behind last: Int64, plus one: UInt64
    ) -> Int64 {
        let (replica, counter) = engine.dots.dot(of: number)
        let rank = ranks[replica, default: 0]
        let index = pieces[rank].firstIndexPast { $0.counter > counter } - 1
        guard index >= 0 else {
            bytes.append(varint: (UInt64(rank) << 1 | 1) + one)
            bytes.append(varint: counter)
            return last
        }
        let piece = pieces[rank][index]
        let canonical = Int64(piece.canonical) + Int64(counter - piece.counter)
        let difference = canonical - last
        bytes.append(varint: UInt64(bitPattern: difference << 1 ^ difference >> 63) << 1 + one)
        return canonical
    }

    /// Lengths of what lives and what does not, in turn, by number; the first may be 0.
    private mutating func appendLiveNumbers() {
        var lengths: [UInt64] = []
        var isLive = true
        var length = 0
        for numbers in numbers {
            var number = numbers.lowerBound
            while number < numbers.upperBound {
                let change = shown.firstChange(in: number..<numbers.upperBound, from: isLive) ?? numbers.upperBound
                length += change - number
                number = change
                guard number < numbers.upperBound else { break }
                lengths.append(UInt64(length))
                length = 0
                isLive.toggle()
            }
        }
        lengths.append(UInt64(length))
        bytes.append(varint: UInt64(lengths.count))
        for length in lengths { bytes.append(varint: length) }
    }

    /// Appends the runs of live counters per replica, also those that the receiver holds.
    private mutating func appendLiveDots(_ engine: inout TextEngine) {
        for replica in order {
            var runs: [(start: UInt64, end: UInt64)] = []
            for stretch in engine.dots.stretches(of: replica) {
                shown.forEachRun(in: stretch.number..<stretch.number + stretch.count) { range in
                    let start = stretch.counter + UInt64(range.lowerBound - stretch.number)
                    let end = start + UInt64(range.count)
                    if let last = runs.last, last.end == start {
                        runs[runs.count - 1].end = end
                    } else {
                        runs.append((start, end))
                    }
                }
            }
            bytes.append(varint: UInt64(runs.count))
            var end: UInt64 = 0
            for run in runs {
                bytes.append(varint: run.start - end)
                bytes.append(varint: run.end - run.start - 1)
                end = run.end
            }
        }
    }

    private mutating func appendText(_ engine: inout TextEngine, isWhole: Bool) {
        var text = isWhole ? engine.string : ""
        if !isWhole {
            var utf8: [UInt8] = []
            for numbers in numbers {
                shown.forEachRun(in: numbers) { engine.arena.append($0.lowerBound, $0.count, to: &utf8) }
            }
            text = String(decoding: utf8, as: UTF8.self)
        }
        text.withUTF8 { utf8 in
            bytes.append(varint: UInt64(utf8.count))
            let packed = TextCompression.compress(utf8)
            if packed.count < utf8.count {
                bytes.append(varint: UInt64(packed.count))
                bytes.append(contentsOf: packed)
            } else {
                bytes.append(0)
                bytes.append(contentsOf: utf8)
            }
        }
    }
}
