/// The parts of one text to replace to get another.
///
/// The common beginning and end are left out. What is between is compared line by line if it is long, and then scalar by
/// scalar where lines differ: Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), greedy form, up to
/// `editLimit` insertions and deletions. What is further apart than that is replaced as a whole.
enum TextDifference {
    struct Hunk: Equatable {
        /// The range in the old text.
        var range: Range<Int>
        /// The scalars that replace it.
        var inserted: ArraySlice<Unicode.Scalar>
    }

    /// Bounds the time to this times the length, and the memory to its square · 4 bytes.
    static let editLimit = 1_024
    /// Shorter texts are compared by scalars at once: lines of prose are long, and a word changed in each would hide the rest.
    static let shortest = 4_096

    /// Returns the replacements that make `target` of `old`: in order, and with something that stays between any two.
    static func hunks(from old: [Unicode.Scalar], to target: [Unicode.Scalar]) -> [Hunk] {
        guard let whole = differing(old[...], target[...]) else { return [] }
        var hunks: [Hunk] = []
        if whole.old.count + whole.target.count < shortest {
            add(whole.old, whole.target, to: &hunks)
        } else {
            for part in differingLines(whole.old, whole.target) { add(part.old, part.target, to: &hunks) }
        }
        return united(hunks, target)
    }

    private typealias Part = (old: ArraySlice<Unicode.Scalar>, target: ArraySlice<Unicode.Scalar>)

    /// Returns the texts without their common beginning and end; nil if nothing is left.
    private static func differing(
        _ old: ArraySlice<Unicode.Scalar>, _ target: ArraySlice<Unicode.Scalar>
    ) -> Part? {
        var (old, target) = (old, target)
        while let first = old.first, first == target.first {
            old.removeFirst()
            target.removeFirst()
        }
        while let last = old.last, last == target.last {
            old.removeLast()
            target.removeLast()
        }
        return old.isEmpty && target.isEmpty ? nil : (old, target)
    }

    /// The parts in which lines differ; the whole when too many do.
    private static func differingLines(
        _ old: ArraySlice<Unicode.Scalar>, _ target: ArraySlice<Unicode.Scalar>
    ) -> [Part] {
        var numbers: [ArraySlice<Unicode.Scalar>: Int] = [:]
        let (oldLines, targetLines) = (lines(of: old), lines(of: target))
        func number(_ line: ArraySlice<Unicode.Scalar>) -> Int {
            if let number = numbers[line] { return number }
            numbers[line] = numbers.count
            return numbers.count - 1
        }
        let (oldNumbers, targetNumbers) = (oldLines.map(number), targetLines.map(number))
        guard let matches = matches(oldNumbers[...], targetNumbers[...]) else { return [(old, target)] }
        var parts: [Part] = []
        var (x, y) = (0, 0)
        func start(_ line: Int, of lines: [ArraySlice<Unicode.Scalar>], _ all: ArraySlice<Unicode.Scalar>) -> Int {
            line < lines.count ? lines[line].startIndex : all.endIndex
        }
        for match in matches + [(old: oldLines.count, target: targetLines.count, count: 0)] {
            if x < match.old || y < match.target {
                parts.append(
                    (
                        old[start(x, of: oldLines, old)..<start(match.old, of: oldLines, old)],
                        target[start(y, of: targetLines, target)..<start(match.target, of: targetLines, target)]
                    ))
            }
            (x, y) = (match.old + match.count, match.target + match.count)
        }
        return parts
    }

    /// Splits a text into lines, each with its line break.
    private static func lines(of text: ArraySlice<Unicode.Scalar>) -> [ArraySlice<Unicode.Scalar>] {
        var lines: [ArraySlice<Unicode.Scalar>] = []
        var start = text.startIndex
        for index in text.indices where text[index] == "\n" {
            lines.append(text[start...index])
            start = index + 1
        }
        if start < text.endIndex { lines.append(text[start...]) }
        return lines
    }

    /// Adds what differs between two parts, scalar by scalar.
    private static func add(
        _ old: ArraySlice<Unicode.Scalar>, _ target: ArraySlice<Unicode.Scalar>, to hunks: inout [Hunk]
    ) {
        guard let (old, target) = differing(old, target) else { return }
        let whole = Hunk(range: old.indices, inserted: target)
        guard !old.isEmpty, !target.isEmpty, let matches = matches(old, target) else {
            hunks.append(whole)
            return
        }
        var (x, y) = (old.startIndex, target.startIndex)
        for match in matches + [(old: old.endIndex, target: target.endIndex, count: 0)] {
            if x < match.old || y < match.target {
                hunks.append(Hunk(range: x..<match.old, inserted: target[y..<match.target]))
            }
            (x, y) = (match.old + match.count, match.target + match.count)
        }
    }

    private typealias Match = (old: Int, target: Int, count: Int)

    /// The stretches that stay, in order; nil if more than `editLimit` edits lie between them.
    private static func matches<Element: Equatable>(
        _ old: ArraySlice<Element>, _ target: ArraySlice<Element>
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
    private static func path<Element>(
        _ traces: [ArraySlice<Int32>], _ old: ArraySlice<Element>, _ target: ArraySlice<Element>
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
