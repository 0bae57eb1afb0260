// How nodes get siblings and parents. Hot file; see `Column`.

extension SpanTree {
    /// Splits the leaf if it has no room for `count` more items, and moves `place` along.
    mutating func makeRoom(for count: Int, at place: inout Place, _ arena: borrowing ScalarArena) {
        let words = leaf(place.leaf)
        let used = Int(words[Leaf.count])
        guard used + count > Self.width else { return }
        // What grows at its end is left full behind.
        let kept = place.index == used && words[Leaf.next] < 0 ? used : used / 2
        let right = split(place.leaf, at: kept, arena)
        if place.index >= kept { place = Place(leaf: right, index: place.index - kept, offset: place.offset) }
    }

    mutating func split(_ left: Int, at kept: Int, _ arena: borrowing ScalarArena) -> Int {
        flush()
        let right = addLeaf()
        let (from, to) = (leaf(left), leaf(right))
        let moved = Int(from[Leaf.count]) - kept
        (to + Leaf.numbers).update(from: from + Leaf.numbers + kept, count: moved)
        (to + Leaf.lengths).update(from: from + Leaf.lengths + kept, count: moved)
        from[Leaf.count] = Int32(truncatingIfNeeded: kept)
        to[Leaf.count] = Int32(truncatingIfNeeded: moved)
        to[Leaf.next] = from[Leaf.next]
        to[Leaf.previous] = Int32(truncatingIfNeeded: left)
        if to[Leaf.next] >= 0 { leaf(Int(to[Leaf.next]))[Leaf.previous] = Int32(truncatingIfNeeded: right) }
        from[Leaf.next] = Int32(truncatingIfNeeded: right)
        for index in 0..<moved {
            let item = item(right, index)
            if isIndexed { self.index.assign(item.number, item.count, to: right, limit: arena.count) }
            guard item.isShown else { continue }
            to[Leaf.shown] += Int32(truncatingIfNeeded: item.count)
            if !excess.isZero {
                let wide = arena.excess(item.number, item.count)
                to[Leaf.utf8] += wide.utf8
                to[Leaf.utf16] += wide.utf16
            }
        }
        from[Leaf.shown] -= to[Leaf.shown]
        from[Leaf.utf8] -= to[Leaf.utf8]
        from[Leaf.utf16] -= to[Leaf.utf16]
        attach(right, behind: left, areLeaves: true)
        return right
    }

    func parent(of node: Int, isLeaf: Bool) -> Int {
        Int(isLeaf ? leaf(node)[Leaf.parent] : inner(node)[Inner.parent])
    }

    func setParent(_ parent: Int, of node: Int, isLeaf: Bool) {
        if isLeaf {
            leaf(node)[Leaf.parent] = Int32(truncatingIfNeeded: parent)
        } else {
            inner(node)[Inner.parent] = Int32(truncatingIfNeeded: parent)
        }
    }

    /// Makes `right` the child behind `left`, from which it was split off.
    mutating func attach(_ right: Int, behind left: Int, areLeaves: Bool) {
        var parent = parent(of: left, isLeaf: areLeaves)
        if parent < 0 {
            parent = addInner(isOverLeaves: areLeaves)
            root = parent
            inner(parent)[Inner.count] = 1
            inner(parent)[Inner.children] = Int32(truncatingIfNeeded: left)
            setParent(parent, of: left, isLeaf: areLeaves)
        } else if inner(parent)[Inner.count] == Int32(Self.width) {
            let half = splitInner(parent)
            // The children of the right half know their new parent.
            parent = self.parent(of: left, isLeaf: areLeaves)
            assert(parent == half || inner(half)[Inner.count] > 0)
        }
        let slot = slot(of: left, in: parent)
        let words = inner(parent)
        let moved = Int(words[Inner.count]) - slot - 1
        for column in [Inner.children, Inner.shown, Inner.utf8, Inner.utf16] {
            (words + column + slot + 2).update(from: words + column + slot + 1, count: moved)
        }
        words[Inner.count] += 1
        words[Inner.children + slot + 1] = Int32(truncatingIfNeeded: right)
        setParent(parent, of: right, isLeaf: areLeaves)
        setSums(of: left, at: slot, in: parent, isLeaf: areLeaves)
        setSums(of: right, at: slot + 1, in: parent, isLeaf: areLeaves)
    }

