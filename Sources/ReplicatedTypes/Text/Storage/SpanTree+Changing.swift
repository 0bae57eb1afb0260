// Hot file; see `Column`.

extension SpanTree {
    /// Lets the item at `place`, the one inserted last, go on by `count` shown scalars.
    @inline(__always)
    mutating func extend(_ leaf: Int, _ index: Int, by count: Int, excess: UnicodeExcess) {
        if index < cachedIndex { forgetItem() }
        self.leaf(leaf)[Leaf.lengths + index] += Int32(truncatingIfNeeded: count)
        record(leaf, shown: count, excess: excess)
    }

    /// True if the item is shown, ends before `number`, and has room for `count` more.
    @inline(__always)
    func canExtend(_ leaf: Int, _ index: Int, with number: Int, by count: Int) -> Bool {
        let words = self.leaf(leaf)
        let length = Int(words[Leaf.lengths + index])
        return length > 0 && Int(words[Leaf.numbers + index]) + length == number && length + count <= Self.longestItem
    }

    /// Puts shown scalars at a place, and says where the last of them is.
    mutating func insert(
        _ number: Int, count: Int, at place: Place, excess: UnicodeExcess, _ arena: borrowing ScalarArena
    ) -> Place {
        var place = place
        if place.offset > 0, place.offset == item(place.leaf, place.index).count {
            place = Place(leaf: place.leaf, index: place.index + 1, offset: 0)
        }
        if place.offset == 0, place.index > 0, canExtend(place.leaf, place.index - 1, with: number, by: count) {
            extend(place.leaf, place.index - 1, by: count, excess: excess)
            return Place(leaf: place.leaf, index: place.index - 1, offset: 0)
        }
        let isInside = place.offset > 0
        forgetItem()
        makeRoom(for: isInside ? 2 : 1, at: &place, arena)
        let words = leaf(place.leaf)
        if isInside {
            cut(place.leaf, place.index, at: place.offset, leaving: 1)
        } else {
            open(place.leaf, place.index)
        }
        let target = place.index + (isInside ? 1 : 0)
        words[Leaf.numbers + target] = Int32(truncatingIfNeeded: number)
        words[Leaf.lengths + target] = Int32(truncatingIfNeeded: count)
        record(place.leaf, shown: count, excess: excess)
        if isIndexed { index.assign(number, count, to: place.leaf, limit: number + count) }
        return Place(leaf: place.leaf, index: target, offset: 0)
    }

    /// Hides the shown scalar at an offset and says which it was. What people do most, deleting onwards or backwards from
    /// what they deleted, only shifts the border between two items.
    @inline(__always)
    mutating func hideOne(at offset: Int, _ arena: borrowing ScalarArena) -> Int {
        let place = place(ofShown: offset)
        let words = leaf(place.leaf)
        let (lengths, numbers) = (words + Leaf.lengths + place.index, words + Leaf.numbers + place.index)
        let (length, number) = (lengths[0], numbers[0])
        let hidden = Int(number) + place.offset
        if length > 1, arena.isASCII {
            if Int32(truncatingIfNeeded: place.offset) == length - 1, place.index + 1 < Int(words[Leaf.count]),
                lengths[1] < 0, numbers[1] == number + length
            {
                lengths[0] &-= 1
                numbers[1] &-= 1
                lengths[1] &-= 1
                record(place.leaf, shown: -1, excess: UnicodeExcess())
                return hidden
            }
            if place.offset == 0, place.index > 0, lengths[-1] < 0, numbers[-1] - lengths[-1] == number {
                lengths[-1] &-= 1
                numbers[0] &+= 1
                lengths[0] &-= 1
                record(place.leaf, shown: -1, excess: UnicodeExcess())
                return hidden
            }
        }
        hide(place, count: 1, arena)
        return hidden
    }

