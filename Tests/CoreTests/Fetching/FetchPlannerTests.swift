import LawHistories
import SyncCore
import SyncModel
import Testing

/// What is given out: nothing twice, what a person waits for first, and the search against a plain one.
struct FetchPlannerTests {
    private static func device(_ number: Int) -> DeviceID {
        DeviceID(bytes: [UInt8](repeating: UInt8(number), count: DeviceID.byteCount))!
    }

    private static func rank(_ blob: BlobName, isPersonal: Bool = false) -> FetchRank {
        FetchRank(isPersonal: isPersonal, stamp: Stamp(rawValue: 1), blob: blob)
    }

    private static func blob(_ number: Int = 1, chunks: Int) -> BlobName {
        BulkWorld.name(number, size: UInt64(chunks * BlobLayout.chunkBytes))
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `each chunk is given out once, to one who holds it, as a plain search would`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var planner = FetchPlanner()
        let count = 1 + random.below(400)
        var holders: [Int: Set<Int>] = [:]
        var free = Set(0..<count)
        var claimed: [Int] = []
        let blob = Self.blob(chunks: count)
        planner.begin(Self.rank(blob), present: ChunkSet(count: count))
        for _ in 0..<600 {
            let peer = random.below(4)
            switch random.below(8) {
            case 0:
                var chunks = ChunkSet(count: count)
                holders[peer] = Set((0..<count).filter { _ in random.once(in: 3) })
                for chunk in holders[peer] ?? [] { chunks.insert(chunk) }
                planner.offered(blob, by: Self.device(peer), chunks)
            case 1:
                holders[peer] = nil
                planner.withdrawn(blob, by: Self.device(peer))
            case 2, 3:
                guard !claimed.isEmpty else { continue }
                let chunk = claimed.remove(at: random.below(claimed.count))
                if random.once(in: 2) {
                    planner.release(blob, chunk: chunk)
                    free.insert(chunk)
                } else {
                    let isNew = planner.came(blob, chunk: chunk)
                    #expect(isNew)
                }
            default:
                let limit = 1 + random.below(8)
                let first = free.intersection(holders[peer] ?? []).min()
                let given = planner.next(from: Self.device(peer), limit: limit)
                #expect(given?.chunks.lowerBound == first)
                guard let chunks = given?.chunks else { continue }
                #expect(chunks.count <= limit && free.isSuperset(of: chunks))
                #expect((holders[peer] ?? []).isSuperset(of: chunks))
                free.subtract(chunks)
                claimed += chunks
            }
        }
    }

    @Test func `what a person waits for goes first, the others take turns`() {
        var planner = FetchPlanner()
        let blobs = (1...3).map { Self.blob($0, chunks: 9) }
        for blob in blobs {
            planner.begin(Self.rank(blob), present: ChunkSet(count: 9))
            planner.offered(blob, by: Self.device(1), nil)
        }
        let turns = (0..<6).map { _ in planner.next(from: Self.device(1), limit: 1)?.blob }
        #expect(turns == blobs + blobs)
        planner.rerank(Self.rank(blobs[2], isPersonal: true))
        let personal = (0..<8).map { _ in planner.next(from: Self.device(1), limit: 1)?.blob }
        #expect(personal.prefix(7).allSatisfy { $0 == blobs[2] })
        #expect(personal[7] != blobs[2])
    }

    @Test func `one that comes after others is only asked for what they have not`() {
        var planner = FetchPlanner()
        let blob = Self.blob(chunks: 4)
        planner.begin(Self.rank(blob), present: ChunkSet(count: 4))
        var chunks = ChunkSet(count: 4)
        chunks.insert(0)
        planner.offered(blob, by: Self.device(1), nil)
        planner.offered(blob, by: Self.device(2), chunks)
        let early = planner.next(from: Self.device(1), limit: 4, before: [Self.device(2)])
        #expect(early == nil)
        let quick = planner.next(from: Self.device(2), limit: 4)
        #expect(quick?.chunks == 0..<1)
        let late = planner.next(from: Self.device(1), limit: 4, before: [Self.device(2)])
        #expect(late?.chunks == 1..<4)
    }
}
