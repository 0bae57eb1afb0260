import SyncModel
import Testing

/// Lists beyond the size of one block of the order they are kept in, against a plain array.
struct LargeListTests {
    private static let replica = ReplicaID(bytes: [UInt8](repeating: 7, count: ReplicaID.byteCount))!

    @Test(arguments: [1, 2, 3]) func `a long list that is moved about reads as an array does`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var document = Document<ReplicatedList<ReplicatedRegister<Int>>>(replica: Self.replica)
        var plain = Array(0..<2_000)
        document.edit(wallMilliseconds: 0) { draft in
            draft.insert(contentsOf: plain, at: 0)
        }
        for round in 0..<4_000 {
            let source = Int.random(in: plain.indices, using: &generator)
            let target = round < 2_000 ? round % plain.count : Int.random(in: plain.indices, using: &generator)
            document.edit(wallMilliseconds: 0) { draft in draft.move(from: source, to: target) }
            plain.insert(plain.remove(at: source), at: target)
        }
        #expect(document.value.map(\.value) == plain)
    }
}
