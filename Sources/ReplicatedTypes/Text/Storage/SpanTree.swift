/// The order of all scalars of a text, shown or deleted: a B-tree whose items are spans of consecutive numbers that stand
/// next to each other. Each inner node knows how many scalars are shown below each child, and what their UTF-8 and UTF-16
/// take.
///
/// Nodes are pooled and linked by index: no reference is counted while a person types. The tree remembers the node being
/// typed into. What its ancestors do not know yet of it is kept beside (`pending`) until a query goes further up.
///
/// Hot file; see `Column`, also for how it is tested.
struct SpanTree: ~Copyable {
    /// Items of a leaf, children of an inner node.
    static let width = 32
    /// The maximum length of an item, so that work inside one is bounded.
    static let longestItem = 8_192

    /// Words of a leaf: this header, then `width` numbers, then `width` lengths; a negative length is a deleted span.
    enum Leaf {
        static let count = 0
        static let shown = 1
        static let parent = 2
        static let next = 3
        static let previous = 4
        static let utf8 = 5
        static let utf16 = 6
        static let numbers = 8
        static let lengths = 8 + SpanTree.width
        static let stride = 8 + 2 * SpanTree.width
    }

    /// Words of an inner node: this header, then per child its index and its three sums.
    enum Inner {
        static let count = 0
        static let parent = 1
        static let isOverLeaves = 2
        static let children = 4
        static let shown = 4 + SpanTree.width
        static let utf8 = 4 + 2 * SpanTree.width
        static let utf16 = 4 + 3 * SpanTree.width
        static let stride = 4 + 4 * SpanTree.width
    }

    /// A scalar: the `offset`-th of an item. An offset equal to the item's length is the place behind it.
    struct Place {
        var leaf: Int
        var index: Int
        var offset: Int
    }

    struct Item {
        var number: Int
        var count: Int
        var isShown: Bool
    }

    var leaves = Column<Int32>()
    var inners = Column<Int32>()
    var root = -1
    var shownCount = 0
    var excess = UnicodeExcess()

    var pendingLeaf = -1
    var pendingShown: Int32 = 0
    var pendingExcess = UnicodeExcess()

    /// The leaf asked for last, and how many scalars are shown before it; −1: none.
    var cachedLeaf = -1
    var cachedStart = 0
    /// The item of that leaf that was asked for last, and how many scalars of the leaf are shown before it.
    var cachedIndex = 0
    var cachedBefore: Int32 = 0

    /// The leaves by number, built at the first query for one.
    var index = LeafIndex()
    var isIndexed = false

    init() { _ = addLeaf() }

    init(copying other: borrowing SpanTree) {
        leaves = Column(copying: other.leaves)
        inners = Column(copying: other.inners)
        root = other.root
        shownCount = other.shownCount
        excess = other.excess
        pendingLeaf = other.pendingLeaf
        pendingShown = other.pendingShown
        pendingExcess = other.pendingExcess
        // The index is built again when it is needed: a copy is often only read.
    }

    // MARK: Nodes

    @inline(__always)
    func leaf(_ leaf: Int) -> UnsafeMutablePointer<Int32> { leaves.base + leaf * Leaf.stride }

    @inline(__always)
    func inner(_ inner: Int) -> UnsafeMutablePointer<Int32> { inners.base + inner * Inner.stride }

    mutating func addLeaf() -> Int {
        let new = leaves.count / Leaf.stride
        leaves.append(repeating: 0, count: Leaf.stride)
        let words = leaf(new)
        words[Leaf.parent] = -1
        words[Leaf.next] = -1
        words[Leaf.previous] = -1
        return new
    }

    mutating func addInner(isOverLeaves: Bool) -> Int {
        let new = inners.count / Inner.stride
        inners.append(repeating: 0, count: Inner.stride)
        inner(new)[Inner.parent] = -1
        inner(new)[Inner.isOverLeaves] = isOverLeaves ? 1 : 0
        return new
    }

    /// The first leaf in order: it is the one that was there first, as only right halves are split off.
    static let firstLeaf = 0

    func itemCount(in leaf: Int) -> Int { Int(self.leaf(leaf)[Leaf.count]) }

