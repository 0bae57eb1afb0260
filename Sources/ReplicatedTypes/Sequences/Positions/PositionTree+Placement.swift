extension PositionTree {
    /// The place directly after `previous` (nil: at the beginning) in the order of all nodes, as `author` names it.
    package func placement(after previous: Node?, by author: ReplicaID) -> Placement {
        let parent = previous ?? Self.none
        let next = order.next(after: previous)
        // Right descendants of `previous` follow it directly: then `next` has no left child, and takes the place.
        if let next, hasRightChild(parent) { return .before(DotReference(dot(of: next), by: author)) }
        let reference = previous.map { DotReference(dot(of: $0), by: author) }
        if (next ?? Self.none) == inheritedRightOrigin(of: parent) { return .after(reference, .inherited) }
        guard let next else { return .after(reference, .end) }
        return .after(reference, .node(DotReference(dot(of: next), by: author)))
    }

    /// Adds `count` nodes where the author of `origin` put them, with the dots from the origin's on.
    ///
    /// Nil, and nothing is changed, when the operation is void: it names a node that its author cannot have seen, or that is
    /// none. Whether it is, is the same on every replica: what the author had seen is applied everywhere before.
    package mutating func insert(_ placement: Placement, count: Int, at origin: Origin) -> Node? {
        switch placement {
        case .before(let reference):
            guard let next = seen(reference, at: origin) else { return nil }
            return insert(first: origin.dot, count: count, parent: next, side: .left, rightOrigin: next)
        case .after(let reference, let rightOrigin):
            var parent = Self.none
            if let reference {
                guard let node = seen(reference, at: origin) else { return nil }
                parent = node
            }
            var following = Self.none
            switch rightOrigin {
            case .inherited: following = inheritedRightOrigin(of: parent)
            case .end: break
            case .node(let reference):
                guard let node = seen(reference, at: origin) else { return nil }
                following = node
            }
            return insert(first: origin.dot, count: count, parent: parent, side: .right, rightOrigin: following)
        }
    }

    /// The node that the author of `origin` means, if it can have seen it.
    func seen(_ reference: DotReference, at origin: Origin) -> Node? {
        let dot = reference.dot(by: origin.dot.replica)
        return origin.knows(dot) ? node(at: dot) : nil
    }

    /// Returns the nodes of these ranges that the author of `origin` can have seen, each once. Ranges that overlap, which no
    /// honest author writes, cost no more than the nodes that are here.
    func seen(_ ranges: [DotRange], at origin: Origin) -> [Node] {
        var united: [(first: Dot, end: UInt64)] = []
        let sorted = ranges.map { (first: $0.first.dot(by: origin.dot.replica), count: $0.count) }
            .sorted { $0.first < $1.first }
        for range in sorted {
            let (sum, overflow) = range.first.counter.addingReportingOverflow(range.count)
            let end = overflow ? UInt64.max : sum
            if let last = united.last, last.first.replica == range.first.replica, range.first.counter <= last.end {
                united[united.count - 1].end = max(last.end, end)
            } else {
                united.append((range.first, end))
            }
        }
        return united.flatMap { nodes(from: $0.first, count: $0.end - $0.first.counter) }
            .filter { origin.knows(dot(of: $0)) }
    }
}
