import SyncModel
import SyncStore
import Testing

/// Objects that were created and deleted before anybody heard of them.
@Suite struct VanishedObjectTests {
    private let key = ObjectKey(collection: "notes", id: "one")

    private func put(_ title: JSONValue) -> LocalWrite {
        .planned([.put(key, ObjectWrite.Put(fields: [.init(key: "title", value: title)]))])
    }

    /// Found by the simulator: the deletion, that nobody ever heard of, stayed here and ended what came from others.
    @Test(arguments: StoreKind.allCases) func `they leave nothing that ends another's object of that id`(
        kind: StoreKind
    ) throws {
        let beds = (1...2).map { StoreBed(kind, device: TestDevice($0)) }
        let stores = try beds.map { try $0.open() }
        let members = beds.map { Operation.addMember($0.device.fact) }
        let begun = try stores[0].append([members], wallMilliseconds: 1_000).segments
        _ = try stores[1].apply(begun, wallMilliseconds: 1_000)

        try stores[1].leaveOpen()
        for write in [put("mine"), .planned([.delete(key, ifVersion: nil)])] {
            #expect(try stores[1].append([write], wallMilliseconds: 2_000).commit.segments.isEmpty)
        }
        let theirs = try stores[0].append([put("theirs")], wallMilliseconds: 2_000).commit.segments
        let sealed = try stores[1].apply(theirs, wallMilliseconds: 3_000).segments.filter {
            $0.segment.replica.device == beds[1].device.id
        }
        _ = try stores[0].apply(sealed, wallMilliseconds: 3_000)
        for store in stores {
            let object = try #require(try store.object(key, space: .home))
            #expect(object.state.mergedFields.map { $0.value.json(preferring: nil) } == ["theirs"])
            #expect(object.state.lives.deletions.isEmpty)
        }
        #expect(try stores[0].state().digest == stores[1].state().digest)
        #expect(try stores[1].recomputedDigest(of: .home) == stores[1].state().digest)
    }
}
