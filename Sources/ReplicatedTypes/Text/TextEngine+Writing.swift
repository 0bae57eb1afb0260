// The operations for edits made here.

extension TextEngine {
    /// The run of the scalars from `number` on; nil: there are none.
    mutating func run(from number: Int, by author: ReplicaID) -> TextRevision.Run? {
        guard number < count else { return nil }
        let head = head(of: number)
        let isHead = Int(heads[head]) == number
        let place = places[head]
        let placement = placement(
            parent: isHead ? Int(place >> 1) - 1 : number - 1, isLeft: isHead && place & 1 == 1,
            rightOrigin: Int(rightOrigins[head]), by: author)
        return TextRevision.Run(placement: placement, count: tail(of: head) + 1 - number)
    }

    /// The runs of the scalars from `number` on.
    mutating func runs(from number: Int, by author: ReplicaID) -> [TextRevision.Run] {
        var runs: [TextRevision.Run] = []
        var number = number
        while let run = run(from: number, by: author) {
            runs.append(run)
            number += run.count
        }
        return runs
    }

    /// The scalars with these numbers.
    func string(of numbers: [Range<Int>]) -> String {
        var utf8: [UInt8] = []
        for numbers in numbers { arena.append(numbers.lowerBound, numbers.count, to: &utf8) }
        return String(decoding: utf8, as: UTF8.self)
    }

    /// The numbers from `number` on that are not among `gone`.
    func shown(from number: Int, without gone: [Range<Int>]) -> [Range<Int>] {
        var shown: [Range<Int>] = []
        var start = number
        for gone in gone {
            if start < gone.lowerBound { shown.append(start..<gone.lowerBound) }
            start = gone.upperBound
        }
        if start < count { shown.append(start..<count) }
        return shown
    }

    /// Returns these scalars as a deletion of `author` names them, in the order of their dots: near dots take few bytes.
    mutating func sortedDotRanges(of numbers: [Range<Int>], by author: ReplicaID) -> [DotRange] {
        if numbers.isEmpty { return [] }
        var ranges: [(first: Dot, count: UInt64)] = []
        for range in dotSpans(of: numbers).sorted(by: { $0.first < $1.first }) {
            if let last = ranges.last, last.first.replica == range.first.replica,
                last.first.counter + last.count == range.first.counter
            {
                ranges[ranges.count - 1].count += range.count
            } else {
                ranges.append(range)
            }
        }
        return ranges.map { DotRange(first: DotReference($0.first, by: author), count: $0.count) }
    }
}

extension [Range<Int>] {
    /// Adds a range that does not begin before the last one ends; nothing if it is empty.
    mutating func appendMerging(_ range: Range<Int>) {
        if range.isEmpty { return }
        if let last, last.upperBound == range.lowerBound {
            self[count - 1] = last.lowerBound..<range.upperBound
        } else {
            append(range)
        }
    }
}
