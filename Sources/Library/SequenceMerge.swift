/// The merge of two changes that were made to one sequence apart (as diff3 does, element by element, without conflicts).
package enum SequenceMerge {
    /// Returns `base` with both changes: what either side deleted is gone, what either side inserted is there. Where both
    /// inserted at one place, `changed` comes first.
    package static func merge<Element: Hashable>(base: [Element], changed: [Element], other: [Element]) -> [Element] {
        if base == other { return changed }
        let (left, right) = (Alignment(base, changed), Alignment(base, other))
        var merged: [Element] = []
        merged.reserveCapacity(max(changed.count, other.count))
        for gap in 0...base.count {
            merged += changed[left.inserted[gap]]
            merged += other[right.inserted[gap]]
            if gap < base.count, left.isKept[gap], right.isKept[gap] { merged.append(base[gap]) }
        }
        return merged
    }

    /// Returns `changed` with the elements of `replacements`, which stand for those of `base` at the same places, where it has
    /// those of `base`.
    static func substituting<Element: Hashable>(
        _ replacements: [Element], for base: [Element], in changed: [Element]
    ) -> [Element] {
        if replacements == base { return changed }
        let alignment = Alignment(base, changed)
        var result: [Element] = []
        for gap in 0...base.count {
            result += changed[alignment.inserted[gap]]
            if gap < base.count, alignment.isKept[gap] { result.append(replacements[gap]) }
        }
        return result
    }

    /// The parts of a sequence that are those of another one, and what stands between them.
    private struct Alignment {
        /// True for each element of the base that the other sequence has.
        var isKept: [Bool]
        /// The elements of the other sequence that stand before the base's element with this number; the last one, behind all.
        var inserted: [Range<Int>]

        /// The most elements that are compared by their longest common subsequence, beyond the ends that are equal: its cost
        /// grows with their number times the number of differences. What is larger counts as replaced.
        private static let maximumCount = 8_192

        init<Element: Hashable>(_ base: [Element], _ other: [Element]) {
            let start = zip(base, other).prefix { $0 == $1 }.count
            let end = zip(base.dropFirst(start).reversed(), other.dropFirst(start).reversed()).prefix { $0 == $1 }.count
            let (middle, otherMiddle) = (start..<base.count - end, start..<other.count - end)
            isKept = Array(repeating: true, count: base.count)
            var isInserted = Array(repeating: false, count: other.count)
            if middle.count + otherMiddle.count > Self.maximumCount {
                for index in middle { isKept[index] = false }
                for index in otherMiddle { isInserted[index] = true }
            } else {
                for change in Array(other[otherMiddle]).difference(from: Array(base[middle])) {
                    switch change {
                    case .remove(let offset, _, _): isKept[start + offset] = false
                    case .insert(let offset, _, _): isInserted[start + offset] = true
                    }
                }
            }
            inserted = []
            var index = 0
            for gap in 0...base.count {
                let first = index
                while index < other.count, isInserted[index] { index += 1 }
                inserted.append(first..<index)
                if gap < base.count, isKept[gap] { index += 1 }
            }
        }
    }
}
