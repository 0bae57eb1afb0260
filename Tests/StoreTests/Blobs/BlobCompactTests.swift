import Foundation
import LawHistories
import SyncModel
import SyncStore
import Testing

/// Blobs that real records name: what goes, when, and what is given back.
@Suite("Blobs: records that need them, and compact")
struct BlobCompactTests {
    private let clock = SetClock()
    private let bed = StoreBed(.sqliteInTmpfs)

    /// A store with an object that has these files, the bytes of `here` among them at rest.
    private func open(_ names: [String], here: [String]) throws -> (store: SQLiteStore, blobs: BlobStore) {
        let store = try bed.open()
        let blobs = try store.blobs(clock: clock)
        try store.write(.putting("box/one", "{}"))
        try store.write(names.map { .attaching(ExactString($0), to: "box/one") }, at: clock.now)
        _ = try blobs.add(here.map(AttachedFile.bytes))
        return (store, blobs)
    }

    @Test func `what a record names stays, and goes a grace period after the last of them`() throws {
        let (store, blobs) = try open(["a", "b"], here: ["a"])
        let hash = BlobName.named("a")
        _ = try store.pin(hash, space: .home)
        try store.recordHolder(hash, device: TestDevice(2).id, at: clock.now)
        clock.advance(hours: 1_000)
        #expect(try blobs.sweep() == BlobSweep())
        try store.write(.deleting("box/one"), at: clock.now)
        clock.advance(hours: 23)
        #expect(try blobs.sweep() == BlobSweep())
        #expect(try store.reference(to: "a") != nil)
        clock.advance(hours: 1)
        #expect(try blobs.sweep().blobCount == 1)
        // Nothing is left that nobody would ever take away.
        #expect(try store.references(of: .home, after: nil, limit: 9) == [])
        #expect(try store.lastHolders(of: hash) == [])
        try store.write(.putting("box/two", "{}"), .attaching("a", to: "box/two"), at: clock.now)
        #expect(try store.missing(of: ["a"]) == ["a"])
    }

    @Test func `a blob that is detached and attached again within the grace period is here`() throws {
        let (store, blobs) = try open(["a"], here: ["a"])
        clock.advance(hours: 100)
        try store.write(.deleting("box/one"), at: clock.now)
        clock.advance(hours: 23)
        try store.write(.putting("box/two", "{}"), .attaching("a", to: "box/two"), at: clock.now)
        clock.advance(hours: 100)
        #expect(try blobs.sweep() == BlobSweep())
        #expect(try blobs.bytes(of: .named("a")) == AttachedFile.bytes(of: "a"))
        #expect(try store.missing(of: ["a"]) == [])
    }

    @Test func `what is missing says whether it was begun`() throws {
        let (store, blobs) = try open(["a", "b"], here: [])
        _ = try blobs.begin(AttachedFile.bytes(of: "a"))
        #expect(try store.missingBlob(.named("a"), space: .home)?.isBegun == true)
        #expect(try store.missingBlob(.named("b"), space: .home)?.isBegun == false)
        let begun = try store.missingBlobs(of: .home, except: [], limit: 9).filter(\.isBegun)
        #expect(begun.map(\.blob) == [.named("a")])
    }

    @Test func `the reference of a part that is still fetched is kept with it`() throws {
        let (store, blobs) = try open(["a", "b"], here: [])
        do {
            let partial = try #require(try blobs.begin(AttachedFile.bytes(of: "a")))
            try store.write(.deleting("box/one"), at: clock.now)
            clock.advance(hours: 48)
            #expect(try blobs.sweep().blobCount == 0)
            #expect(try store.references(of: .home, after: nil, limit: 9).map(\.blob) == [partial.blob])
        }
        #expect(try blobs.sweep().blobCount == 1)
        #expect(try store.references(of: .home, after: nil, limit: 9) == [])
    }

    @Test func `the quota of the space holds for what comes, from the next start on as well`() throws {
        let (store, blobs) = try open(["a"], here: ["a"])
        try blobs.setQuota(100, of: .home)
        #expect(try store.quota(of: .home) == 100)
        #expect(throws: BlobError.quotaExceeded(quota: 100, needed: 201)) {
            try blobs.add([BlobBytes.some(200, seed: 1)])
        }
        let reopened = try store.blobs(clock: clock, run: 2)
        #expect(throws: BlobError.quotaExceeded(quota: 100, needed: 201)) {
            try reopened.begin(BlobBytes.some(200, seed: 1))
        }
        try reopened.setQuota(nil, of: .home)
        _ = try reopened.add([BlobBytes.some(200, seed: 1)])
    }

    @Test func `compact gives back what blobs took, in the database, too`() throws {
        let (store, blobs) = try open(["a"], here: ["a"])
        let contents = (0..<400).map { BlobBytes.some(20_000, seed: UInt64($0) + 1) }
        _ = try blobs.add(contents)
        clock.advance(hours: 48)
        let sweep = try blobs.compact()
        #expect(sweep.blobCount == 400 && sweep.blobBytes == 8_000_000)
        #expect(sweep.databaseBytes >= 7_500_000)
        let attributes = try FileManager.default.attributesOfItem(atPath: bed.directory + "/lanyard.sqlite")
        #expect(try #require(attributes[.size] as? Int) < 1_000_000)
        #expect(try blobs.compact() == BlobSweep())
        #expect(try blobs.bytes(of: .named("a")) == AttachedFile.bytes(of: "a"))
        try store.checkIntegrity()
    }
}
