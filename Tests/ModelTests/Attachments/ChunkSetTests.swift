import SyncModel
import Testing

/// A set of chunks against a set of numbers.
struct ChunkSetTests {
    @Test(arguments: [0, 1, 7, 8, 63, 64, 65, 200, 4096])
    func `it is a set of numbers`(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count + 1))
        var chunks = ChunkSet(count: count)
        var numbers: Set<Int> = []
        for _ in 0..<count * 3 {
            let number = Int.random(in: 0..<count, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                chunks.remove(number)
                numbers.remove(number)
            } else {
                #expect(chunks.insert(number) == numbers.insert(number).inserted)
            }
        }
        #expect(chunks.presentCount == numbers.count)
        #expect((0..<count).allSatisfy { chunks.contains($0) == numbers.contains($0) })
        #expect(!chunks.contains(-1) && !chunks.contains(count))
        for start in 0...count {
            #expect(chunks.firstMissing(from: start) == (start..<count).first { !numbers.contains($0) })
        }
        #expect(chunks.isComplete == (numbers.count == count))
        #expect(ChunkSet(bytes: chunks.bytes, count: count) == chunks)
    }

    @Test func `bytes of another set are none of this`() {
        #expect(ChunkSet(bytes: [0xff], count: 7) == nil, "a bit behind the last chunk")
        #expect(ChunkSet(bytes: [0xff, 0], count: 8) == nil)
        #expect(ChunkSet(bytes: [], count: 1) == nil)
        #expect(ChunkSet(bytes: [0x7f], count: 7)?.isComplete == true)
        #expect(ChunkSet(bytes: [], count: -1) == nil)
    }
}
