// The tree itself: that of Adelson-Velsky and Landis, built on what joins two trees. (Blelloch, Ferizovic and Sun, "Just
// Join for Parallel Ordered Sets", SPAA 2016.)

extension StretchTree {
    /// A stretch of at least one scalar.
    struct Stretch: Sendable {
        let count: Int
        /// Nil: stale, to be read.
        var summary: Summary?
    }

    /// Immutable. The heights of what is below it differ by one at most.
    final class Node: Sendable {
        let left: Node?
        let stretch: Stretch
        let right: Node?
        let height: Int
        /// Scalars of all stretches here and below.
        let count: Int
        /// The summary of all stretches below; nil if one is stale.
        let summary: Summary?

        init(_ left: Node?, _ stretch: Stretch, _ right: Node?) {
            self.left = left
            self.stretch = stretch
            self.right = right
            height = 1 + max(left?.height ?? 0, right?.height ?? 0)
            count = (left?.count ?? 0) + stretch.count + (right?.count ?? 0)
            summary = Self.sum(left, stretch, right)
        }

        private static func sum(_ left: Node?, _ stretch: Stretch, _ right: Node?) -> Summary? {
            guard var sum = stretch.summary else { return nil }
            if let left {
                guard var first = left.summary else { return nil }
                first.append(sum)
                sum = first
            }
            if let right {
                guard let last = right.summary else { return nil }
                sum.append(last)
            }
            return sum
        }
    }
}

extension StretchTree.Node {
    typealias Node = StretchTree.Node
    typealias Stretch = StretchTree.Stretch

    /// Returns a tree of stretches in a row; nil if there are none.
    static func tree(of stretches: ArraySlice<Stretch>) -> Node? {
        guard !stretches.isEmpty else { return nil }
        let middle = stretches.startIndex + stretches.count / 2
        return Node(tree(of: stretches[..<middle]), stretches[middle], tree(of: stretches[(middle + 1)...]))
    }

    /// Returns the tree with another stretch in place of the one that `range` is in or at the edge of. Nil if the range is in
    /// several, or if `change` returns nil. By far the most frequent edits need no balancing.
    func changing(_ range: Range<Int>, _ change: (Stretch) -> Stretch?) -> Node? {
        let start = left?.count ?? 0
        let end = start + stretch.count
        if let left, range.upperBound <= start {
            return left.changing(range, change).map { Node($0, stretch, right) }
        }
        if start <= range.lowerBound, range.upperBound <= end {
            return change(stretch).map { Node(left, $0, right) }
        }
        guard let right, end <= range.lowerBound else { return nil }
        return right.changing(range.lowerBound - end..<range.upperBound - end, change).map { Node(left, stretch, $0) }
    }

    // MARK: Joining

    /// Both trees, and a stretch between them. Takes as many steps as their heights differ by.
    static func join(_ left: Node?, _ stretch: Stretch, _ right: Node?) -> Node {
        let (leftHeight, rightHeight) = (left?.height ?? 0, right?.height ?? 0)
        if let left, leftHeight > rightHeight + 1 {
            return balanced(left.left, left.stretch, join(left.right, stretch, right))
        }
        if let right, rightHeight > leftHeight + 1 {
            return balanced(join(left, stretch, right.left), right.stretch, right.right)
        }
        return Node(left, stretch, right)
    }

    /// Joins one tree behind the other.
    static func join(_ left: Node?, _ right: Node?) -> Node? {
        guard let left else { return right }
        let (rest, last) = droppingLast(of: left)
        return join(rest, last, right)
    }

    /// Returns all but the last stretch, and the last one.
    static func droppingLast(of node: Node) -> (Node?, Stretch) {
        guard let right = node.right else { return (node.left, node.stretch) }
        let (rest, last) = droppingLast(of: right)
        return (join(node.left, node.stretch, rest), last)
    }

    /// A node whose sides may differ in height by two: by one or two rotations.
    private static func balanced(_ left: Node?, _ stretch: Stretch, _ right: Node?) -> Node {
        let (leftHeight, rightHeight) = (left?.height ?? 0, right?.height ?? 0)
        if let left, leftHeight > rightHeight + 1 {
            guard let inner = left.right, inner.height > left.left?.height ?? 0 else {
                return Node(left.left, left.stretch, Node(left.right, stretch, right))
            }
            return Node(
                Node(left.left, left.stretch, inner.left), inner.stretch, Node(inner.right, stretch, right))
        }
        if let right, rightHeight > leftHeight + 1 {
            guard let inner = right.left, inner.height > right.right?.height ?? 0 else {
                return Node(Node(left, stretch, right.left), right.stretch, right.right)
            }
            return Node(
                Node(left, stretch, inner.left), inner.stretch, Node(inner.right, right.stretch, right.right))
        }
        return Node(left, stretch, right)
    }

    // MARK: Taking apart

    /// The stretches that end at `offset` or before it, and how many scalars of the next are before it.
    static func prefix(of node: Node?, upTo offset: Int) -> (Node?, Int) {
        guard let node, offset > 0 else { return (nil, 0) }
        let start = node.left?.count ?? 0
        if offset < start { return prefix(of: node.left, upTo: offset) }
        let end = start + node.stretch.count
        if offset < end { return (node.left, offset - start) }
        let (rest, part) = prefix(of: node.right, upTo: offset - end)
        return (join(node.left, node.stretch, rest), part)
    }

    /// Returns the number of scalars from `offset` on in the stretch around it, and the stretches behind.
    static func suffix(of node: Node?, from offset: Int) -> (Int, Node?) {
        guard let node, offset < node.count else { return (0, nil) }
        let start = node.left?.count ?? 0
        let end = start + node.stretch.count
        if offset >= end { return suffix(of: node.right, from: offset - end) }
        if offset > start { return (end - offset, node.right) }
        let (part, rest) = suffix(of: node.left, from: offset)
        return (part, join(rest, node.stretch, node.right))
    }
}
