/// The tree of positions of a sequence; reading it in depth-first order gives the order of the sequence.
///
/// FugueMax of Weidner and Kleppmann, "The Art of the Fugue: Minimizing Interleaving in Collaborative Text Editing" (2023):
/// what was typed in one go at one place, forward or backward, stays together whatever others typed there. A node never
/// moves and is never taken out, so the order of two nodes is for ever the same. A node names an earlier one as its
/// parent, so there is no cycle; moving an element means giving it a fresh leaf.
///
/// Children of one node on its right side stand in the *reverse* order of their right origins (the node that followed
/// when they were placed), then by dot; those on its left by dot.
package struct PositionTree: Sendable {
    /// The number of a node: they count from 0 in the order in which this tree learned of them, so it means nothing elsewhere.
    package typealias Node = PositionOrder.Node

    package enum Side: Sendable {
        case left
        case right
    }

    /// The value for no node: as a parent the root, as a right origin the end.
    static let none: Node = -1

    /// The maximum number of nodes of a sequence that arrives as bytes: a run of any length takes a dozen bytes, but memory
    /// per node.
    package static let decodedLimit: UInt64 = 1 << 24

    struct Link: Sendable {
        let counter: UInt64
        /// Index in `replicas`.
        let replica: Int32
        let side: Side
        let parent: Node
        /// The right origin. For a left child it is its parent: that is what followed.
        let rightOrigin: Node
        var firstLeft: Node = PositionTree.none
        var firstRight: Node = PositionTree.none
        var nextSibling: Node = PositionTree.none
    }

    /// Nodes of one replica with consecutive counters and consecutive numbers.
    struct Stretch: Sendable {
        let counter: UInt64
        let node: Node
        var count: Int
    }

    private(set) var links: ContiguousArray<Link> = []
    private(set) var replicas: [ReplicaID] = []
    private var replicaIndices: [ReplicaID: Int32] = [:]
    /// The stretches of each replica, by counter.
    private(set) var stretches: [[Stretch]] = []
    private var firstOfRoot: Node = PositionTree.none
    package var order = PositionOrder()

    package init() {}

    package var count: Int { links.count }

    // MARK: Nodes and dots

    package func dot(of node: Node) -> Dot {
        let link = links[Int(node)]
        return Dot(replica: replicas[Int(link.replica)], counter: link.counter)
    }

    package func node(at dot: Dot) -> Node? {
        guard let replica = replicaIndices[dot.replica] else { return nil }
        let stretches = stretches[Int(replica)]
        let index = stretches.firstIndexPast { $0.counter > dot.counter } - 1
        guard index >= 0, dot.counter - stretches[index].counter < UInt64(stretches[index].count) else { return nil }
        return stretches[index].node + Node(dot.counter - stretches[index].counter)
    }

    /// The nodes among `count` dots from `first` on; a range may claim any count, the work is bounded by what is here.
    package func nodes(from first: Dot, count: UInt64) -> [Node] {
        guard let replica = replicaIndices[first.replica] else { return [] }
        let (sum, overflow) = first.counter.addingReportingOverflow(count)
        let end = overflow ? UInt64.max : sum
        let stretches = stretches[Int(replica)]
        var nodes: [Node] = []
        var index = max(0, stretches.firstIndexPast { $0.counter > first.counter } - 1)
        while index < stretches.count, stretches[index].counter < end {
            let stretch = stretches[index]
            let stretchEnd = stretch.counter + UInt64(stretch.count)
            let from = max(first.counter, stretch.counter)
            if from < stretchEnd {
                for counter in from..<min(end, stretchEnd) {
                    nodes.append(stretch.node + Node(counter - stretch.counter))
                }
            }
            index += 1
        }
        return nodes
    }

    // MARK: Inserting

    /// Adds `count` nodes with the dots from `first` on, the first at the place given and each other the right child of the
    /// one before. Returns the first one's number, or nil if one of them is here already.
    @discardableResult
    package mutating func insert(
        first: Dot, count: Int, parent: Node, side: Side, rightOrigin: Node
    ) -> Node? {
        let (end, overflow) = first.counter.addingReportingOverflow(UInt64(count))
        guard count > 0, !overflow, links.count + count < Int(Node.max) else { return nil }
        let replica = index(of: first.replica)
        let position = stretches[Int(replica)].firstIndexPast { $0.counter >= first.counter }
        if position < stretches[Int(replica)].count, stretches[Int(replica)][position].counter < end { return nil }
        if position > 0 {
            let before = stretches[Int(replica)][position - 1]
            guard before.counter + UInt64(before.count) <= first.counter else { return nil }
        }
        let node = Node(links.count)
        file(Stretch(counter: first.counter, node: node, count: count), of: replica, at: position)
        links.append(
            Link(counter: first.counter, replica: replica, side: side, parent: parent, rightOrigin: rightOrigin))
        attach(node)
        for offset in 1..<max(1, count) {
            let previous = node + Node(offset - 1)
            links[Int(previous)].firstRight = previous + 1
            links.append(
                Link(
                    counter: first.counter + UInt64(offset), replica: replica, side: .right, parent: previous,
                    rightOrigin: rightOrigin))
        }
        if count > 1 { order.insertNext(count - 1, after: node) }
        return node
    }

    private mutating func index(of replica: ReplicaID) -> Int32 {
        if let index = replicaIndices[replica] { return index }
        let index = Int32(replicas.count)
        replicaIndices[replica] = index
        replicas.append(replica)
        stretches.append([])
        return index
    }

    private mutating func file(_ stretch: Stretch, of replica: Int32, at position: Int) {
        if position > 0 {
            let before = stretches[Int(replica)][position - 1]
            if before.counter + UInt64(before.count) == stretch.counter,
                before.node + Node(before.count) == stretch.node
            {
                stretches[Int(replica)][position - 1].count += stretch.count
                return
            }
        }
        stretches[Int(replica)].insert(stretch, at: position)
    }

    /// Puts the last node of `links` among its siblings and into the order.
    private mutating func attach(_ node: Node) {
        let link = links[Int(node)]
        var previous = Self.none
        var next = firstChild(of: link.parent, on: link.side)
        while next != Self.none, siblingPrecedes(next, node) {
            previous = next
            next = links[Int(next)].nextSibling
        }
        links[Int(node)].nextSibling = next
        if previous != Self.none {
            links[Int(previous)].nextSibling = node
        } else {
            setFirstChild(node, of: link.parent, on: link.side)
        }
        switch link.side {
        case .right:
            let before = previous == Self.none ? link.parent : lastOnRight(from: previous)
            order.insertNext(after: before == Self.none ? nil : before)
        case .left:
            order.insertNext(before: next == Self.none ? link.parent : firstOnLeft(from: next))
        }
    }

    private func siblingPrecedes(_ left: Node, _ right: Node) -> Bool {
        let leftLink = links[Int(left)]
        let rightLink = links[Int(right)]
        if leftLink.rightOrigin != rightLink.rightOrigin {
            // Reverse order of right origins, where the end is greater than any node.
            if leftLink.rightOrigin == Self.none { return true }
            if rightLink.rightOrigin == Self.none { return false }
            return order.precedes(rightLink.rightOrigin, leftLink.rightOrigin)
        }
        return dot(of: left) < dot(of: right)
    }

    private func firstChild(of parent: Node, on side: Side) -> Node {
        if parent == Self.none { return firstOfRoot }
        return side == .left ? links[Int(parent)].firstLeft : links[Int(parent)].firstRight
    }

    func hasRightChild(_ node: Node) -> Bool { firstChild(of: node, on: .right) != Self.none }

    private mutating func setFirstChild(_ child: Node, of parent: Node, on side: Side) {
        if parent == Self.none {
            firstOfRoot = child
        } else if side == .left {
            links[Int(parent)].firstLeft = child
        } else {
            links[Int(parent)].firstRight = child
        }
    }

    /// The last node of the subtree below `node`.
    private func lastOnRight(from node: Node) -> Node {
        var node = node
        var child = links[Int(node)].firstRight
        while child != Self.none {
            node = child
            child = links[Int(node)].nextSibling
            if child == Self.none { child = links[Int(node)].firstRight }
        }
        return node
    }

    /// The first node of the subtree below `node`.
    private func firstOnLeft(from node: Node) -> Node {
        var node = node
        while links[Int(node)].firstLeft != Self.none { node = links[Int(node)].firstLeft }
        return node
    }

    /// Returns the right origin that a node put after `parent` inherits.
    func inheritedRightOrigin(of parent: Node) -> Node {
        parent == Self.none ? Self.none : links[Int(parent)].rightOrigin
    }
}

extension RandomAccessCollection {
    /// The first index at which `isPast` holds; it must hold from there on.
    package func firstIndexPast(_ isPast: (Element) -> Bool) -> Index {
        var low = startIndex
        var length = count
        while length > 0 {
            let half = length / 2
            let middle = index(low, offsetBy: half)
            if isPast(self[middle]) {
                length = half
            } else {
                low = index(after: middle)
                length -= half + 1
            }
        }
        return low
    }
}
