/// The difference between two texts: the few edits that turn one into the other, and the whole lines in which these are.
package struct TextComparison: Hashable, Sendable {
    /// Lines that stand in one text and not in the other, at one place. Without their line breaks.
    package struct Lines: Hashable, Sendable {
        /// The line number of the first deleted line in the old text, or of the line before which lines were inserted; from
        /// 1.
        package let line: Int
        /// The same in the new text.
        package let newLine: Int
        package let deleted: [String]
        package let inserted: [String]

        package init(line: Int, newLine: Int, deleted: [String], inserted: [String]) {
            self.line = line
            self.newLine = newLine
            self.deleted = deleted
            self.inserted = inserted
        }
    }

    /// The edits, to apply in this order; empty if the texts are equal.
    package let edits: [TextEdit]
    package let lines: [Lines]

    package init(_ old: String, _ new: String) {
        let (old, new) = (Array(old.unicodeScalars), Array(new.unicodeScalars))
        let hunks = TextDifference.hunks(from: old, to: new)
        var shift = 0
        var edits: [TextEdit] = []
        var stretches: [Stretch] = []
        for hunk in hunks {
            edits.append(
                TextEdit(
                    offset: hunk.range.lowerBound + shift, deleted: String(scalars: old[hunk.range]),
                    inserted: String(scalars: hunk.inserted)))
            let replaced = hunk.range.lowerBound + shift
            stretches.append(Stretch(old: hunk.range, new: replaced..<replaced + hunk.inserted.count))
            shift += hunk.inserted.count - hunk.range.count
        }
        self.edits = edits
        lines = Self.lines(of: stretches, old, new)
    }

    /// A part of the old text and what stands in its place.
    private struct Stretch {
        var old: Range<Int>
        var new: Range<Int>
    }

    /// Stretches in one line are one; each is widened to whole lines, and loses those that are equal.
    private static func lines(
        of stretches: [Stretch], _ old: [Unicode.Scalar], _ new: [Unicode.Scalar]
    ) -> [Lines] {
        var united: [Stretch] = []
        for stretch in stretches {
            if let last = united.last, !old[last.old.upperBound..<stretch.old.lowerBound].contains("\n") {
                united[united.count - 1] = Stretch(
                    old: last.old.lowerBound..<stretch.old.upperBound, new: last.new.lowerBound..<stretch.new.upperBound
                )
            } else {
                united.append(stretch)
            }
        }
        var lines: [Lines] = []
        var (counted, line, newLine) = (0, 1, 1)
        for stretch in united {
            let whole = widened(stretch, old, new)
            // What is between two stretches is the same in both texts.
            let passed = old[counted..<whole.old.lowerBound].count { $0 == "\n" }
            (line, newLine) = (line + passed, newLine + passed)
            lines.append(self.lines(of: whole, line, newLine, old, new))
            line += old[whole.old].count { $0 == "\n" }
            newLine += new[whole.new].count { $0 == "\n" }
            counted = whole.old.upperBound
        }
        return lines
    }

    private static func widened(_ stretch: Stretch, _ old: [Unicode.Scalar], _ new: [Unicode.Scalar]) -> Stretch {
        var whole = stretch
        func beginsLine(_ index: Int, of text: [Unicode.Scalar]) -> Bool { index == 0 || text[index - 1] == "\n" }
        while !beginsLine(whole.old.lowerBound, of: old) {
            whole.old = whole.old.lowerBound - 1..<whole.old.upperBound
            whole.new = whole.new.lowerBound - 1..<whole.new.upperBound
        }
        while whole.old.upperBound < old.count,
            !beginsLine(whole.old.upperBound, of: old) || !beginsLine(whole.new.upperBound, of: new)
        {
            whole.old = whole.old.lowerBound..<whole.old.upperBound + 1
            whole.new = whole.new.lowerBound..<whole.new.upperBound + 1
        }
        return whole
    }

    private static func lines(
        of whole: Stretch, _ line: Int, _ newLine: Int, _ old: [Unicode.Scalar], _ new: [Unicode.Scalar]
    ) -> Lines {
        let (oldLines, newLines) = (lines(in: whole.old, of: old), lines(in: whole.new, of: new))
        // A break at the very end begins no line, unless it is all that differs.
        let trimmed = differing(oldLines.withoutEmptyEnd, newLines.withoutEmptyEnd)
        let (same, deleted, inserted) =
            trimmed.deleted.isEmpty && trimmed.inserted.isEmpty ? differing(oldLines, newLines) : trimmed
        return Lines(line: line + same, newLine: newLine + same, deleted: deleted, inserted: inserted)
    }

    private static func lines(in range: Range<Int>, of text: [Unicode.Scalar]) -> ArraySlice<String> {
        if text.isEmpty { return [] }
        let lines = text[range].split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { String(scalars: $0) }[...]
    }

    /// Returns the lines without those at both ends that are the same, and the number of the same lines in front.
    private static func differing(
        _ old: ArraySlice<String>, _ new: ArraySlice<String>
    ) -> (same: Int, deleted: [String], inserted: [String]) {
        var (deleted, inserted) = (old, new)
        var same = 0
        while let first = deleted.first, let other = inserted.first, first.isExactly(other) {
            deleted.removeFirst()
            inserted.removeFirst()
            same += 1
        }
        while let last = deleted.last, let other = inserted.last, last.isExactly(other) {
            deleted.removeLast()
            inserted.removeLast()
        }
        return (same, Array(deleted), Array(inserted))
    }
}

extension ArraySlice<String> {
    fileprivate var withoutEmptyEnd: ArraySlice<String> { last?.isEmpty == true ? dropLast() : self }
}

extension String {
    fileprivate func isExactly(_ other: String) -> Bool { ExactString(self) == ExactString(other) }
}
