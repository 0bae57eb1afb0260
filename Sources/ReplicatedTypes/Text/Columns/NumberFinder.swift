/// A table that finds which of many stretches of numbers holds a number. It stores the stretch at the start of each block of
/// numbers, about one stretch per block. All queries about a text together cost no more than its length, however its
/// stretches lie.
struct NumberFinder {
    /// The first number of each stretch, ascending; of the first it is the least number there is.
    private let firsts: [Int32]
    private let base: Int32
    private let shift: Int32
    /// The stretch that holds the first number of each block, by block.
    private let blocks: [Int32]

    init() { self.init([], count: 0) }

    /// `count`: numbers in all stretches together.
    init(_ firsts: [Int32], count: Int) {
        self.firsts = firsts
        base = firsts.first ?? 0
        let perStretch = count / max(1, firsts.count)
        shift = Int32(truncatingIfNeeded: Int.bitWidth - 1 - max(1, perStretch).leadingZeroBitCount)
        var blocks: [Int32] = []
        blocks.reserveCapacity(count >> Int(shift) + 1)
        var stretch = 0
        for block in 0..<count >> Int(shift) + 1 {
            let number = base + Int32(truncatingIfNeeded: block << Int(shift))
            while stretch + 1 < firsts.count, firsts[stretch + 1] <= number { stretch += 1 }
            blocks.append(Int32(truncatingIfNeeded: stretch))
        }
        self.blocks = blocks
    }

    /// The index of the stretch that holds `number`, which must be one of theirs.
    @inline(__always)
    func index(of number: Int32) -> Int {
        var index = Int(blocks[Int((number - base) >> shift)])
        while index + 1 < firsts.count, firsts[index + 1] <= number { index += 1 }
        return index
    }
}
