/// A growing row of plain numbers in memory of its own: what an array is, without its checks of ownership and bounds.
///
/// Hot file: an index is checked in debug builds only. Only the text engine uses it, and every index that it takes from a
/// peer's bytes is checked before. Tested through the engine, against an array of scalars (TextEditorTests) and against the
/// reference model (LawTests).
struct Column<Element: BitwiseCopyable>: ~Copyable {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private(set) var capacity: Int

    /// Takes no memory until something is appended, unless `capacity` is given.
    init(capacity: Int = 0) {
        self.capacity = capacity
        base = .allocate(capacity: max(1, capacity))
    }

    init(copying other: borrowing Column) {
        self.init(capacity: other.count)
        base.update(from: other.base, count: other.count)
        count = other.count
    }

    deinit { base.deallocate() }

    @inline(__always)
    subscript(index: Int) -> Element {
        get {
            assert(index >= 0 && index < count)
            return base[index]
        }
        nonmutating set {
            assert(index >= 0 && index < count)
            base[index] = newValue
        }
    }

    var last: Element? { count == 0 ? nil : base[count - 1] }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow(to: count + 1) }
        base[count] = element
        count += 1
    }

    mutating func append(repeating element: Element, count added: Int) {
        if count + added > capacity { grow(to: count + added) }
        (base + count).update(repeating: element, count: added)
        count += added
    }

    mutating func insert(_ element: Element, at index: Int) {
        assert(index >= 0 && index <= count)
        if count == capacity { grow(to: count + 1) }
        (base + index + 1).update(from: base + index, count: count - index)
        base[index] = element
        count += 1
    }

    mutating func removeAll() { count = 0 }

    @inline(never)
    private mutating func grow(to needed: Int) {
        capacity = max(needed, capacity + capacity / 2, 8)
        let grown = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        grown.update(from: base, count: count)
        base.deallocate()
        base = grown
    }
}

extension Column {
    /// The first index from `start` on at which `isPast` holds; it must hold from there on.
    @inline(__always)
    func firstIndexPast(from start: Int = 0, _ isPast: (Element) -> Bool) -> Int {
        var low = start
        var length = count - start
        while length > 0 {
            let half = length / 2
            if isPast(base[low + half]) {
                length = half
            } else {
                low += half + 1
                length -= half + 1
            }
        }
        return low
    }
}

/// A growing row of bits.
struct BitColumn: ~Copyable {
    private var words: Column<UInt64>

    init() { words = Column() }
    init(copying other: borrowing BitColumn) { words = Column(copying: other.words) }

    /// Makes room for bits below `count`.
    mutating func reserve(_ count: Int) {
        let needed = (count + 63) >> 6
        if needed > words.count {
            words.append(repeating: 0, count: max(needed, words.count + words.count / 2) - words.count)
        }
    }

    @inline(__always)
    subscript(index: Int) -> Bool { words[index >> 6] >> UInt64(truncatingIfNeeded: index & 63) & 1 == 1 }

    @inline(__always)
    func set(_ index: Int) { words[index >> 6] |= 1 << UInt64(truncatingIfNeeded: index & 63) }

    /// The first set bit in `range`; nil: there is none.
    func first(in range: Range<Int>) -> Int? {
        guard !range.isEmpty else { return nil }
        var word = range.lowerBound >> 6
        var bits = words[word] & (~0 << UInt64(truncatingIfNeeded: range.lowerBound & 63))
        while true {
            if bits != 0 {
                let index = word << 6 + bits.trailingZeroBitCount
                return index < range.upperBound ? index : nil
            }
            word += 1
            guard word << 6 < range.upperBound else { return nil }
            bits = words[word]
        }
    }
}