    /// Hides `count` shown scalars of one item from `place` on.
    mutating func hide(_ place: Place, count: Int, _ arena: borrowing ScalarArena) {
        forgetItem()
        var place = place
        let whole = item(place.leaf, place.index)
        let end = place.offset + count
        let hidden = arena.excess(whole.number + place.offset, count)
        switch (place.offset == 0, end == whole.count) {
        case (true, true): hideAll(place)
        case (true, false):
            if joinsDeleted(before: place, whole) {
                let words = leaf(place.leaf)
                words[Leaf.lengths + place.index - 1] -= Int32(truncatingIfNeeded: count)
                words[Leaf.numbers + place.index] += Int32(truncatingIfNeeded: count)
                words[Leaf.lengths + place.index] -= Int32(truncatingIfNeeded: count)
            } else {
                makeRoom(for: 1, at: &place, arena)
                cut(place.leaf, place.index, at: count)
                leaf(place.leaf)[Leaf.lengths + place.index] *= -1
            }
        case (false, true):
            if joinsDeleted(after: place, whole) {
                let words = leaf(place.leaf)
                words[Leaf.lengths + place.index] -= Int32(truncatingIfNeeded: count)
                words[Leaf.numbers + place.index + 1] -= Int32(truncatingIfNeeded: count)
                words[Leaf.lengths + place.index + 1] -= Int32(truncatingIfNeeded: count)
            } else {
                makeRoom(for: 1, at: &place, arena)
                cut(place.leaf, place.index, at: place.offset)
                leaf(place.leaf)[Leaf.lengths + place.index + 1] *= -1
            }
        case (false, false):
            makeRoom(for: 2, at: &place, arena)
            let words = leaf(place.leaf)
            cut(place.leaf, place.index, at: end, leaving: 1)
            words[Leaf.lengths + place.index] = Int32(truncatingIfNeeded: place.offset)
            words[Leaf.numbers + place.index + 1] =
                words[Leaf.numbers + place.index] + Int32(truncatingIfNeeded: place.offset)
            words[Leaf.lengths + place.index + 1] = -Int32(truncatingIfNeeded: count)
        }
        // Only now: a split sums what its items show.
        record(place.leaf, shown: -count, excess: -hidden)
    }

    func joinsDeleted(before place: Place, _ whole: Item) -> Bool {
        guard place.index > 0 else { return false }
        let before = item(place.leaf, place.index - 1)
        return !before.isShown && before.number + before.count == whole.number
    }

    func joinsDeleted(after place: Place, _ whole: Item) -> Bool {
        guard place.index + 1 < itemCount(in: place.leaf) else { return false }
        let after = item(place.leaf, place.index + 1)
        return !after.isShown && whole.number + whole.count == after.number
    }

    mutating func hideAll(_ place: Place) {
        let whole = item(place.leaf, place.index)
        let words = leaf(place.leaf)
        words[Leaf.lengths + place.index] *= -1
        if joinsDeleted(after: place, whole) {
            words[Leaf.lengths + place.index] += words[Leaf.lengths + place.index + 1]
            close(place.leaf, place.index + 1)
        }
        if joinsDeleted(before: place, whole) {
            words[Leaf.lengths + place.index - 1] += words[Leaf.lengths + place.index]
            close(place.leaf, place.index)
        }
    }

    /// Cuts an item in two, with free items between them; there is room.
    func cut(_ leaf: Int, _ index: Int, at offset: Int, leaving free: Int = 0) {
        open(leaf, index + 1, by: 1 + free)
        let words = self.leaf(leaf)
        let length = words[Leaf.lengths + index]
        let part = length > 0 ? Int32(truncatingIfNeeded: offset) : -Int32(truncatingIfNeeded: offset)
        words[Leaf.numbers + index + 1 + free] = words[Leaf.numbers + index] + Int32(truncatingIfNeeded: offset)
        words[Leaf.lengths + index + 1 + free] = length - part
        words[Leaf.lengths + index] = part
    }

    @inline(__always)
    func open(_ leaf: Int, _ index: Int, by added: Int = 1) {
        let words = self.leaf(leaf)
        let moved = Int(words[Leaf.count]) - index
        if moved > 0 {
            (words + Leaf.numbers + index + added).update(from: words + Leaf.numbers + index, count: moved)
            (words + Leaf.lengths + index + added).update(from: words + Leaf.lengths + index, count: moved)
        }
        words[Leaf.count] += Int32(truncatingIfNeeded: added)
    }

    func close(_ leaf: Int, _ index: Int) {
        let words = self.leaf(leaf)
        let moved = Int(words[Leaf.count]) - index - 1
        (words + Leaf.numbers + index).update(from: words + Leaf.numbers + index + 1, count: moved)
        (words + Leaf.lengths + index).update(from: words + Leaf.lengths + index + 1, count: moved)
        words[Leaf.count] -= 1
    }
}
