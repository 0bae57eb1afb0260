/// Which parts of one text to replace by what to get another.
///
/// The common beginning and end are left out; between them Myers, "An O(ND) Difference Algorithm and Its Variations" (1986),
/// greedy form, up to `editLimit` insertions and deletions; texts further apart are replaced between beginning and end.
enum TextDifference {
    struct Hunk: Equatable {
        /// Of the old text.
        var range: Range<Int>
        /// What comes in its place.
        var inserted: ArraySlice<Unicode.Scalar>
    }

    /// Bounds the time to this times the length, and the memory to its square · 4 bytes.
    static let editLimit = 1_024

    /// Sorted; between two of them something stays.
    static func hunks(from old: [Unicode.Scalar], to target: [Unicode.Scalar]) -> [Hunk] {
        var start = 0
        while start < min(old.count, target.count), old[start] == target[start] { start += 1 }
        var oldEnd = old.count
        var targetEnd = target.count
        while oldEnd > start, targetEnd > start, old[oldEnd - 1] == target[targetEnd - 1] {
            oldEnd -= 1
            targetEnd -= 1
        }
        if start == oldEnd, start == targetEnd { return [] }
        let whole = Hunk(range: start..<oldEnd, inserted: target[start..<targetEnd])
        if start == oldEnd || start == targetEnd { return [whole] }
        guard let matches = matches(old[start..<oldEnd], target[start..<targetEnd]) else { return [whole] }
        var hunks: [Hunk] = []
        var (x, y) = (start, start)
        for match in matches + [(old: oldEnd, target: targetEnd, count: 0)] {
            if x < match.old || y < match.target {
                hunks.append(Hunk(range: x..<match.old, inserted: target[y..<match.target]))
            }
            (x, y) = (match.old + match.count, match.target + match.count)
        }
        return united(hunks, target)
    }

    private typealias Match = (old: Int, target: Int, count: Int)

    /// The stretches that stay, in order; nil if more than `editLimit` edits lie between them.
    private static func matches(
        _ old: ArraySlice<Unicode.Scalar>, _ target: ArraySlice<Unicode.Scalar>
    ) -> [Match]? {
        let limit = min(editLimit, old.count + target.count)
        // Furthest x on each diagonal k = x − y, at index k + limit + 1; one copy of its used part per number of edits.
        var furthest = [Int32](repeating: 0, count: 2 * limit + 3)
        var traces: [ArraySlice<Int32>] = []
        for edits in 0...limit {
            traces.append(ArraySlice(Array(furthest[(limit + 1 - edits)...(limit + 1 + edits)])))
            for diagonal in stride(from: -edits, through: edits, by: 2) {
                let index = diagonal + limit + 1
                let isDown = diagonal == -edits || diagonal != edits && furthest[index - 1] < furthest[index + 1]
                var x = Int(isDown ? furthest[index + 1] : furthest[index - 1] + 1)
                while x < old.count, x - diagonal < target.count, x - diagonal >= 0,
                    old[old.startIndex + x] == target[target.startIndex + x - diagonal]
                {
                    x += 1
                }
                furthest[index] = Int32(x)
                if x >= old.count, x - diagonal >= target.count {
                    return path(traces, old, target)
                }
            }
        }
        return nil
    }

    /// Walks back from the end. `traces[d]` holds, for the diagonals −d...d, how far d − 1 edits reached.
    private static func path(
        _ traces: [ArraySlice<Int32>], _ old: ArraySlice<Unicode.Scalar>, _ target: ArraySlice<Unicode.Scalar>
    ) -> [Match] {
        var matches: [Match] = []
        var (x, y) = (old.count, target.count)
        for edits in traces.indices.reversed() {
            let trace = traces[edits]
            let diagonal = x - y
            func reached(_ diagonal: Int) -> Int { Int(trace[diagonal + edits]) }
            var (startX, startY) = (0, 0)
            var previous = (x: 0, y: 0)
            if edits > 0 {
                let isDown =
                    diagonal == -edits || diagonal != edits && reached(diagonal - 1) < reached(diagonal + 1)
                let from = isDown ? diagonal + 1 : diagonal - 1
                previous = (reached(from), reached(from) - from)
                (startX, startY) = isDown ? (previous.x, previous.y + 1) : (previous.x + 1, previous.y)
            }
            if x > startX {
                matches.append((old.startIndex + startX, target.startIndex + startY, x - startX))
            }
            (x, y) = previous
        }
        return matches.reversed()
    }

    /// Joins neighbours when what stays between them is no longer than what changes on both sides: single letters that two
    /// sentences happen to share would tie a rewritten sentence to the old one.
    private static func united(_ hunks: [Hunk], _ target: [Unicode.Scalar]) -> [Hunk] {
        var united: [Hunk] = []
        for hunk in hunks {
            guard let last = united.last else {
                united.append(hunk)
                continue
            }
            let stays = hunk.range.lowerBound - last.range.upperBound
            if stays <= min(last.size, hunk.size) {
                united[united.count - 1] = Hunk(
                    range: last.range.lowerBound..<hunk.range.upperBound,
                    inserted: target[last.inserted.startIndex..<hunk.inserted.endIndex])
            } else {
                united.append(hunk)
            }
        }
        return united
    }
}

extension TextDifference.Hunk {
    fileprivate var size: Int { max(range.count, inserted.count) }
}