    func next(after leaf: Int) -> Int? {
        let next = self.leaf(leaf)[Leaf.next]
        return next < 0 ? nil : Int(next)
    }

    @inline(__always)
    func item(_ leaf: Int, _ index: Int) -> Item {
        let words = self.leaf(leaf)
        let length = words[Leaf.lengths + index]
        return Item(number: Int(words[Leaf.numbers + index]), count: Int(abs(length)), isShown: length > 0)
    }

    /// The item behind an item of this leaf; nil at the end.
    func item(after leaf: Int, _ index: Int) -> Item? {
        if index + 1 < itemCount(in: leaf) { return item(leaf, index + 1) }
        var leaf = leaf
        while let next = next(after: leaf) {
            if itemCount(in: next) > 0 { return item(next, 0) }
            leaf = next
        }
        return nil
    }

    /// All items in order.
    @inline(__always)
    func forEachItem(_ body: (Item) -> Void) {
        var current: Int? = Self.firstLeaf
        while let leaf = current {
            for index in 0..<itemCount(in: leaf) { body(item(leaf, index)) }
            current = next(after: leaf)
        }
    }

    // MARK: Sums

    @inline(__always)
    mutating func record(_ leaf: Int, shown: Int, excess change: UnicodeExcess) {
        let words = self.leaf(leaf)
        words[Leaf.shown] &+= Int32(truncatingIfNeeded: shown)
        shownCount &+= shown
        if pendingLeaf != leaf {
            flush()
            pendingLeaf = leaf
        }
        // What stands before the cached leaf may be longer now.
        if cachedLeaf != leaf { cachedLeaf = -1 }
        pendingShown &+= Int32(truncatingIfNeeded: shown)
        if !change.isZero {
            words[Leaf.utf8] += change.utf8
            words[Leaf.utf16] += change.utf16
            pendingExcess += change
            excess += change
        }
    }

    /// Tells the ancestors of the pending leaf what changed below them.
    @inline(never)
    mutating func flush() {
        guard pendingLeaf >= 0 else { return }
        if pendingShown != 0 || !pendingExcess.isZero {
            var child = pendingLeaf
            var parent = Int(leaf(child)[Leaf.parent])
            while parent >= 0 {
                let slot = slot(of: child, in: parent)
                let words = inner(parent)
                words[Inner.shown + slot] += pendingShown
                if !pendingExcess.isZero {
                    words[Inner.utf8 + slot] += pendingExcess.utf8
                    words[Inner.utf16 + slot] += pendingExcess.utf16
                }
                child = parent
                parent = Int(words[Inner.parent])
            }
        }
        pendingLeaf = -1
        pendingShown = 0
        pendingExcess = UnicodeExcess()
    }

    @inline(__always)
    func slot(of child: Int, in parent: Int) -> Int {
        let words = inner(parent)
        let wanted = Int32(truncatingIfNeeded: child)
        for slot in 0..<Int(words[Inner.count]) where words[Inner.children + slot] == wanted { return slot }
        preconditionFailure("a node of a text's tree is a child of its parent")
    }

    // MARK: Finding

    /// The shown scalar before which `offset` others are shown; there must be one.
    @inline(__always)
    mutating func place(ofShown offset: Int) -> Place {
        assert(offset >= 0 && offset < shownCount)
        seek(offset)
        let words = leaf(cachedLeaf)
        let wanted = Int32(truncatingIfNeeded: offset &- cachedStart)
        var index = 0
        var before: Int32 = 0
        if wanted >= cachedBefore { (index, before) = (cachedIndex, cachedBefore) }
        while true {
            let length = words[Leaf.lengths + index]
            if length > 0 {
                if length &+ before > wanted { break }
                before &+= length
            }
            index &+= 1
        }
        (cachedIndex, cachedBefore) = (index, before)
        return Place(leaf: cachedLeaf, index: index, offset: Int(wanted &- before))
    }

    @inline(__always)
    mutating func forgetItem() {
        cachedIndex = 0
        cachedBefore = 0
    }

