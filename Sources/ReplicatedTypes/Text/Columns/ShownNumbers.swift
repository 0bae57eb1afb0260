/// The numbers of a text that are shown: one bit each.
struct ShownNumbers {
    private var words: [UInt64]

    /// Creates a set for `count` numbers with none of them in it.
    init(count: Int) { words = [UInt64](repeating: 0, count: count >> 6 + 2) }

    init(_ engine: borrowing TextEngine) {
        self.init(count: engine.count)
        engine.tree.forEachItem { if $0.isShown { insert($0.number..<$0.number + $0.count) } }
    }

    mutating func insert(_ numbers: Range<Int>) {
        var number = numbers.lowerBound
        while number < numbers.upperBound {
            let part = min(numbers.upperBound - number, 64 - number & 63)
            let mask: UInt64 = part == 64 ? ~0 : (1 << UInt64(part) - 1) << UInt64(number & 63)
            words[number >> 6] |= mask
            number += part
        }
    }

    @inline(__always)
    subscript(number: Int) -> Bool { words[number >> 6] >> UInt64(number & 63) & 1 == 1 }

    /// The first number in `range` for which it is not `isShown`; nil: there is none.
    func firstChange(in range: Range<Int>, from isShown: Bool) -> Int? {
        guard !range.isEmpty else { return nil }
        var word = range.lowerBound >> 6
        var bits = (isShown ? ~words[word] : words[word]) & (~0 << UInt64(range.lowerBound & 63))
        while bits == 0 {
            word += 1
            guard word << 6 < range.upperBound else { return nil }
            bits = isShown ? ~words[word] : words[word]
        }
        let number = word << 6 + bits.trailingZeroBitCount
        return number < range.upperBound ? number : nil
    }

    /// The shown parts of `range`.
    func forEachRun(in range: Range<Int>, _ body: (Range<Int>) -> Void) {
        var number = range.lowerBound
        while let start = firstChange(in: number..<range.upperBound, from: false) {
            let end = firstChange(in: start..<range.upperBound, from: true) ?? range.upperBound
            body(start..<end)
            number = end
        }
    }
}
