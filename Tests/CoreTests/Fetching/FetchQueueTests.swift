import LawHistories
import SyncCore
import SyncModel
import Testing

struct FetchQueueTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `the first is the best of those that are in it`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = FetchQueue()
        var plain: [BlobName: FetchRank] = [:]
        for _ in 0..<3_000 {
            let number = random.below(60)
            let blob = BulkWorld.name(number, size: UInt64(number % 5))
            switch random.below(4) {
            case 0:
                queue.remove(blob)
                plain[blob] = nil
            case 1:
                let first = queue.popFirst()
                #expect(first == plain.values.min())
                if let first { plain[first.blob] = nil }
            default:
                let rank = FetchRank(
                    isPersonal: random.once(in: 4), stamp: Stamp(rawValue: UInt64(random.below(3))), blob: blob)
                queue.insert(rank)
                plain[blob] = rank
            }
            #expect(queue.count == plain.count && queue.byteCount == plain.values.reduce(0) { $0 + $1.size })
        }
    }
}
