import SyncModel
import SyncStore
import Testing

/// One change may let in a few dozen devices; what it says of more is void, on every node alike.
@Suite struct InventedMemberTests {
    @Test(arguments: StoreKind.allCases)
    func `of a change that lets in a hundred devices the first 64 count`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 2)
        let before = try stores[0].state().additions.count
        let facts = (10..<110).map { SyncModel.Operation.addMember(TestDevice(UInt8($0)).fact) }
        let written = try stores[1].append([.operations(facts)], wallMilliseconds: 1)
        #expect(written.commit.additions.count == 64)
        try stores[0].pull(from: stores[1])
        #expect(try stores[0].state().additions.count == before + 64)
        #expect(try Set(stores[0].state().additions) == Set(stores[1].state().additions))
        #expect(try stores[0].state().digest == stores[1].state().digest)
    }
}
