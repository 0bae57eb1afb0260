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
        /// Edits the value of an element, and keeps the element if another replica deletes it concurrently.
        case edit(DotReference, Value.Operation)
        /// The elements whose insertions these are; at least one.
        case delete([DotRange])
        /// Puts an element somewhere else.
        case move(DotReference, Placement)
    }

    /// The part that a replica at some vector lacks: its new positions, and every element with the dots that are live in it.
    public typealias Delta = ListContents<Value.Delta>

    typealias Node = PositionTree.Node

    struct Entry: Sendable {
        /// The node of its insertion.
        let birth: Node
        /// The dots of its insertion and its edits; empty if it is deleted.
        var presence: DotSet
        /// The positions it was moved to; empty if it is where it was inserted.
        var moves: PositionRegister
        var value: Value
        /// The node that shows it, or none.
        var shownAt: Node = PositionTree.none
    }

    /// The dots of explicit creations.
    var presence = DotSet()
    var tree = PositionTree()
    /// The elements in the order in which they became known here; deleted ones too.
    var entries: ContiguousArray<Entry> = []
    /// The entry of the element inserted at each node, by node; none for a node that a move made.
    var entryIndices: ContiguousArray<Int32> = []
    /// The entry of the element shown at each node, by node. It has no meaning for a node that is not shown.
    var occupants: ContiguousArray<Int32> = []

    /// Creates a list that no replica has written yet.
    public init() {}

    /// True if a reader sees an element, or the creation of the list.
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

    /// Applies an operation whose causal past is applied; see `Replicated`.
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        guard !origin.dot.counter.addingReportingOverflow(Self.span(of: operation)).overflow else { return }
        switch operation {
        case .create: presence.replace(at: origin)
        case .insert(let placement, let values): insert(values, placement, at: origin)
        case .edit(let reference, let operation):
            guard let index = entryIndex(reference, at: origin) else { return }
            entries[index].presence.replace(at: origin)
            entries[index].value.apply(operation, at: origin)
            refresh(index)
        case .delete(let ranges):
            for node in tree.seen(ranges, at: origin) {
                guard let index = entryIndex(node) else { continue }
                entries[index].presence.remove(knownTo: origin)
                refresh(index)
            }
        case .move(let reference, let placement):
            guard let index = entryIndex(reference, at: origin),
                tree.insert(placement, count: 1, at: origin) != nil
            else { return }
            makeRoom()
            entries[index].moves.replace(at: origin)
            refresh(index, leaving: origin.faults.contains(.moveDuplicates))
        }
    }

    /// The element that was inserted at `node`.
    func entryIndex(_ node: Node) -> Int? {
        let index = entryIndices[Int(node)]
        return index < 0 ? nil : Int(index)
    }

    /// The element that `reference` names, if the author had seen it.
    private func entryIndex(_ reference: DotReference, at origin: Origin) -> Int? {
        tree.seen(reference, at: origin).flatMap { entryIndex($0) }
    }

    /// The entry of the element that was inserted at `node`, which is made, without presence, if there is none.
    mutating func makeEntry(_ node: Node) -> Int {
        if let index = entryIndex(node) { return index }
        entryIndices[Int(node)] = Int32(entries.count)
        entries.append(Entry(birth: node, presence: DotSet(), moves: PositionRegister(), value: Value()))
        return entries.count - 1
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
            makeRoom()
            for index in start..<end {
                let origin = origin.advanced(by: UInt64(index - start))
                let entry = makeEntry(first + Node(index - start))
                entries[entry].presence.insert(origin.dot)
                entries[entry].value.apply(values[index], at: origin)
                refresh(entry)
            }
            last = first + Node(end - start - 1)
            offset += UInt64(end - start - 1) + Value.span(of: values[end - 1])
            start = end
        }
    }

    /// A place for every node of the tree.
    mutating func makeRoom() {
        entryIndices.append(contentsOf: repeatElement(-1, count: tree.count - entryIndices.count))
        occupants.append(contentsOf: repeatElement(-1, count: tree.count - occupants.count))
    }

    /// Shows the element where it now belongs, or hides it.
    ///
    /// - Parameter leaving: a planted bug: it stays where it was too.
    mutating func refresh(_ index: Int, leaving: Bool = false) {
        var target = PositionTree.none
        if !entries[index].presence.isEmpty {
            target = place(entries[index].moves) ?? entries[index].birth
        }
        let shown = entries[index].shownAt
        guard shown != target else { return }
        if shown != PositionTree.none, !leaving { tree.order.setShown(shown, false) }
        if target != PositionTree.none {
            occupants[Int(target)] = Int32(index)
            tree.order.setShown(target, true)
        }
        entries[index].shownAt = target
    }

    /// The node of the greatest position that is here.
    private func place(_ moves: PositionRegister) -> Node? {
        for key in moves.keys.reversed() {
            if let node = tree.node(at: key.dot) { return node }
        }
        return nil
    }

    // MARK: Removal of the whole

    /// Empty: removing an element hides its value and does not touch it, counters included.
    public var removal: Removal { Removal() }

    /// Removes what the author of `origin` had seen. What was inserted or edited apart survives.
    public mutating func remove(_ removal: Removal, at origin: Origin) {
        presence.remove(knownTo: origin)
        for index in entries.indices {
            entries[index].presence.remove(knownTo: origin)
            refresh(index)
        }
    }
}
