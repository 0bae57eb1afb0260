import LawHistories
import SyncModel
import SyncStore
import Testing

/// What every store answers about the blobs that it wants.
@Suite("Store contract: fetching")
struct FetchContractTests {
    private static let names = ["a", "b", "ccc", "dddd", "eeeee"]

    /// A store with an object that has these files, attached one after the other.
    private static func open(_ kind: StoreKind) throws -> (bed: StoreBed, store: SQLiteStore) {
        let bed = StoreBed(kind)
        let store = try bed.open()
        try store.write(.putting("box/one", "{}"))
        for name in names { try attach(name, in: store) }
        return (bed, store)
    }

    @discardableResult
    private static func attach(
        _ file: String, to name: String = "box/one", in store: SQLiteStore, at wall: Int64 = 1_000
    ) throws -> Dot {
        let outcome = try store.write(.attaching(ExactString(file), to: name), at: wall)
        return try #require(outcome.dots?.lowerBound)
    }

    // MARK: What is missing

    @Test(arguments: StoreKind.allCases)
    func `what records name and is not here is missing, small before large, newest first`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        #expect(try store.missing(of: Self.names) == ["b", "a", "ccc", "dddd", "eeeee"])
        #expect(try store.missing(of: Self.names, limit: 2) == ["b", "a"])
        #expect(try store.missing(of: Self.names, except: ["b", "ccc"], limit: 2) == ["a", "dddd"])
        #expect(try store.missing(of: Self.names, limit: 0) == [])
        #expect(try store.missingCount(of: .home) == 5)
        let newest = try #require(try store.attachments(.ofBlob(.named("b"))).first).attachment
        let missing = MissingBlob(blob: .named("b"), stamp: newest.stamp)
        #expect(try store.missingBlob(.named("b"), space: .home) == missing)
        #expect(try store.missingBlob(.named("none"), space: .home) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `what comes is not missing, and an attachment of what is here never was`(kind: StoreKind) throws {
        let (bed, store) = try Self.open(kind)
        try store.bring("b", "dddd", "later")
        #expect(try store.missing(of: Self.names) == ["a", "ccc", "eeeee"])
        try Self.attach("later", in: store)
        #expect(try store.missingCount(of: .home) == 3)
        #expect(try store.missingBlob(.named("b"), space: .home) == nil)
        bed.crash(store)
        #expect(try bed.open().missing(of: Self.names) == ["a", "ccc", "eeeee"])
    }

    @Test(arguments: StoreKind.allCases)
    func `what no record names any more is not missing`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        for one in try store.attachments() where one.attachment.file.name == "a" {
            try store.write(.detaching(one.attachment.id, from: "box/one"))
        }
        #expect(try store.missing(of: Self.names) == ["b", "ccc", "dddd", "eeeee"])
        try store.write(.putting("box/two", "{}"))
        try Self.attach("ccc", to: "box/two", in: store)
        try store.write(.deleting("box/one"))
        #expect(try store.missing(of: Self.names) == ["ccc"])
        try Self.attach("a", to: "box/two", in: store)
        #expect(try store.missing(of: Self.names) == ["a", "ccc"])
    }

    @Test(arguments: StoreKind.allCases)
    func `what an object brings back is missing again`(kind: StoreKind) throws {
        let stores = try introduced([StoreBed(kind), StoreBed(.memory, device: TestDevice(2))])
        let store = stores[0]
        try store.write(.schema("box", #"{"deletePolicy":"updateWins"}"#))
        try store.write(.putting("box/one", "{}"), .attaching("a", to: "box/one"))
        try converge(stores)
        try store.write(.deleting("box/one"))
        #expect(try store.missing(of: ["a", "b"]) == [])
        try stores[1].write(.attaching("b", to: "box/one"))
        try converge(stores)
        for store in stores { #expect(try store.missing(of: ["a", "b"]) == ["b", "a"]) }
    }

    @Test(arguments: StoreKind.allCases)
    func `the newest record says how new a blob is, and another size names another`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        let again = try Self.attach("a", in: store, at: 5_000)
        #expect(try store.missing(of: Self.names, limit: 2) == ["a", "b"])
        try store.write(.detaching(again, from: "box/one"))
        #expect(try store.missing(of: Self.names, limit: 2) == ["b", "a"])
        let other = BlobName(BlobName.named("a").hash, size: 1_000_000)
        let wrong = AttachedFile(name: "wrong", mediaType: .unknown, image: nil, blob: other)
        try store.write(.attach(ObjectKey("box/one"), wrong))
        #expect(try store.missing(of: Self.names) == ["b", "a", "ccc", "dddd", "eeeee", "another"])
        try store.bring("a")
        #expect(try store.missing(of: Self.names) == ["b", "ccc", "dddd", "eeeee", "another"])
        #expect(try store.missingBlob(other, space: .home)?.blob == other)
        #expect(try store.attachments(.ofBlob(other)).map(\.attachment.file) == [wrong])
        #expect(try !store.attachments(.ofBlob(.named("a"))).isEmpty)
        try store.expectTrueReferences()
    }

    // MARK: Policy and pins

    @Test(arguments: StoreKind.allCases)
    func `the policy says what is fetched unasked, pins what is beside it`(kind: StoreKind) throws {
        let (bed, store) = try Self.open(kind)
        #expect(try store.fetchPolicy(of: .home) == .all)
        try store.setFetchPolicy(.upTo(3), space: .home)
        #expect(try store.missing(of: Self.names) == ["b", "a", "ccc"])
        #expect(try store.pin(.named("eeeee"), space: .home))
        #expect(try store.pin(.named("a"), space: .home))
        #expect(try store.missing(of: Self.names) == ["b", "a", "ccc", "eeeee"])
        #expect(try store.missing(of: Self.names, except: ["a", "ccc"], limit: 2) == ["b", "eeeee"])
        #expect(try store.missingCount(of: .home) == 4)
        // Asked for by a person, whatever the policy.
        #expect(try store.missingBlob(.named("dddd"), space: .home)?.blob.size == 4)
        try store.setFetchPolicy(.onDemand, space: .home)
        bed.crash(store)
        let reopened = try bed.open()
        #expect(try reopened.fetchPolicy(of: .home) == .onDemand)
        #expect(try reopened.missing(of: Self.names) == ["a", "eeeee"])
        #expect(try reopened.unpin(.named("a"), space: .home))
        #expect(try !reopened.unpin(.named("a"), space: .home))
        #expect(try reopened.missing(of: Self.names) == ["eeeee"])
        try reopened.setFetchPolicy(.upTo(0), space: .home)
        try Self.attach("", in: reopened)
        #expect(try reopened.missing(of: Self.names + [""]) == ["", "eeeee"])
        try reopened.setFetchPolicy(.all, space: .home)
        #expect(try reopened.missingCount(of: .home) == 6)
    }

    @Test(arguments: StoreKind.allCases)
    func `a pin holds while a record names the blob, and again if one does within the grace period`(
        kind: StoreKind
    ) throws {
        let (_, store) = try Self.open(kind)
        try store.setFetchPolicy(.onDemand, space: .home)
        #expect(try !store.pin(.named("none"), space: .home))
        #expect(try !store.isPinned(.named("none"), space: .home))
        #expect(try store.pin(.named("a"), space: .home))
        try store.bring("a")
        #expect(try store.isPinned(.named("a"), space: .home))
        try store.write(.deleting("box/one"), at: 2_000)
        #expect(try !store.isPinned(.named("a"), space: .home))
        #expect(try !store.pin(.named("b"), space: .home), "no record names it now")
        try store.write(.putting("box/two", "{}"))
        try Self.attach("a", to: "box/two", in: store)
        #expect(try store.isPinned(.named("a"), space: .home))
        try store.write(.deleting("box/two"), at: 3_000)
        #expect(try store.forgetReleased([.named("a")], of: .home) == [.named("a")])
        try store.write(.putting("box/three", "{}"))
        try Self.attach("a", to: "box/three", in: store)
        #expect(try !store.isPinned(.named("a"), space: .home))
    }

    @Test(arguments: StoreKind.allCases)
    func `a member may have what a record names, and nothing else`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        try store.bring("secret", "a")
        let asked = ["eeeee", "secret", "a", "none", "a"].map(BlobName.named)
        #expect(try store.allowed(asked, space: .home) == ["eeeee", "a", "a"].map(BlobName.named))
        #expect(try store.allowed([], space: .home) == [])
        try store.write(.deleting("box/one"))
        #expect(try store.allowed(asked, space: .home) == [], "also within the grace period")
    }

    @Test(arguments: StoreKind.allCases)
    func `the quota is kept`(kind: StoreKind) throws {
        let (bed, store) = try Self.open(kind)
        #expect(try store.quota(of: .home) == nil)
        try store.setQuota(5_000_000_000, space: .home)
        bed.crash(store)
        let reopened = try bed.open()
        #expect(try reopened.quota(of: .home) == 5_000_000_000)
        try reopened.setQuota(nil, space: .home)
        #expect(try reopened.quota(of: .home) == nil)
    }

    // MARK: Who had it last

    @Test(arguments: StoreKind.allCases)
    func `who had a blob last is known, as long as somebody may ask`(kind: StoreKind) throws {
        let (bed, store) = try Self.open(kind)
        let devices = (2...4).map { TestDevice($0).id }
        let blob = BlobName.named("a")
        #expect(try store.lastHolders(of: blob) == [])
        try store.recordHolders([blob, .named("b")], device: devices[0], at: 10_000)
        try store.recordHolder(blob, device: devices[1], at: 20_000)
        try store.recordHolder(.named("nobody's"), device: devices[2], at: 30_000)
        let both = [(devices[1], 20_000), (devices[0], 10_000)].map {
            BlobHolder(device: $0.0, notedMilliseconds: $0.1)
        }
        #expect(try store.lastHolders(of: blob) == both)
        #expect(try store.lastHolders(of: .named("nobody's")) == [])
        // Said again at once is no news; later it is, and so is a clock that was put back.
        try store.recordHolder(blob, device: devices[0], at: 10_000 + BlobHolder.resolutionMilliseconds - 1)
        #expect(try store.lastHolders(of: blob) == both)
        try store.recordHolder(blob, device: devices[0], at: 10_000 + BlobHolder.resolutionMilliseconds)
        #expect(try store.lastHolders(of: blob).map(\.device) == [devices[0], devices[1]])
        try store.recordHolder(blob, device: devices[0], at: 5_000)
        bed.crash(store)
        let reopened = try bed.open()
        #expect(try reopened.lastHolders(of: blob).map(\.notedMilliseconds) == [20_000, 5_000])
        try reopened.write(.deleting("box/one"))
        #expect(try reopened.lastHolders(of: blob).count == 2)
        _ = try reopened.forgetReleased([blob], of: .home)
        #expect(try reopened.lastHolders(of: blob) == [])
    }

    // MARK: Stores of before

    /// What a release left that named blobs by their hashes.
    static let unnaming = """
        ALTER TABLE blob_reference RENAME TO named; ALTER TABLE holder RENAME TO named_holder;
        DROP INDEX blob_reference_by_release; DROP INDEX missing_blob; DROP INDEX missing_pinned_blob;
        DROP INDEX attachment_of_blob;
        ALTER TABLE attachment ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
        UPDATE attachment SET size = (SELECT size FROM named WHERE id = reference);
        CREATE TABLE blob_reference (
            id INTEGER PRIMARY KEY, space INTEGER NOT NULL, blob BLOB NOT NULL, attachments INTEGER NOT NULL,
            released INTEGER, size INTEGER, stamp INTEGER, is_missing INTEGER NOT NULL DEFAULT 0,
            is_pinned INTEGER NOT NULL DEFAULT 0, UNIQUE (space, blob)) STRICT;
        INSERT INTO blob_reference SELECT min(id), space, blob, sum(attachments),
            iif(sum(attachments) = 0, max(released), NULL), iif(sum(attachments) = 0, NULL, min(size)), max(stamp),
            max(is_missing), max(is_pinned) FROM named GROUP BY space, blob;
        UPDATE attachment SET reference = (
            SELECT blob_reference.id FROM blob_reference JOIN named USING (space, blob)
            WHERE named.id = attachment.reference);
        CREATE TABLE holder (
            reference INTEGER NOT NULL, device BLOB NOT NULL, noted INTEGER NOT NULL, PRIMARY KEY (reference, device)
        ) STRICT, WITHOUT ROWID;
        INSERT OR IGNORE INTO holder SELECT blob_reference.id, device, noted FROM named_holder
            JOIN named ON named.id = named_holder.reference JOIN blob_reference USING (space, blob);
        DROP TABLE named; DROP TABLE named_holder;
        CREATE INDEX blob_reference_by_release ON blob_reference (space, released) WHERE released IS NOT NULL;
        CREATE INDEX attachment_of_blob ON attachment (reference, stamp, size);
        CREATE INDEX missing_blob ON blob_reference (space, size, stamp DESC, blob, is_missing) WHERE is_missing = 1;
        CREATE INDEX missing_pinned_blob ON blob_reference (space, size, stamp DESC, blob, is_missing, is_pinned)
            WHERE is_missing = 1 AND is_pinned = 1;
        """

    @Test func `a store of before names its blobs`() throws {
        let (bed, store) = try Self.open(.sqliteInTmpfs)
        let (truth, other) = (BlobName.named("a"), BlobName(BlobName.named("a").hash, size: 3))
        let wrong = AttachedFile(name: "wrong", mediaType: .unknown, image: nil, blob: other)
        try store.write(.attach(ObjectKey("box/one"), wrong))
        try store.bring("ccc", "dddd")
        for one in try store.attachments() where one.attachment.file.name == "dddd" {
            try store.write(.detaching(one.attachment.id, from: "box/one"))
        }
        for blob in [truth, other, .named("b")] { #expect(try store.pin(blob, space: .home)) }
        try store.recordHolder(truth, device: TestDevice(2).id, at: 1_000)
        let (attachments, missing) = (
            try store.attachments(), try store.missingBlobs(of: .home, except: [], limit: .max)
        )
        let references = try store.references(of: .home, after: nil, limit: .max)
        store.close()
        let steps = Schema.current.steps
        let upgraded = try bed.open(schema: Schema(steps: steps + [Self.unnaming + steps[18]]))
        #expect(try upgraded.attachments() == attachments)
        #expect(try upgraded.missingBlobs(of: .home, except: [], limit: .max) == missing)
        #expect(try upgraded.references(of: .home, after: nil, limit: .max) == references)
        for blob in [truth, other] {
            #expect(try upgraded.isPinned(blob, space: .home))
            #expect(try upgraded.lastHolders(of: blob).map(\.device) == [TestDevice(2).id])
        }
        #expect(try !upgraded.isPinned(.named("ccc"), space: .home))
        try upgraded.expectTrueReferences()
        try upgraded.bring("a")
        #expect(try upgraded.missing(of: Self.names) == ["b", "another", "eeeee"])
    }

    /// What the release left that did not know what is missing.
    private static let undoing = """
        DROP TABLE holder; DROP INDEX missing_blob; DROP INDEX missing_pinned_blob; DROP INDEX attachment_of_blob;
        CREATE INDEX attachment_of_blob ON attachment (reference, stamp);
        ALTER TABLE blob_reference DROP COLUMN size; ALTER TABLE blob_reference DROP COLUMN stamp;
        ALTER TABLE blob_reference DROP COLUMN is_missing; ALTER TABLE blob_reference DROP COLUMN is_pinned;
        ALTER TABLE space DROP COLUMN fetch_limit; ALTER TABLE space DROP COLUMN quota;
        """

    @Test func `a store of before knows what it misses`() throws {
        let (bed, store) = try Self.open(.sqliteInTmpfs)
        try Self.attach("a", in: store)
        try store.bring("ccc")
        for one in try store.attachments() where one.attachment.file.name == "dddd" {
            try store.write(.detaching(one.attachment.id, from: "box/one"))
        }
        let before = try store.missingBlobs(of: .home, except: [], limit: .max)
        #expect(before.count == 3)
        store.close()
        let steps = Schema.current.steps
        let upgraded = try bed.open(
            schema: Schema(steps: steps + [Self.unnaming + Self.undoing + steps[7] + steps[18]]))
        #expect(try upgraded.missingBlobs(of: .home, except: [], limit: .max) == before)
        try Self.attach("dddd", in: upgraded)
        #expect(try upgraded.missing(of: Self.names) == ["a", "b", "dddd", "eeeee"])
    }

    @Test func `what is derived anew leaves decisions alone`() throws {
        let (bed, store) = try Self.open(.sqliteInTmpfs)
        try store.bring("ccc")
        try store.setFetchPolicy(.upTo(1), space: .home)
        _ = try store.pin(.named("eeeee"), space: .home)
        try store.recordHolder(.named("eeeee"), device: TestDevice(2).id, at: 1_000)
        let before = try store.missingBlobs(of: .home, except: [], limit: .max)
        store.close()
        let steps = Schema.current.steps + ["UPDATE space SET derived = 0;"]
        let derived = try bed.open(schema: Schema(steps: steps))
        #expect(try derived.missingBlobs(of: .home, except: [], limit: .max) == before)
        #expect(try derived.missing(of: Self.names) == ["b", "a", "eeeee"])
        #expect(try derived.lastHolders(of: .named("eeeee")).count == 1)
    }
}
