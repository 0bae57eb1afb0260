// What an author writes for an edit by offset. Each operation is made against the state it is called on: apply it before
// planning the next by offset. Offsets out of range are a programmer's error, as in `Array`.

extension ReplicatedText {
    /// Types `text` at `offset`; nil if it is empty.
    public func operation(inserting text: String, at offset: Int, by author: ReplicaID) -> Operation? {
        precondition(offset >= 0 && offset <= count, "offset \(offset) of \(count) scalars")
        guard !text.isEmpty else { return nil }
        let previous = offset == 0 ? nil : tree.order.shownNode(at: offset - 1)
        return .insert(tree.placement(after: previous, by: author), ExactString(text))
    }

    /// Deletes the scalars at `range`; nil if it is empty.
    public func operation(deleting range: Range<Int>, by author: ReplicaID) -> Operation? {
        let dots = tree.order.shownNodes(in: range).map { tree.dot(of: $0) }
        return dots.isEmpty ? nil : .delete(DotRange.ranges(of: dots, by: author))
    }

    /// What turns the text into `string` by few insertions and deletions, to be applied in this order; empty if it is equal.
    /// A text that is set to nothing stays visible.
    public func operations(setting string: String, by author: ReplicaID) -> [Operation] {
        let hunks = TextDifference.hunks(from: Array(self), to: Array(string.unicodeScalars))
        var operations: [Operation] = []
        // All are planned against this state. That is sound: between two hunks a scalar stays, so what is inserted for one is
        // not next to where the other is placed.
        let deleted = hunks.flatMap { tree.order.shownNodes(in: $0.range) }.map { tree.dot(of: $0) }
        if !deleted.isEmpty { operations.append(.delete(DotRange.ranges(of: deleted, by: author))) }
        for hunk in hunks where !hunk.inserted.isEmpty {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: hunk.inserted)
            if let insertion = operation(inserting: String(text), at: hunk.range.lowerBound, by: author) {
                operations.append(insertion)
            }
        }
        if string.isEmpty, presence.isEmpty { operations.append(.create) }
        return operations
    }
}
