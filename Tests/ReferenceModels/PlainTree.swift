/// The order of a sequence's positions, by the rule as the paper gives it: a tree, read in depth-first order.
///
/// FugueMax (Weidner, Kleppmann: "The Art of the Fugue", 2023, section 5): left children by dot; right children in reverse
/// order of what followed them when they were placed, then by dot. The whole order is worked out again whenever it is
/// asked for.
struct PlainTree {
    private struct Node {
        let dot: PlainDot
        /// What followed; nil: the end.
        let follower: Int?
        var before: [Int] = []
        var after: [Int] = []
    }

    private var nodes: [Node] = []
    private var roots: [Int] = []
    private var numbers: [PlainDot: Int] = [:]
    /// Places of the nodes in the order; nil: something was inserted since.
    private var places: [Int]?

    func contains(_ dot: PlainDot) -> Bool { numbers[dot] != nil }

    /// Puts `dot` at a place whose author knew what `knows` says. False if it names what the author cannot have seen.
    mutating func insert(_ dot: PlainDot, at place: PlainPlace, knows: (PlainDot) -> Bool) -> Bool {
        if let node = place.node, !knows(node) || numbers[node] == nil { return false }
        let parent = place.node.flatMap { numbers[$0] }
        var follower: Int?
        switch place.follower {
        case .inherited: follower = parent.flatMap { nodes[$0].follower }
        case .end: break
        case .node(let dot):
            guard knows(dot), let number = numbers[dot] else { return false }
            follower = number
        }
        let number = nodes.count
        var siblings = parent.map { place.isBefore ? nodes[$0].before : nodes[$0].after } ?? roots
        if !siblings.isEmpty, places == nil { places = currentPlaces }
        nodes.append(Node(dot: dot, follower: follower))
        numbers[dot] = number
        siblings.append(number)
        siblings.sort(by: precedes)
        if let parent {
            if place.isBefore { nodes[parent].before = siblings } else { nodes[parent].after = siblings }
        } else {
            roots = siblings
        }
        places = nil
        return true
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        switch (nodes[left].follower, nodes[right].follower) {
        case (nil, nil): break
        case (nil, _?): return true
        case (_?, nil): return false
        case (let one?, let other?):
            // Both followers are older than the children, so they have places.
            if one != other, let places { return places[one] > places[other] }
        }
        return nodes[left].dot < nodes[right].dot
    }

    /// All nodes in order.
    var order: [PlainDot] {
        var order: [Int] = []
        for root in roots { visit(root, &order) }
        return order.map { nodes[$0].dot }
    }

    private var currentPlaces: [Int] {
        var order: [Int] = []
        for root in roots { visit(root, &order) }
        var places = [Int](repeating: 0, count: nodes.count)
        for (place, node) in order.enumerated() { places[node] = place }
        return places
    }

    private func visit(_ node: Int, _ order: inout [Int]) {
        for child in nodes[node].before { visit(child, &order) }
        order.append(node)
        for child in nodes[node].after { visit(child, &order) }
    }
}
