/// An ordered list of replicated values that several replicas insert into, delete from, edit and reorder apart.
///
/// A `RandomAccessCollection` of what a reader sees; finding an element by index takes about √n steps at worst.
/// An element has an identity, the dot of its insertion, that survives moves:
///
/// - a run inserted in one place stays together, whatever others inserted there (FugueMax);
/// - an element that is moved on two sides appears once, where the greater operation in canonical order put it;
/// - deleting removes what the deleter had seen: an edit made apart keeps the whole element, a move made apart does not.
///
/// Changes are operations: plan one with `operation(inserting:at:by:)` and its siblings against the state it is made on, and
/// apply it here and everywhere. A deleted element stays hidden, with its value, for an edit of it may still arrive.
public struct ReplicatedList<Value: Replicated>: Replicated {
    /// An edit of a list.
    public enum Operation: Hashable, Sendable, Codable {
        /// Makes the list visible although it is empty.
        case create
        /// New elements next to each other, each made of one operation on an empty value; at least one.
        case insert(Placement, [Value.Operation])
        /// Edits the value of an element, and keeps the element where somebody deletes it apart.
        case edit(DotReference, Value.Operation)
        /// The elements whose insertions these are; at least one.
        case delete([DotRange])
        /// Puts an element somewhere else.
        case move(DotReference, Placement)
    }

    /// What a replica at some vector lacks: its new positions, and every element with the dots that are live in it.
    public typealias Delta = ListContents<Value.Delta>

    typealias Node = PositionTree.Node

    struct Entry: Sendable {
        /// Of its insertion and its edits; empty: deleted.
        var presence: DotSet
        /// Where it was moved to; empty: where it was inserted.
        var moves: PositionRegister
        var value: Value
        /// The node that shows it, or none.
        var shownAt: Node = PositionTree.none
    }

    /// The dots of explicit creations.
    var presence = DotSet()
    var tree = PositionTree()
    /// By the node of the insertion; nil for a node that was made by a move.
    var elements: ContiguousArray<Entry?> = []
    /// By node: the element that is shown there. Means nothing for a node that is not shown.
    var occupants: ContiguousArray<Node> = []

    /// A list that nobody has written yet.
    public init() {}

    /// Whether a reader sees an element, or that the list was created.
    public var isLive: Bool { tree.order.shownCount > 0 || !presence.isEmpty }

    /// An element inserted, edited or moved owns what its operation owns; a deletion one counter per element.
    public static func span(of operation: Operation) -> UInt64 {
        switch operation {
        case .create, .move: 1
        case .insert(_, let values): Swift.max(1, spanSum(values))
        case .edit(_, let operation): Value.span(of: operation)
        case .delete(let ranges): Swift.max(1, DotRange.span(of: ranges))
        }
    }

    private static func spanSum(_ operations: [Value.Operation]) -> UInt64 {
        operations.reduce(0) { sum, operation in
            let (total, overflow) = sum.addingReportingOverflow(Value.span(of: operation))
            return overflow ? .max : total
        }
    }

    // MARK: Applying

    public mutating func apply(_ operation: Operation, at origin: Origin) {
        guard !origin.dot.counter.addingReportingOverflow(Self.span(of: operation)).overflow else { return }
        switch operation {
        case .create: presence.replace(at: origin)
        case .insert(let placement, let values): insert(values, placement, at: origin)
        case .edit(let reference, let operation):
            guard let node = element(reference, at: origin) else { return }
            elements[Int(node)]?.presence.replace(at: origin)
            elements[Int(node)]?.value.apply(operation, at: origin)
            refresh(node)
        case .delete(let ranges):
            for node in tree.seen(ranges, at: origin) {
                elements[Int(node)]?.presence.remove(knownTo: origin)
                refresh(node)
            }
        case .move(let reference, let placement):
            guard let node = element(reference, at: origin),
                tree.insert(placement, count: 1, at: origin) != nil
            else { return }
            makeRoom()
            elements[Int(node)]?.moves.replace(at: origin)
            refresh(node)
        }
    }

    /// The element's node, if `reference` names an element that the author had seen.
    private func element(_ reference: DotReference, at origin: Origin) -> Node? {
        tree.seen(reference, at: origin).flatMap { elements[Int($0)] == nil ? nil : $0 }
    }

    /// An element whose value spans several counters is followed by a node that is not next in number: so the tree takes
    /// these in several runs, each the right child of the one before.
    private mutating func insert(_ values: [Value.Operation], _ placement: Placement, at origin: Origin) {
        var start = 0
        var offset: UInt64 = 0
        var last: Node?
        while start < values.count {
            var end = start + 1
            while end < values.count, Value.span(of: values[end - 1]) == 1 { end += 1 }
            let origin = origin.advanced(by: offset)
            let first =
                if let last {
                    tree.insert(
                        first: origin.dot, count: end - start, parent: last, side: .right,
                        rightOrigin: tree.inheritedRightOrigin(of: last))
                } else {
                    tree.insert(placement, count: end - start, at: origin)
                }
            guard let first else { return }
            for index in start..<end {
                var value = Value()
                let origin = origin.advanced(by: UInt64(index - start))
                value.apply(values[index], at: origin)
                elements.append(Entry(presence: [origin.dot], moves: PositionRegister(), value: value))
            }
            makeRoom()
            last = first + Node(end - start - 1)
            for node in first...(first + Node(end - start - 1)) { refresh(node) }
            offset += UInt64(end - start - 1) + Value.span(of: values[end - 1])
            start = end
        }
    }

    /// A place for every node of the tree.
    mutating func makeRoom() {
        while elements.count < tree.count { elements.append(nil) }
        while occupants.count < tree.count { occupants.append(PositionTree.none) }
    }

    /// Shows the element inserted at `node` where it now belongs, or hides it.
    mutating func refresh(_ node: Node) {
        guard let element = elements[Int(node)] else { return }
        var target = PositionTree.none
        if !element.presence.isEmpty {
            target = element.moves.keys.lazy.reversed().compactMap { [tree] in tree.node(at: $0.dot) }.first ?? node
        }
        guard element.shownAt != target else { return }
        if element.shownAt != PositionTree.none { tree.order.setShown(element.shownAt, false) }
        if target != PositionTree.none {
            occupants[Int(target)] = node
            tree.order.setShown(target, true)
        }
        elements[Int(node)]?.shownAt = target
    }

    // MARK: Removal of the whole

    /// Empty: removing an element hides its value and does not touch it, counters included.
    public var removal: Removal { Removal() }

    public mutating func remove(_ removal: Removal, at origin: Origin) {
        presence.remove(knownTo: origin)
        for node in elements.indices where elements[node] != nil {
            elements[node]?.presence.remove(knownTo: origin)
            refresh(Node(node))
        }
    }
}