    func setSums(of node: Int, at slot: Int, in parent: Int, isLeaf: Bool) {
        let words = inner(parent)
        if isLeaf {
            words[Inner.shown + slot] = leaf(node)[Leaf.shown]
            words[Inner.utf8 + slot] = leaf(node)[Leaf.utf8]
            words[Inner.utf16 + slot] = leaf(node)[Leaf.utf16]
            return
        }
        let child = inner(node)
        var sums: (Int32, Int32, Int32) = (0, 0, 0)
        for index in 0..<Int(child[Inner.count]) {
            sums.0 += child[Inner.shown + index]
            sums.1 += child[Inner.utf8 + index]
            sums.2 += child[Inner.utf16 + index]
        }
        (words[Inner.shown + slot], words[Inner.utf8 + slot], words[Inner.utf16 + slot]) = sums
    }

    mutating func splitInner(_ left: Int) -> Int {
        let isOverLeaves = inner(left)[Inner.isOverLeaves] == 1
        let right = addInner(isOverLeaves: isOverLeaves)
        let (from, to) = (inner(left), inner(right))
        // Text that grows at its end fills its nodes.
        let kept = Int(from[Inner.count]) * 3 / 4
        let moved = Int(from[Inner.count]) - kept
        for column in [Inner.children, Inner.shown, Inner.utf8, Inner.utf16] {
            (to + column).update(from: from + column + kept, count: moved)
        }
        from[Inner.count] = Int32(truncatingIfNeeded: kept)
        to[Inner.count] = Int32(truncatingIfNeeded: moved)
        for slot in 0..<moved { setParent(right, of: Int(to[Inner.children + slot]), isLeaf: isOverLeaves) }
        attach(right, behind: left, areLeaves: false)
        return right
    }
}

// MARK: - Many at once

extension SpanTree {
    var firstPlace: Place { Place(leaf: Self.firstLeaf, index: 0, offset: 0) }

    /// The place behind all items.
    var lastPlace: Place {
        var last = Self.firstLeaf
        var node = root
        while node >= 0 {
            let words = inner(node)
            last = Int(words[Inner.children + Int(words[Inner.count]) - 1])
            node = words[Inner.isOverLeaves] == 1 ? -1 : last
        }
        return Place(leaf: last, index: itemCount(in: last), offset: 0)
    }

    /// Puts items at a place, in this order. Their numbers are new.
    mutating func insert(_ items: [Item], at place: Place, _ arena: borrowing ScalarArena) {
        guard !items.isEmpty else { return }
        forgetItem()
        cachedLeaf = -1
        // The next query by number sorts the index anew, which costs less than to file many entries one by one.
        if isIndexed, items.count > 64 && items.count > leaves.count / Leaf.stride || itemCount(in: Self.firstLeaf) == 0
        {
            isIndexed = false
        }
        var place = place
        if place.offset > 0, place.offset == item(place.leaf, place.index).count {
            place = Place(leaf: place.leaf, index: place.index + 1, offset: 0)
        }
        if place.offset > 0 {
            makeRoom(for: 1, at: &place, arena)
            cut(place.leaf, place.index, at: place.offset)
            place = Place(leaf: place.leaf, index: place.index + 1, offset: 0)
        }
        // A few do not leave leaves half empty behind.
        if items.count <= Self.width / 4 { makeRoom(for: items.count, at: &place, arena) }
        if place.index < itemCount(in: place.leaf), itemCount(in: place.leaf) + items.count > Self.width {
            _ = split(place.leaf, at: place.index, arena)
        }
        for item in items { place = append(item, at: place, arena) }
    }

    /// Puts an item at a place between two, and says where the next one goes.
    private mutating func append(_ item: Item, at place: Place, _ arena: borrowing ScalarArena) -> Place {
        var (place, rest) = (place, item)
        while rest.count > 0 {
            let count = item.isShown ? min(rest.count, Self.longestItem) : rest.count
            if place.index == Self.width {
                // What goes on behind it has leaves of its own.
                place = Place(leaf: split(place.leaf, at: Self.width, arena), index: 0, offset: 0)
            }
            makeRoom(for: 1, at: &place, arena)
            let words = leaf(place.leaf)
            if place.index < Int(words[Leaf.count]) { open(place.leaf, place.index) } else { words[Leaf.count] += 1 }
            words[Leaf.numbers + place.index] = Int32(truncatingIfNeeded: rest.number)
            words[Leaf.lengths + place.index] = Int32(truncatingIfNeeded: item.isShown ? count : -count)
            if item.isShown { record(place.leaf, shown: count, excess: arena.excess(rest.number, count)) }
            if isIndexed { index.assign(rest.number, count, to: place.leaf, limit: arena.count) }
            place.index += 1
            rest.number += count
            rest.count -= count
        }
        return place
    }
}

extension SpanTree {
    /// Sums anew what UTF-8 and UTF-16 take, after scalars got other values.
    mutating func recount(_ arena: borrowing ScalarArena) {
        var items: [Item] = []
        forEachItem { items.append($0) }
        self = SpanTree()
        insert(items, at: firstPlace, arena)
    }
}
