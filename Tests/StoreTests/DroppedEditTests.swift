import SyncModel
import SyncStore
import Testing

/// Edits that a deletion which wins has dropped, and who lists them.
@Suite struct DroppedEditTests {
    private let key = ObjectKey(collection: "notes", id: "one")

    /// Found by the simulator: in the transaction in which an edit of a dead life came, a second deletion did not see it.
    @Test(arguments: StoreKind.allCases) func `an edit that met two deletions is listed by both, however they came`(
        kind: StoreKind
    ) throws {
        let beds = (1...3).map { StoreBed(kind, device: TestDevice($0)) }
        let stores = try beds.map { try $0.open() }
        func write(_ write: ObjectWrite, by node: Int) throws -> [VerifiedSegment] {
            try stores[node].append([.planned([write])], wallMilliseconds: 1_000).commit.segments
        }
        func put(_ title: JSONValue, by node: Int) throws -> [VerifiedSegment] {
            try write(.put(key, ObjectWrite.Put(fields: [.init(key: "title", value: title)])), by: node)
        }
        let members = beds.map { Operation.addMember($0.device.fact) }
        let begun = try stores[0].append([members], wallMilliseconds: 1_000).segments + put("one", by: 0)
        for store in stores[1...] { _ = try store.apply(begun, wallMilliseconds: 1_000) }

        let first = try write(.delete(key, ifVersion: nil), by: 0)
        let edit = try put("two", by: 1)
        let second = try write(.delete(key, ifVersion: nil), by: 2)
        for (node, transactions) in [[edit + second], [first, second], [first + edit]].enumerated() {
            for segments in transactions { _ = try stores[node].apply(segments, wallMilliseconds: 1_000) }
            let object = try #require(try stores[node].object(key, space: .home))
            let listed = object.state.lives.deletions.map { $0.edited.map { [$0.replica.device: $0.count] } }
            #expect(listed == [[[beds[1].device.id: 1]], [[beds[1].device.id: 1]]], "node \(node)")
        }
    }

    /// Found by the simulator: one who took state for the edit had the deletion, and listed nothing.
    @Test(arguments: StoreKind.allCases) func `a deletion is kept until all have the edits that it dropped`(
        kind: StoreKind
    ) throws {
        let beds = (1...2).map { StoreBed(kind, device: TestDevice($0)) }
        let stores = try introduced(beds)
        func write(_ write: ObjectWrite, by node: Int) throws {
            _ = try stores[node].append([.planned([write])], wallMilliseconds: 1_000)
        }
        func put(_ title: JSONValue, by node: Int) throws {
            try write(.put(key, ObjectWrite.Put(fields: [.init(key: "title", value: title)])), by: node)
        }
        try put("one", by: 0)
        try converge(stores)
        try write(.delete(key, ifVersion: nil), by: 0)
        let withDeletion = try stores[0].vector
        try put("two", by: 1)
        try stores[0].pull(from: stores[1])
        #expect(try stores[0].collect(upTo: withDeletion, after: nil, limit: 10).objects == 0)
        #expect(try stores[0].collect(upTo: stores[0].vector, after: nil, limit: 10).objects == 1)
    }
}
