import Crypto
import SyncModel
import Testing

@Suite struct Sum256Tests {
    @Test(arguments: 0..<20) func `terms added and taken away in any order leave what remains`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let terms = (0..<50).map { _ in Sum256(bytes: random.bytes(32))! }
        let removed = terms.prefix(Int(random.next() % 50))
        var sum = Sum256.zero
        let steps = (terms.map { ($0, true) } + removed.map { ($0, false) }).shuffled(using: &random)
        for (term, isAdded) in steps { if isAdded { sum += term } else { sum -= term } }
        var expected = Sum256.zero
        for term in terms.dropFirst(removed.count).reversed() { expected += term }
        #expect(sum == expected)
        for term in terms.dropFirst(removed.count) { sum -= term }
        #expect(sum == .zero)
    }

    @Test(arguments: 0..<20) func `addition carries like long addition on paper`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            // Bytes of 0 and 255 make carries run far.
            let left = (0..<32).map { _ in [0, 255, UInt8(truncatingIfNeeded: random.next())][Int(random.next() % 3)] }
            let right = (0..<32).map { _ in [0, 255, 1][Int(random.next() % 3)] as UInt8 }
            var sum = Sum256(bytes: left)!
            sum += Sum256(bytes: right)!
            var carry = 0
            let paper = zip(left, right).map { a, b in
                let digit = Int(a) + Int(b) + carry
                carry = digit >> 8
                return UInt8(digit & 255)
            }
            #expect(sum.bytes == paper)
        }
    }

    @Test func `a hash is read little-endian and written back as it was`() {
        let hash = SHA256.hash(data: Array("x".utf8))
        #expect(Sum256(hash).bytes == Array(hash))
        #expect(Sum256(bytes: Array(hash)) == Sum256(hash))
        #expect(Sum256(bytes: [1, 2]) == nil)
    }
}
