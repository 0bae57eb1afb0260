extension ReplicatedList: RandomAccessCollection {
    /// Walks the values in order, in constant time each.
    public struct Iterator: IteratorProtocol {
        private let list: ReplicatedList
        private var nodes: [Node].Iterator

        fileprivate init(_ list: ReplicatedList) {
            self.list = list
            nodes = list.tree.order.shownNodes(in: 0..<list.count).makeIterator()
        }

        /// The next, nil behind the last.
        public mutating func next() -> Value? { nodes.next().map { list.entry(shownAt: $0).value } }
    }

    /// Always 0.
    public var startIndex: Int { 0 }

    /// The number of elements that a reader sees.
    public var endIndex: Int { tree.order.shownCount }

    /// The value of the element at `index`.
    public subscript(index: Int) -> Value { entry(shownAt: tree.order.shownNode(at: index)).value }

    /// Returns an iterator over the elements in order.
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Names the element at `index`: the dot of its insertion, for as long as it lives, wherever it is moved.
    public func identity(at index: Int) -> Dot { identity(shownAt: tree.order.shownNode(at: index)) }

    /// Returns the index of the element with this identity; nil if it is deleted, or not known.
    public func index(ofElement identity: Dot) -> Int? {
        guard let element = element(identity), element.shownAt != PositionTree.none else { return nil }
        return tree.order.shownIndex(of: element.shownAt)
    }

    /// The value of the element with this identity; nil if it is deleted, or not known.
    public func value(ofElement identity: Dot) -> Value? {
        guard let element = element(identity), element.shownAt != PositionTree.none else { return nil }
        return element.value
    }

    /// The value of the element with this identity with all that it keeps, deleted or not: what an edit of it starts from.
    public func state(ofElement identity: Dot) -> Value { element(identity)?.value ?? Value() }

    /// True if a position with this dot is here, shown or not, so that elements can be put beside it.
    package func hasPosition(at dot: Dot) -> Bool { tree.node(at: dot) != nil }

    /// True if a replica created the list explicitly, so that it is present even when empty.
    public var isCreated: Bool { !presence.isEmpty }

    /// The names of all elements, in order; one after the other is slower.
    package var identities: [Dot] {
        tree.order.shownNodes(in: 0..<count).map { identity(shownAt: $0) }
    }

    /// The shown elements, in order, with the dots that keep them.
    package var authoredElements: [(value: Value, dots: [Dot])] {
        tree.order.shownNodes(in: 0..<count).map { node in
            let entry = entries[Int(occupants[Int(node)])]
            return (entry.value, Array(entry.presence))
        }
    }

    private func element(_ identity: Dot) -> Entry? {
        tree.node(at: identity).flatMap { entryIndex($0) }.map { entries[$0] }
    }

    func identity(shownAt node: Node) -> Dot { tree.dot(of: entry(shownAt: node).birth) }

    fileprivate func entry(shownAt node: Node) -> Entry { entries[Int(occupants[Int(node)])] }
}

extension ReplicatedList: CustomStringConvertible {
    /// The values, as an array prints them.
    public var description: String { "[" + map { "\($0)" }.joined(separator: ", ") + "]" }
}
