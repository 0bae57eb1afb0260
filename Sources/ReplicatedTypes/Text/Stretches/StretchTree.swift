/// A text as a row of stretches, each with its summary, in a balanced tree whose nodes know the sums of what is below them.
///
/// It holds no text. Edits replace ranges, and leave behind stretches that are stale; `settle` reads these again before
/// the next question. An edit and a question take logarithmic time, and settling that of reading `mostScalars` for each
/// place that was edited, unless a stretch has no border inside where it may be cut: such a one is longer, and read whole.
///
/// A value whose copies share what they have in common: nodes are never changed. Where a stretch begins follows from
/// earlier edits and says nothing. Tested against an array (StretchTreeTests).
package struct StretchTree<Summary: StretchSummary>: Sendable {
    /// A stretch and what is before it.
    package struct Found {
        /// The range in scalars.
        package let range: Range<Int>
        /// The summary of all stretches before it.
        package let before: Summary
        package let summary: Summary
    }

    var root: Node?

    /// Creates the tree of a text of `count` scalars that is still to be read.
    package init(count: Int) {
        if count > 0 { root = Node(nil, Stretch(count: count), nil) }
    }

    /// Creates the tree of a text that is here as a whole.
    package init(_ string: String) {
        self.init(count: string.unicodeScalars.count)
        settle { _ in string }
    }

    /// The number of scalars of the text.
    package var count: Int { root?.count ?? 0 }

    /// Replaces scalars by `insertedCount` others, which are to be read.
    package mutating func replace(_ range: Range<Int>, with insertedCount: Int) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "an edit replaces what is there")
        let changed = root?.changing(range) { stretch in
            let count = stretch.count - range.count + insertedCount
            return count > 0 ? Stretch(count: count) : nil
        }
        if let changed {
            root = changed
            return
        }
        var (before, head) = Node.prefix(of: root, upTo: range.lowerBound)
        let (tail, behind) = Node.suffix(of: root, from: range.upperBound)
        if head + insertedCount + tail == 0, let whole = before {
            // What was apart is side by side now: its border has to be looked at, and there is nothing else to mark.
            let (rest, last) = Node.droppingLast(of: whole)
            (before, head) = (rest, last.count)
        }
        let length = head + insertedCount + tail
        root = length == 0 ? behind : Node.join(before, Stretch(count: length), behind)
    }

    // MARK: Asking, once it is settled

    /// The summary of the whole text.
    package var summary: Summary { Self.settled(root?.summary ?? (root == nil ? Summary() : nil)) }

    /// The first stretch at whose end `isPast` holds; nil: there is none.
    ///
    /// - Parameter isPast: is given how many scalars end there, and their summary; what holds must hold further on.
    package func first(where isPast: (Int, Summary) -> Bool) -> Found? {
        var (start, before) = (0, Summary())
        var found: Found?
        var next = root
        while let node = next {
            var (end, sum) = (start, before)
            if let left = node.left {
                end += left.count
                sum.append(Self.settled(left.summary))
                if isPast(end, sum) {
                    next = left
                    continue
                }
            }
            let summary = Self.settled(node.stretch.summary)
            let range = end..<end + node.stretch.count
            var sumBehind = sum
            sumBehind.append(summary)
            if isPast(range.upperBound, sumBehind) {
                found = Found(range: range, before: sum, summary: summary)
                break
            }
            (start, before, next) = (range.upperBound, sumBehind, node.right)
        }
        return found
    }

    private static func settled(_ summary: Summary?) -> Summary {
        guard let summary else { preconditionFailure("a tree of stretches is settled before it is asked") }
        return summary
    }
}
