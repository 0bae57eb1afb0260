import SyncModel

/// The tree of positions as the paper draws it, slow: after each insertion the whole order is read from the tree again.
struct ObviousTree {
    struct Node {
        let dot: Dot
        let parent: Dot?
        let isLeft: Bool
        let rightOrigin: Dot?
    }

    private(set) var nodes: [Node] = []
    private(set) var order: [Dot] = []

    mutating func insert(_ skeleton: Skeleton) {
        for run in skeleton.runs {
            for offset in 0..<run.count {
                let dot = Dot(replica: run.first.replica, counter: run.first.counter + offset)
                let previous = Dot(replica: run.first.replica, counter: dot.counter &- 1)
                switch run.place {
                case .before(let next):
                    insert(
                        offset == 0
                            ? Node(dot: dot, parent: next, isLeft: true, rightOrigin: next)
                            : Node(dot: dot, parent: previous, isLeft: false, rightOrigin: next))
                case .after(let parent, let rightOrigin):
                    insert(
                        Node(
                            dot: dot, parent: offset == 0 ? parent : previous, isLeft: false, rightOrigin: rightOrigin))
                }
            }
        }
    }

    private mutating func insert(_ node: Node) {
        guard !nodes.contains(where: { $0.dot == node.dot }) else { return }
        nodes.append(node)
        var read: [Dot] = []
        visit(nil, &read)
        order = read
    }

    private func visit(_ parent: Dot?, _ read: inout [Dot]) {
        for child in children(of: parent, isLeft: true) { visit(child, &read) }
        if let parent { read.append(parent) }
        for child in children(of: parent, isLeft: false) { visit(child, &read) }
    }

    private func children(of parent: Dot?, isLeft: Bool) -> [Dot] {
        let children = nodes.filter { $0.parent == parent && $0.isLeft == isLeft }
        // A right origin is older than the child, so it stands in the order of before; the end is the greatest.
        func place(_ dot: Dot?) -> Int { dot.flatMap { order.firstIndex(of: $0) } ?? order.count }
        return children.sorted { left, right in
            let (leftPlace, rightPlace) = (place(left.rightOrigin), place(right.rightOrigin))
            if !isLeft, leftPlace != rightPlace { return leftPlace > rightPlace }
            return left.dot < right.dot
        }.map(\.dot)
    }
}
