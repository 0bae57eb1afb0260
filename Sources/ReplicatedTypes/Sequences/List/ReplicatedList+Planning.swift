// What an author writes for an edit by index. Each operation is made against the state it is called on: apply it (or know
// that what lies between touches another place) before planning the next by index. Indices out of range are a programmer's
// error, as in `Array`.

extension ReplicatedList {
    /// Inserts elements before `index`, each made by one operation on an empty value; nil if there are none.
    public func operation(inserting values: [Value.Operation], at index: Int, by author: ReplicaID) -> Operation? {
        precondition(index >= 0 && index <= count, "index \(index) of \(count) elements")
        guard !values.isEmpty else { return nil }
        let previous = index == 0 ? nil : tree.order.shownNode(at: index - 1)
        return .insert(tree.placement(after: previous, by: author), values)
    }

    /// Edits the value at `index` in place.
    public func operation(editing index: Int, _ operation: Value.Operation, by author: ReplicaID) -> Operation {
        .edit(DotReference(identity(at: index), by: author), operation)
    }

    /// Deletes the elements at `range`; nil if it is empty.
    public func operation(deleting range: Range<Int>, by author: ReplicaID) -> Operation? {
        let births = tree.order.shownNodes(in: range).map { identity(shownAt: $0) }
        return births.isEmpty ? nil : .delete(DotRange.ranges(of: births, by: author))
    }

    /// Moves the element at `source` so that it is found at `target` afterwards; nil if it is there already.
    public func operation(moving source: Int, to target: Int, by author: ReplicaID) -> Operation? {
        precondition(target >= 0 && target < count, "index \(target) of \(count) elements")
        let reference = DotReference(identity(at: source), by: author)
        guard source != target else { return nil }
        // The element itself still stands at its source, so what is behind it is one further.
        let index = target > source ? target : target - 1
        let previous = index < 0 ? nil : tree.order.shownNode(at: index)
        return .move(reference, tree.placement(after: previous, by: author))
    }
}
