// Reading again what edits left stale, and cutting it where it may be cut.

extension StretchTree {
    /// Reads what is stale.
    ///
    /// - Parameter read: the scalars at a range of the text as it is now.
    package mutating func settle(_ read: (Range<Int>) -> String) {
        while var range = firstStale {
            while let wider = widened(range, read) { range = wider }
            let stretches = Self.cut(read(range), count: range.count)
            if stretches.count == 1, let changed = root?.changing(range, { _ in stretches[0] }) {
                root = changed
                continue
            }
            let before = Node.prefix(of: root, upTo: range.lowerBound).0
            let behind = Node.suffix(of: root, from: range.upperBound).1
            root = Node.join(Node.join(before, Node.tree(of: stretches[...])), behind)
        }
    }

    private var firstStale: Range<Int>? {
        guard var node = root, node.summary == nil else { return nil }
        var start = 0
        while true {
            if let left = node.left {
                if left.summary == nil {
                    node = left
                    continue
                }
                start += left.count
            }
            guard node.stretch.summary != nil, let right = node.right else {
                return start..<start + node.stretch.count
            }
            start += node.stretch.count
            node = right
        }
    }

    /// Returns the range widened by a neighbour, if an edit made their border one where they may not part, or left too little
    /// for a stretch. Nil if the range can stay as it is. Both borders are checked, since an edit at the edge of a stretch
    /// touches them.
    private func widened(_ range: Range<Int>, _ read: (Range<Int>) -> String) -> Range<Int>? {
        let (start, end) = (range.lowerBound, range.upperBound)
        if start > 0, !Self.mayPart(at: start, read) { return stretch(at: start - 1).lowerBound..<end }
        if end < count, !Self.mayPart(at: end, read) { return start..<stretch(at: end).upperBound }
        guard range.count < Summary.mostScalars / 4 else { return nil }
        if start > 0, case let last = stretch(at: start - 1), end - last.lowerBound <= Summary.mostScalars {
            return last.lowerBound..<end
        }
        if end < count, case let next = stretch(at: end), next.upperBound - start <= Summary.mostScalars {
            return start..<next.upperBound
        }
        return nil
    }

    private static func mayPart(at offset: Int, _ read: (Range<Int>) -> String) -> Bool {
        if Summary.partsAnywhere { return true }
        let pair = read(offset - 1..<offset + 1).unicodeScalars
        guard let first = pair.first, let second = pair.last else { preconditionFailure("a border has two sides") }
        return Summary.mayPart(first, second)
    }

    /// The stretch that scalar `offset` is in; there must be one.
    private func stretch(at offset: Int) -> Range<Int> {
        var start = 0
        var next = root
        while let node = next {
            let middle = start + (node.left?.count ?? 0)
            let end = middle + node.stretch.count
            if offset < middle {
                next = node.left
            } else if offset < end {
                return middle..<end
            } else {
                (start, next) = (end, node.right)
            }
        }
        preconditionFailure("scalar \(offset) of \(count) is in a stretch")
    }

    /// A string of `count` scalars as stretches, all of about the same length.
    private static func cut(_ string: String, count: Int) -> [Stretch] {
        if count <= Summary.mostScalars { return [Stretch(count: count, summary: Summary(string, count: count))] }
        let scalars = string.unicodeScalars
        var stretches: [Stretch] = []
        var start = scalars.startIndex
        var rest = count
        while rest > 0 {
            let parts = (rest + Summary.mostScalars / 2 - 1) / (Summary.mostScalars / 2)
            var length = (rest + parts - 1) / parts
            var end = scalars.index(start, offsetBy: length)
            while !Summary.partsAnywhere, length < rest,
                !Summary.mayPart(scalars[scalars.index(before: end)], scalars[end])
            {
                scalars.formIndex(after: &end)
                length += 1
            }
            let part = String(string[start..<end])
            stretches.append(Stretch(count: length, summary: Summary(part, count: length)))
            rest -= length
            start = end
        }
        return stretches
    }
}
