/// An ordered list in which a value appears once, however often it was inserted or moved apart.
///
/// A `RandomAccessCollection` like `ReplicatedList`, whose elements are values instead of having an identity: removing a
/// value removes what the remover had seen, an insertion made apart keeps it, a move made apart does not. Of positions
/// given apart the greatest in canonical order shows the value.
public struct ReplicatedOrderedSet<Element: ReplicableElement>: Replicated {
    /// An edit of an ordered set.
    public enum Operation: Hashable, Sendable, Codable {
        /// Makes the set visible although it is empty.
        case create
        /// Values next to each other, in this order; at least one. One that is there moves here.
        case insert(Placement, [Element])
        /// Removes these values; at least one.
        case remove([Element])
        /// Puts a value somewhere else, without inserting it again.
        case move(Element, Placement)
    }

    /// The part that a replica at some vector lacks: its new positions, and every value with the dots that are live in it.
    public typealias Delta = OrderedSetContents<Element>

    typealias Node = PositionTree.Node

    struct Entry: Sendable {
        let element: Element
        /// The dots of its insertions; empty if it is removed.
        var presence = DotSet()
        var positions = PositionRegister()
        /// The node that shows it, or none.
        var shownAt: Node = PositionTree.none
    }

    /// The dots of explicit creations.
    var presence = DotSet()
    var tree = PositionTree()
    /// Every value that ever had a position, removed ones too: what was made apart may insert them again.
    var entries: ContiguousArray<Entry> = []
    var entryIndices: [Element: Int] = [:]
    /// The index of the entry shown at each node, by node. It has no meaning for a node that is not shown.
    var occupants: ContiguousArray<Int32> = []

    /// Creates a set that no replica has written yet.
    public init() {}

    /// True if a reader sees a value, or the creation of the set.
    public var isLive: Bool { tree.order.shownCount > 0 || !presence.isEmpty }

    /// Returns one counter per value.
    public static func span(of operation: Operation) -> UInt64 {
        switch operation {
        case .create, .move: 1
        case .insert(_, let values): UInt64(Swift.max(1, values.count))
        case .remove(let values): UInt64(Swift.max(1, values.count))
        }
    }

    // MARK: Applying

    /// Applies an operation whose causal past is applied; see `Replicated`.
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        guard !origin.dot.counter.addingReportingOverflow(Self.span(of: operation)).overflow else { return }
        switch operation {
        case .create: presence.replace(at: origin)
        case .insert(let placement, let values):
            guard tree.insert(placement, count: values.count, at: origin) != nil else { return }
            makeRoom()
            for (offset, value) in values.enumerated() {
                let index = entryIndex(of: value)
                let origin = origin.advanced(by: UInt64(offset))
                entries[index].presence.replace(at: origin)
                entries[index].positions.replace(at: origin)
                refresh(index)
            }
        case .remove(let values):
            for value in values {
                guard let index = entryIndices[value] else { continue }
                entries[index].presence.remove(knownTo: origin)
                refresh(index)
            }
        case .move(let value, let placement):
            guard tree.insert(placement, count: 1, at: origin) != nil else { return }
            makeRoom()
            let index = entryIndex(of: value)
            entries[index].positions.replace(at: origin)
            refresh(index)
        }
    }

    /// The entry of `value`, which is made if there is none: the position of a value is kept whether it is in the set or not,
    /// so that the order in which operations arrive does not matter.
    mutating func entryIndex(of value: Element) -> Int {
        if let index = entryIndices[value] { return index }
        entryIndices[value] = entries.count
        entries.append(Entry(element: value))
        return entries.count - 1
    }

    /// A place for every node of the tree.
    mutating func makeRoom() {
        while occupants.count < tree.count { occupants.append(0) }
    }

    /// Shows the entry where it now belongs, or hides it.
    mutating func refresh(_ index: Int) {
        let entry = entries[index]
        var target = PositionTree.none
        if !entry.presence.isEmpty {
            let nodes = entry.positions.keys.lazy.reversed().compactMap { [tree] in tree.node(at: $0.dot) }
            target = nodes.first ?? PositionTree.none
        }
        guard entry.shownAt != target else { return }
        if entry.shownAt != PositionTree.none { tree.order.setShown(entry.shownAt, false) }
        if target != PositionTree.none {
            occupants[Int(target)] = Int32(index)
            tree.order.setShown(target, true)
        }
        entries[index].shownAt = target
    }

    // MARK: Removal of the whole

    /// Empty: no counters are inside.
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
