extension Histories {
    /// Up to 512 numbers: changes, facts, works or devices of one world.
    package struct Bits: Hashable, Sendable, Sequence, ExpressibleByArrayLiteral {
        package static let limit = 512
        private var words = SIMD8<UInt64>()

        package init() {}
        package init(arrayLiteral elements: Int...) { self.init(elements) }
        package init(_ numbers: some Sequence<Int>) { for number in numbers { insert(number) } }

        package var isEmpty: Bool { words == SIMD8() }
        package var count: Int { words.indices.reduce(0) { $0 + words[$1].nonzeroBitCount } }
        package var first: Int? { first { _ in true } }
        package var last: Int? { reversed().first }
        package func contains(_ number: Int) -> Bool { words[number >> 6] >> UInt64(number & 63) & 1 == 1 }
        package mutating func insert(_ number: Int) { words[number >> 6] |= 1 << UInt64(number & 63) }
        package func isSubset(of other: Bits) -> Bool { words & ~other.words == SIMD8() }

        package static func & (left: Self, right: Self) -> Self { Bits(left.words & right.words) }
        package static func | (left: Self, right: Self) -> Self { Bits(left.words | right.words) }
        package static func - (left: Self, right: Self) -> Self { Bits(left.words & ~right.words) }
        package static func |= (left: inout Self, right: Self) { left.words |= right.words }
        package static func &= (left: inout Self, right: Self) { left.words &= right.words }
        package static func -= (left: inout Self, right: Self) { left.words &= ~right.words }

        private init(_ words: SIMD8<UInt64>) { self.words = words }

        /// The numbers, ascending.
        package func makeIterator() -> Iterator { Iterator(words: words, word: words[0]) }
        package struct Iterator: IteratorProtocol {
            let words: SIMD8<UInt64>
            var word: UInt64
            var index = 0

            package mutating func next() -> Int? {
                while word == 0 {
                    guard index < 7 else { return nil }
                    index += 1
                    word = words[index]
                }
                defer { word &= word &- 1 }
                return index << 6 | word.trailingZeroBitCount
            }
        }
    }
}