    /// Makes the leaf that shows scalar `offset` the cached one.
    @inline(__always)
    mutating func seek(_ offset: Int) {
        if cachedLeaf >= 0 {
            let relative = offset - cachedStart
            let words = leaf(cachedLeaf)
            if relative >= 0 {
                let shown = Int(words[Leaf.shown])
                if relative < shown { return }
                let next = Int(words[Leaf.next])
                if next >= 0, relative - shown < Int(leaf(next)[Leaf.shown]) {
                    forgetItem()
                    cachedLeaf = next
                    cachedStart += shown
                    return
                }
            } else {
                let previous = Int(words[Leaf.previous])
                if previous >= 0, relative + Int(leaf(previous)[Leaf.shown]) >= 0 {
                    forgetItem()
                    cachedLeaf = previous
                    cachedStart -= Int(leaf(previous)[Leaf.shown])
                    return
                }
            }
        }
        descend(offset)
    }

    @inline(never)
    mutating func descend(_ offset: Int) {
        flush()
        forgetItem()
        var rest = Int32(truncatingIfNeeded: offset)
        cachedLeaf = Self.firstLeaf
        var node = root
        while node >= 0 {
            let words = inner(node)
            var slot = 0
            while words[Inner.shown + slot] <= rest {
                rest -= words[Inner.shown + slot]
                slot += 1
            }
            let child = Int(words[Inner.children + slot])
            if words[Inner.isOverLeaves] == 1 {
                cachedLeaf = child
                break
            }
            node = child
        }
        cachedStart = offset - Int(rest)
    }

    /// Returns the number of scalars shown before this place.
    mutating func shownIndex(of place: Place) -> Int {
        let words = leaf(place.leaf)
        var sum: Int32 = 0
        for index in 0..<place.index { sum += max(0, words[Leaf.lengths + index]) }
        let inside = words[Leaf.lengths + place.index] > 0 ? place.offset : 0
        if place.leaf == cachedLeaf { return cachedStart + Int(sum) + inside }
        flush()
        var child = place.leaf
        var parent = Int(words[Leaf.parent])
        var before = Int(sum)
        while parent >= 0 {
            let words = inner(parent)
            for slot in 0..<slot(of: child, in: parent) { before += Int(words[Inner.shown + slot]) }
            child = parent
            parent = Int(words[Inner.parent])
        }
        forgetItem()
        cachedLeaf = place.leaf
        cachedStart = before - Int(sum)
        return before + inside
    }

    /// The place of a scalar by its number.
    mutating func place(of number: Int) -> Place {
        if !isIndexed { buildIndex() }
        let leaf = index.leaf(of: number)
        let words = self.leaf(leaf)
        let wanted = Int32(truncatingIfNeeded: number)
        for index in 0..<Int(words[Leaf.count]) {
            let offset = wanted - words[Leaf.numbers + index]
            if offset >= 0, offset < abs(words[Leaf.lengths + index]) {
                return Place(leaf: leaf, index: index, offset: Int(offset))
            }
        }
        preconditionFailure("a text's leaf holds every scalar that is filed under it")
    }

    /// True if the left scalar is before the right one in the order of all scalars.
    mutating func precedes(_ left: Int, _ right: Int) -> Bool {
        let (left, right) = (place(of: left), place(of: right))
        if left.leaf == right.leaf { return (left.index, left.offset) < (right.index, right.offset) }
        var nodes = (left.leaf, right.leaf)
        var parents = (Int(leaf(left.leaf)[Leaf.parent]), Int(leaf(right.leaf)[Leaf.parent]))
        while parents.0 != parents.1 {
            nodes = parents
            parents = (Int(inner(nodes.0)[Inner.parent]), Int(inner(nodes.1)[Inner.parent]))
        }
        return slot(of: nodes.0, in: parents.0) < slot(of: nodes.1, in: parents.1)
    }

    mutating func buildIndex() {
        var spans: [(number: Int32, leaf: Int32)] = []
        var current: Int? = Self.firstLeaf
        while let leaf = current {
            let words = self.leaf(leaf)
            for index in 0..<Int(words[Leaf.count]) {
                spans.append((words[Leaf.numbers + index], Int32(truncatingIfNeeded: leaf)))
            }
            current = next(after: leaf)
        }
        spans.sort { $0.number < $1.number }
        index.build(spans)
        isIndexed = true
    }
}
