import LawHistories
import SyncModel
import SyncStore
import Testing

/// The bytes of files that were attached by work which is void now.
@Suite struct VoidAttachmentTests {
    private func isHere(_ name: String, _ blobs: BlobStore) throws -> Bool {
        try blobs.status(of: .named(name)) == .whole
    }

    /// Sweeps after as long as it takes for unneeded bytes to go.
    private func sweep(_ blobs: BlobStore, _ clock: SetClock) throws {
        clock.advance(hours: 25)
        _ = try blobs.sweep()
    }

    /// 0, whose store is of the kind, attached a file while it was away, and 1 retires it.
    private func retired(_ kind: StoreKind) throws -> (stores: [SQLiteStore], blobs: BlobStore, clock: SetClock) {
        let stores = try introduced(kind, count: 3)
        try converge(stores)
        let clock = SetClock()
        let blobs = try stores[0].blobs(clock: clock)
        _ = try blobs.add(["picture", "draft"].map(AttachedFile.bytes))
        try stores[0].write(.putting("note/1", #"{"title":"mine"}"#))
        try stores[0].write(.attaching("picture", to: "note/1"))
        _ = try stores[1].append([.retire(TestDevice(1).id)], wallMilliseconds: clock.now)
        let missing = try stores[0].missing(from: stores[1])
        _ = try stores[0].apply(missing, wallMilliseconds: clock.now)
        return (stores, blobs, clock)
    }

    @Test(arguments: StoreKind.allCases)
    func `of a retired device they stay until it has written its work again, however long that takes`(
        kind: StoreKind
    ) throws {
        let (stores, blobs, clock) = try retired(kind)
        #expect(try stores[0].reference(to: "picture")?.attachmentCount == 0, "no record names it")
        for days in 1...3 {
            try sweep(blobs, clock)
            #expect(try isHere("picture", blobs), "after \(days) days")
        }
        #expect(try !isHere("draft", blobs), "a file without an attachment goes")
        _ = try stores[1].append([[.addMember(TestDevice(1).fact)]], wallMilliseconds: clock.now)
        try stores[0].pull(from: stores[1])
        while try stores[0].rewriteVoid(limit: 1, wallMilliseconds: clock.now).hasMore {}
        #expect(try stores[0].attached(to: "note/1") == ["picture"])
        try stores[0].write(.deleting("note/1"), at: clock.now)
        try sweep(blobs, clock)
        #expect(try !isHere("picture", blobs), "its own end is not delayed")
    }

    @Test(arguments: StoreKind.allCases)
    func `of a revoked device they stay while its work can be accepted`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 3)
        try converge(stores)
        let replica = try #require(try stores[1].state().ownReplica)
        let end = try stores[1].vector.next(of: replica)
        let clock = SetClock()
        let blobs = try stores[0].blobs(clock: clock)
        _ = try blobs.add([AttachedFile.bytes(of: "picture")])
        try stores[1].write(.putting("note/1", #"{"title":"theirs"}"#))
        try stores[1].write(.attaching("picture", to: "note/1"))
        try stores[0].pull(from: stores[1])
        #expect(try stores[0].attached(to: "note/1") == ["picture"])
        _ = try stores[0].apply([], judging: [replica: end], wallMilliseconds: clock.now)
        #expect(try stores[0].attachments().isEmpty)
        try sweep(blobs, clock)
        #expect(try isHere("picture", blobs))
    }
}
