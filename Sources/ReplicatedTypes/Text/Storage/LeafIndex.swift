/// The leaf of a `SpanTree` that holds a number: a sorted map from the first number of a span to its leaf, in chunks.
///
/// An entry holds up to the next one. Cutting and joining spans inside one leaf needs no entry, so only what moves to another
/// leaf is written down.
///
/// Hot file; see `Column`.
struct LeafIndex: ~Copyable {
    /// Entries of a chunk.
    private static let width = 128
    /// Words of a chunk: how many entries, then the first numbers, then the leaves.
    private static let stride = 1 + 2 * width

    private var chunks = Column<Int32>()
    /// Chunks in order, and the first number of each.
    private var order = Column<Int32>()
    private var firsts = Column<Int32>()

    init() {}

    @inline(__always)
    private func chunk(_ position: Int) -> UnsafeMutablePointer<Int32> {
        chunks.base + Int(order[position]) * Self.stride
    }

    private mutating func addChunk(at position: Int, first: Int32) {
        order.insert(Int32(truncatingIfNeeded: chunks.count / Self.stride), at: position)
        firsts.insert(first, at: position)
        chunks.append(repeating: 0, count: Self.stride)
    }

    /// Sorted by number; the first is 0, unless there is none.
    mutating func build(_ spans: [(number: Int32, leaf: Int32)]) {
        chunks.removeAll()
        order.removeAll()
        firsts.removeAll()
        // Room is left in each chunk for what is cut later.
        let filled = Self.width * 3 / 4
        var start = 0
        while start < spans.count {
            let end = min(start + filled, spans.count)
            addChunk(at: order.count, first: spans[start].number)
            let words = chunk(order.count - 1)
            words[0] = Int32(truncatingIfNeeded: end - start)
            for (offset, span) in spans[start..<end].enumerated() {
                words[1 + offset] = span.number
                words[1 + Self.width + offset] = span.leaf
            }
            start = end
        }
    }

    /// The position of the chunk, and of the entry in it, that holds `number`.
    @inline(__always)
    private func entry(of number: Int32) -> (position: Int, offset: Int) {
        let position = firsts.firstIndexPast { $0 > number } - 1
        let words = chunk(position)
        var low = 0
        var length = Int(words[0])
        while length > 0 {
            let half = length / 2
            if words[1 + low + half] > number {
                length = half
            } else {
                low += half + 1
                length -= half + 1
            }
        }
        return (position, low - 1)
    }

    @inline(__always)
    func leaf(of number: Int) -> Int {
        let (position, offset) = entry(of: Int32(truncatingIfNeeded: number))
        return Int(chunk(position)[1 + Self.width + offset])
    }

    /// Files `count` numbers from `number` on under a leaf. Numbers from `limit` on do not exist yet.
    mutating func assign(_ number: Int, _ count: Int, to leaf: Int, limit: Int) {
        let end = Int32(truncatingIfNeeded: number + count)
        if number + count < limit {
            // What follows stays where it is.
            let (position, offset) = entry(of: end)
            let words = chunk(position)
            if words[1 + offset] != end { insert(end, words[1 + Self.width + offset]) }
        }
        let first = Int32(truncatingIfNeeded: number)
        let leaf = Int32(truncatingIfNeeded: leaf)
        if order.count == 0 {
            addChunk(at: 0, first: first)
            chunk(0)[0] = 1
            chunk(0)[1] = first
            chunk(0)[1 + Self.width] = leaf
            return
        }
        var (position, offset) = entry(of: first)
        if chunk(position)[1 + offset] != first {
            if chunk(position)[1 + Self.width + offset] != leaf { insert(first, leaf) }
        }
        (position, offset) = entry(of: first)
        if chunk(position)[1 + offset] < first { offset += 1 }
        while position < order.count {
            let words = chunk(position)
            while offset < Int(words[0]) {
                guard words[1 + offset] < end else { return }
                words[1 + Self.width + offset] = leaf
                offset += 1
            }
            position += 1
            offset = 0
        }
    }

    private mutating func insert(_ number: Int32, _ leaf: Int32) {
        var (position, offset) = entry(of: number)
        offset += 1
        if chunk(position)[0] == Int32(Self.width) {
            let isAtEnd = offset == Self.width
            let kept = isAtEnd ? Self.width * 7 / 8 : Self.width / 2
            addChunk(at: position + 1, first: chunk(position)[1 + kept])
            let (from, to) = (chunk(position), chunk(position + 1))
            let moved = Self.width - kept
            (to + 1).update(from: from + 1 + kept, count: moved)
            (to + 1 + Self.width).update(from: from + 1 + Self.width + kept, count: moved)
            from[0] = Int32(truncatingIfNeeded: kept)
            to[0] = Int32(truncatingIfNeeded: moved)
            if offset > kept {
                position += 1
                offset -= kept
            }
        }
        let words = chunk(position)
        let moved = Int(words[0]) - offset
        (words + 1 + offset + 1).update(from: words + 1 + offset, count: moved)
        (words + 1 + Self.width + offset + 1).update(from: words + 1 + Self.width + offset, count: moved)
        words[1 + offset] = number
        words[1 + Self.width + offset] = leaf
        words[0] += 1
    }
}
