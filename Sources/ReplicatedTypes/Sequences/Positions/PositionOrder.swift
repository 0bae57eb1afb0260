/// The order of all nodes of a sequence, shown or not: a list that is cut into blocks, with the count of shown nodes per block.
///
/// Finding the place of a node is a search in one block (≤ `blockCapacity` entries, contiguous); counting the shown
/// nodes before a block is a walk in a Fenwick tree (Fenwick 1994). Only splitting a block before the end costs one step per
/// block.
/// Nodes are named by numbers from 0, in the order in which they were inserted here.
package struct PositionOrder: Sendable {
    package typealias Node = Int32

    private static let blockCapacity = 512

    private struct Block: Sendable {
        /// The name of the block; it stays the same when blocks move.
        let name: Int32
        /// Node number · 2 + (1 if shown).
        var entries: ContiguousArray<UInt32>
        var shownCount: Int
    }

    /// The blocks in order; none is empty. There is no block at first: values are often created empty, and that should cost
    /// no memory.
    private var blocks: [Block] = []
    /// Node → name of its block.
    private var blockNames: ContiguousArray<Int32> = []
    /// Name of a block → its index in `blocks`.
    private var blockIndices: ContiguousArray<Int32> = []
    /// Fenwick tree over the shown counts of `blocks`; entry i sums those below i + 1 down to i & (i + 1).
    private var sums: ContiguousArray<Int> = []

    package private(set) var shownCount = 0
    package var count: Int { blockNames.count }

    package init() {}

    // MARK: Changing

    /// Puts the next node, numbered `count`, directly after `previous` (nil: first of all), not shown.
    package mutating func insertNext(after previous: Node?) {
        guard let previous else { return insertNext(block: 0, offset: 0) }
        let (block, offset) = place(of: previous)
        insertNext(block: block, offset: offset + 1)
    }

    /// Puts the next `count` nodes directly after `previous`, one behind the other, not shown. However many they are, it costs one
    /// step per block once.
    package mutating func insertNext(_ count: Int, after previous: Node) {
        let (block, offset) = place(of: previous)
        let first = UInt32(self.count)
        let room = Self.blockCapacity - blocks[block].entries.count
        guard count > room else {
            blocks[block].entries.insert(contentsOf: (first..<first + UInt32(count)).map { $0 << 1 }, at: offset + 1)
            blockNames.append(contentsOf: repeatElement(blocks[block].name, count: count))
            return
        }
        if offset + 1 < blocks[block].entries.count { split(block, at: offset + 1) }
        var (next, end) = (first, first + UInt32(count))
        func take(_ limit: Int) -> ContiguousArray<UInt32> {
            let taken = next..<min(end, next + UInt32(limit))
            next = taken.upperBound
            return ContiguousArray(taken.map { $0 << 1 })
        }
        let fitting = take(Self.blockCapacity - blocks[block].entries.count)
        blocks[block].entries += fitting
        blockNames.append(contentsOf: repeatElement(blocks[block].name, count: fitting.count))
        var added: [Block] = []
        while next < end {
            let name = Int32(blockIndices.count)
            let entries = take(Self.blockCapacity)
            blockIndices.append(0)
            blockNames.append(contentsOf: repeatElement(name, count: entries.count))
            added.append(Block(name: name, entries: entries, shownCount: 0))
        }
        blocks.insert(contentsOf: added, at: block + 1)
        reindex(from: block + 1)
    }

    /// Puts the next node directly before `next`, not shown.
    package mutating func insertNext(before next: Node) {
        let (block, offset) = place(of: next)
        insertNext(block: block, offset: offset)
    }

    private mutating func insertNext(block: Int, offset: Int) {
        let entry = UInt32(count) << 1
        if blocks.isEmpty {
            blocks.append(Block(name: 0, entries: [], shownCount: 0))
            blockIndices.append(0)
            sums.append(0)
        }
        var block = block
        var offset = offset
        if blocks[block].entries.count >= Self.blockCapacity {
            let cut = offset == blocks[block].entries.count ? offset : Self.blockCapacity / 2
            split(block, at: cut)
            if offset >= cut {
                block += 1
                offset -= cut
            }
        }
        blocks[block].entries.insert(entry, at: offset)
        blockNames.append(blocks[block].name)
    }

    /// Moves the entries from `cut` on into a block of their own; that block is empty for a moment if `cut` is the end.
    private mutating func split(_ block: Int, at cut: Int) {
        let name = Int32(blockIndices.count)
        let moved = ContiguousArray(blocks[block].entries[cut...])
        blocks[block].entries.removeSubrange(cut...)
        let shown = moved.reduce(0) { $0 + Int($1 & 1) }
        blocks[block].shownCount -= shown
        for entry in moved { blockNames[Int(entry >> 1)] = name }
        blocks.insert(Block(name: name, entries: moved, shownCount: shown), at: block + 1)
        blockIndices.append(Int32(block + 1))
        if block + 2 == blocks.count {
            add(-shown, to: block)
            appendSum(shown)
        } else {
            reindex(from: block + 1)
        }
    }

    /// Appends the sum of a last block.
    private mutating func appendSum(_ shown: Int) {
        let last = sums.count
        var sum = shown
        var index = last - 1
        while index >= last & (last + 1) {
            sum += sums[index]
            index = (index & (index + 1)) - 1
        }
        sums.append(sum)
    }

    /// Adds to the sums in which a block is.
    private mutating func add(_ difference: Int, to block: Int) {
        var index = block
        while index < sums.count {
            sums[index] += difference
            index |= index + 1
        }
    }

    /// Finds the blocks where they are now, and their sums.
    private mutating func reindex(from first: Int) {
        for index in first..<blocks.count { blockIndices[Int(blocks[index].name)] = Int32(index) }
        sums = ContiguousArray(blocks.map(\.shownCount))
        for index in sums.indices {
            let above = index | (index + 1)
            if above < sums.count { sums[above] += sums[index] }
        }
    }

    package mutating func setShown(_ node: Node, _ isShown: Bool) {
        let (block, offset) = place(of: node)
        let entry = blocks[block].entries[offset]
        guard (entry & 1 == 1) != isShown else { return }
        blocks[block].entries[offset] = entry ^ 1
        let difference = isShown ? 1 : -1
        blocks[block].shownCount += difference
        shownCount += difference
        add(difference, to: block)
    }

    // MARK: Asking

    package func precedes(_ left: Node, _ right: Node) -> Bool { place(of: left) < place(of: right) }

    package func isShown(_ node: Node) -> Bool {
        let (block, offset) = place(of: node)
        return blocks[block].entries[offset] & 1 == 1
    }

    /// The node directly after `node` (nil: the first of all), shown or not.
    package func next(after node: Node?) -> Node? {
        guard let node else { return blocks.first?.entries.first.map { Node($0 >> 1) } }
        let (block, offset) = place(of: node)
        if offset + 1 < blocks[block].entries.count { return Node(blocks[block].entries[offset + 1] >> 1) }
        return block + 1 < blocks.count ? blocks[block + 1].entries.first.map { Node($0 >> 1) } : nil
    }

    /// Returns the number of shown nodes before `node`, itself not counted.
    package func shownIndex(of node: Node) -> Int {
        let (block, offset) = place(of: node)
        var sum = blocks[block].entries[..<offset].reduce(0) { $0 + Int($1 & 1) }
        var end = block
        while end > 0 {
            sum += sums[end - 1]
            end &= end - 1
        }
        return sum
    }

    /// The shown node before which `index` others are shown.
    package func shownNode(at index: Int) -> Node {
        precondition(index >= 0 && index < shownCount, "index \(index) of \(shownCount) shown nodes")
        var rest = index
        var block = 0
        var step = 1 << (Int.bitWidth - 1 - sums.count.leadingZeroBitCount)
        while step > 0 {
            if block + step <= sums.count, sums[block + step - 1] <= rest {
                block += step
                rest -= sums[block - 1]
            }
            step >>= 1
        }
        for entry in blocks[block].entries where entry & 1 == 1 {
            if rest == 0 { return Node(entry >> 1) }
            rest -= 1
        }
        preconditionFailure("the sums of a sequence's blocks agree with their entries")
    }

    /// Every shown node, in order.
    package func forEachShown(_ body: (Node) -> Void) {
        for block in blocks where block.shownCount > 0 {
            for entry in block.entries where entry & 1 == 1 { body(Node(entry >> 1)) }
        }
    }

    /// The shown nodes at `range`.
    package func shownNodes(in range: Range<Int>) -> [Node] {
        precondition(range.lowerBound >= 0 && range.upperBound <= shownCount, "\(range) of \(shownCount) shown nodes")
        guard !range.isEmpty else { return [] }
        let first = shownNode(at: range.lowerBound)
        var (block, offset) = place(of: first)
        var nodes: [Node] = []
        nodes.reserveCapacity(range.count)
        while true {
            for entry in blocks[block].entries[offset...] where entry & 1 == 1 {
                nodes.append(Node(entry >> 1))
                if nodes.count == range.count { return nodes }
            }
            block += 1
            offset = 0
        }
    }

    private func place(of node: Node) -> (block: Int, offset: Int) {
        let block = Int(blockIndices[Int(blockNames[Int(node)])])
        let entries = blocks[block].entries
        // Most questions are about what was inserted last, at the end.
        if let last = entries.last, last >> 1 == UInt32(node) { return (block, entries.count - 1) }
        for offset in entries.indices where entries[offset] >> 1 == UInt32(node) { return (block, offset) }
        preconditionFailure("a sequence's block holds every node that is filed under it")
    }
}
