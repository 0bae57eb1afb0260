extension ReplicatedOrderedSet: RandomAccessCollection {
    /// Walks the values in order, in constant time each.
    public struct Iterator: IteratorProtocol {
        private let set: ReplicatedOrderedSet
        private var nodes: [Node].Iterator

        fileprivate init(_ set: ReplicatedOrderedSet) {
            self.set = set
            nodes = set.tree.order.shownNodes(in: 0..<set.count).makeIterator()
        }

        /// The next, nil behind the last.
        public mutating func next() -> Element? { nodes.next().map { set.element(shownAt: $0) } }
    }

    /// Always 0.
    public var startIndex: Int { 0 }

    /// The number of values that a reader sees.
    public var endIndex: Int { tree.order.shownCount }

    /// The value at `index`.
    public subscript(index: Int) -> Element { element(shownAt: tree.order.shownNode(at: index)) }

    /// Returns an iterator over the values in order.
    public func makeIterator() -> Iterator { Iterator(self) }

    /// True if `value` is in the set; found by hash.
    public func contains(_ value: Element) -> Bool { entry(value) != nil }

    /// Returns the index of `value`; nil if it is not in the set. Found by hash.
    public func firstIndex(of value: Element) -> Int? {
        entry(value).map { tree.order.shownIndex(of: $0.shownAt) }
    }

    /// The same as `firstIndex(of:)`: a value is there once.
    public func lastIndex(of value: Element) -> Int? { firstIndex(of: value) }

    /// True if a position with this dot is here, shown or not, so that values can be put beside it.
    package func hasPosition(at dot: Dot) -> Bool { tree.node(at: dot) != nil }

    /// True if a replica created the set explicitly, so that it is present even when empty.
    public var isCreated: Bool { !presence.isEmpty }

    /// The shown elements, in order, with the dots that keep them.
    package var authoredElements: [(value: Element, dots: [Dot])] {
        tree.order.shownNodes(in: 0..<count).map { node in
            let entry = entries[Int(occupants[Int(node)])]
            return (entry.element, Array(entry.presence))
        }
    }

    private func entry(_ value: Element) -> Entry? {
        guard let index = entryIndices[value], entries[index].shownAt != PositionTree.none else { return nil }
        return entries[index]
    }

    fileprivate func element(shownAt node: Node) -> Element { entries[Int(occupants[Int(node)])].element }
}

extension ReplicatedOrderedSet: CustomStringConvertible {
    /// The values, as an array prints them.
    public var description: String { "[" + map { "\($0)" }.joined(separator: ", ") + "]" }
}

// What an author writes for an edit by index. Each operation is made against the state it is called on: apply it before
// planning the next by index. Indices out of range are a programmer's error, as in `Array`.

extension ReplicatedOrderedSet {
    /// Inserts, before `index`, those of `values` that are not in the set, each once; nil if there are none.
    public func operation(inserting values: [Element], at index: Int, by author: ReplicaID) -> Operation? {
        precondition(index >= 0 && index <= count, "index \(index) of \(count) values")
        var seen: Set<Element> = []
        let added = values.filter { !contains($0) && seen.insert($0).inserted }
        guard !added.isEmpty else { return nil }
        let previous = index == 0 ? nil : tree.order.shownNode(at: index - 1)
        return .insert(tree.placement(after: previous, by: author), added)
    }

    /// Removes those of `values` that are in the set; nil if there are none.
    public func operation(removing values: [Element]) -> Operation? {
        var seen: Set<Element> = []
        let removed = values.filter { contains($0) && seen.insert($0).inserted }
        return removed.isEmpty ? nil : .remove(removed)
    }

    /// Removes the values at `range`; nil if it is empty.
    public func operation(removing range: Range<Int>) -> Operation? {
        range.isEmpty ? nil : .remove(tree.order.shownNodes(in: range).map { element(shownAt: $0) })
    }

    /// Moves the value at `source` so that it is found at `target` afterwards; nil if it is there already.
    public func operation(moving source: Int, to target: Int, by author: ReplicaID) -> Operation? {
        precondition(target >= 0 && target < count, "index \(target) of \(count) values")
        let value = self[source]
        guard source != target else { return nil }
        // The value itself still stands at its source, so what is behind it is one further.
        let index = target > source ? target : target - 1
        let previous = index < 0 ? nil : tree.order.shownNode(at: index)
        return .move(value, tree.placement(after: previous, by: author))
    }
}
