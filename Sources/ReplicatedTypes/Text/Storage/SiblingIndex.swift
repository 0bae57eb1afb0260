/// The explicit children of each place of a text, in order: needed only where people really typed side by side, so it is
/// built at the first such place and kept from then on.
///
/// A place is a scalar and a side, as `TextEngine.places` has it; children are heads of runs, linked to the next one.
struct SiblingIndex: ~Copyable {
    /// Open addressing; a key is a place + 1, 0 is free. The values are the first child and the last.
    private var keys = Column<Int32>()
    private var firsts = Column<Int32>()
    private var lasts = Column<Int32>()
    private var used = 0
    /// The next sibling of each head, by head; −1 if there is none.
    private(set) var following = Column<Int32>()
    private(set) var isBuilt = false

    init() {}

    mutating func begin(heads: Int) {
        isBuilt = true
        resize(to: max(64, (heads * 2).nextPowerOfTwo))
    }

    mutating func addHead() { following.append(-1) }

    @inline(__always)
    private func slot(of place: Int32) -> Int {
        let mask = keys.count - 1
        var slot = Int(truncatingIfNeeded: (UInt64(UInt32(bitPattern: place)) &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
        while keys[slot] != 0, keys[slot] != place + 1 { slot = (slot + 1) & mask }
        return slot
    }

    /// The first child there; nil: there is none.
    @inline(__always)
    func first(at place: Int32) -> Int? {
        let slot = slot(of: place)
        return keys[slot] == 0 ? nil : Int(firsts[slot])
    }

    /// The last child there; nil: there is none.
    func last(at place: Int32) -> Int? {
        let slot = slot(of: place)
        return keys[slot] == 0 ? nil : Int(lasts[slot])
    }

    func next(after head: Int) -> Int? {
        let next = following[head]
        return next < 0 ? nil : Int(next)
    }

    /// Puts a head behind a sibling; nil: first of all.
    mutating func insert(_ head: Int, behind sibling: Int?, at place: Int32) {
        let slot = slot(of: place)
        let child = Int32(truncatingIfNeeded: head)
        if keys[slot] == 0 {
            keys[slot] = place + 1
            firsts[slot] = child
            lasts[slot] = child
            used += 1
            if used * 2 > keys.count { resize(to: keys.count * 2) }
            return
        }
        if let sibling {
            following[head] = following[sibling]
            following[sibling] = child
        } else {
            following[head] = firsts[slot]
            firsts[slot] = child
        }
        if following[head] < 0 { lasts[slot] = child }
    }

    private mutating func resize(to capacity: Int) {
        var oldKeys = Column<Int32>(capacity: capacity)
        var oldFirsts = Column<Int32>(capacity: capacity)
        var oldLasts = Column<Int32>(capacity: capacity)
        oldKeys.append(repeating: 0, count: capacity)
        oldFirsts.append(repeating: 0, count: capacity)
        oldLasts.append(repeating: 0, count: capacity)
        swap(&oldKeys, &keys)
        swap(&oldFirsts, &firsts)
        swap(&oldLasts, &lasts)
        for index in 0..<oldKeys.count where oldKeys[index] != 0 {
            let slot = slot(of: oldKeys[index] - 1)
            keys[slot] = oldKeys[index]
            firsts[slot] = oldFirsts[index]
            lasts[slot] = oldLasts[index]
        }
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int { 1 << (Int.bitWidth - Swift.max(0, self - 1).leadingZeroBitCount) }
}
