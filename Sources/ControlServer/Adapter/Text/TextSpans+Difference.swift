import ControlAPI
import SyncModel

// The difference between two states of one text, exactly: each letter is known by its dot. Letters that two people typed apart
// may be equal, and which of them was there first decides where each person types on.
extension [TextSpan] {
    /// Returns the steps, in scalars, that lead from these spans to others of the same text; nil where their letters have
    /// another order, as no two states of one text do.
    ///
    /// - Parameter text: the text of the other spans.
    func steps(to other: [TextSpan], of text: String) -> [TextSplice]? {
        let scalars = Array<Unicode.Scalar>(text.unicodeScalars)
        var old = pieces(in: other)[...]
        var steps: [TextSplice] = []
        var offset = 0
        func delete(_ count: Int) {
            steps.record(TextSplice(offset: offset, deleted: count, inserted: ""), in: .scalars)
        }
        for piece in other.pieces(in: self) {
            guard piece.isShared else {
                var inserted = String.UnicodeScalarView()
                inserted.append(contentsOf: scalars[offset..<offset + piece.count])
                steps.record(TextSplice(offset: offset, deleted: 0, inserted: String(inserted)), in: .scalars)
                offset += piece.count
                continue
            }
            var rest = piece.count
            while rest > 0 {
                guard let first = old.first else { return nil }
                guard first.isShared else {
                    delete(first.count)
                    old.removeFirst()
                    continue
                }
                let count = Swift.min(rest, first.count)
                offset += count
                rest -= count
                if count == first.count { old.removeFirst() } else { old[old.startIndex].count -= count }
            }
        }
        for piece in old {
            if piece.isShared { return nil }
            delete(piece.count)
        }
        return steps
    }

    /// A part of a span that the other state has, or has not.
    private struct Piece {
        var count: Int
        let isShared: Bool
    }

    private func pieces(in other: [TextSpan]) -> [Piece] {
        let known = other.sorted { $0.first < $1.first }
        var pieces: [Piece] = []
        for span in self {
            var dot = span.first
            var rest = span.range.count
            while rest > 0 {
                let (distance, isShared) = known.distance(from: dot)
                let count = Swift.min(rest, distance)
                pieces.append(Piece(count: count, isShared: isShared))
                dot = Dot(replica: dot.replica, counter: dot.counter + UInt64(count))
                rest -= count
            }
        }
        return pieces
    }

    /// Returns how many dots from this one on are among the spans, or are not. The spans are sorted by their first dot.
    private func distance(from dot: Dot) -> (count: Int, isShared: Bool) {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].first <= dot { low = middle + 1 } else { high = middle }
        }
        if low > 0, self[low - 1].first.replica == dot.replica {
            let inside = dot.counter - self[low - 1].first.counter
            if inside < self[low - 1].range.count { return (self[low - 1].range.count - Int(inside), true) }
        }
        guard low < count, self[low].first.replica == dot.replica else { return (.max, false) }
        return (Int(self[low].first.counter - dot.counter), false)
    }
}
