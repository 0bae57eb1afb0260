import LawHistories
import SyncModel
import SyncStore
import Testing

/// What every store answers about attachments, and about the blobs that they need.
struct AttachmentContractTests {
    private static let day: Int64 = 86_400_000

    /// A store with an object.
    private static func open(_ kind: StoreKind) throws -> (bed: StoreBed, store: SQLiteStore) {
        let bed = StoreBed(kind)
        let store = try bed.open()
        try store.write(.putting("box/one", #"{"title":"photos"}"#))
        return (bed, store)
    }

    @discardableResult
    private static func attach(
        _ file: String, to name: String = "box/one", in store: SQLiteStore, at wall: Int64 = 1_000
    ) throws -> Dot {
        let outcome = try store.write(.attaching(ExactString(file), to: name), at: wall)
        return try #require(outcome.dots?.lowerBound)
    }

    // MARK: Which there are

    @Test(arguments: StoreKind.allCases)
    func `attachments are found by object, newest first, and page by page`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        try store.write(.putting("box/two", "{}"))
        for number in 0..<5 { try Self.attach("f\(number)", in: store, at: Int64(1_000 + number)) }
        try Self.attach("other", to: "box/two", in: store, at: 5_000)
        #expect(try store.attached(to: "box/one") == ["f4", "f3", "f2", "f1", "f0"])
        #expect(try store.attached(to: "box/none") == [])
        var names: [String] = []
        var after: CanonicalKey?
        while true {
            let page = try store.attachments(.ofObject(ObjectKey("box/one")), after: after, limit: 2)
            names += page.map(\.attachment.file.name.string)
            guard let last = page.last else { break }
            after = last.attachment.key
        }
        #expect(names == ["f4", "f3", "f2", "f1", "f0"])
        #expect(try store.attachments(limit: 2).map(\.attachment.file.name.string) == ["other", "f4"])
        #expect(try store.attachments(limit: 0).isEmpty)
        #expect(try store.state().counts.attachments == 6)
        try store.expectTrueReferences()
    }

    @Test(arguments: StoreKind.allCases)
    func `many of one commit have an order too`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        try store.write((0..<9).map { .attaching(ExactString("f\($0)"), to: "box/one") }, at: 1_000)
        #expect(try store.attached(to: "box/one") == (0..<9).reversed().map { "f\($0)" })
        let third = try store.attachments()[2].attachment
        #expect(try store.attachments(after: third.key).map(\.attachment.file.name.string).first == "f5")
    }

    @Test(arguments: StoreKind.allCases)
    func `an attachment is found by the beginning of its label`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        for number in 0..<40 { try Self.attach("f\(number)", in: store) }
        let all = try store.attachments()
        #expect(Set(all.map(\.attachment.label)).count == 40)
        for one in all {
            let label = one.attachment.label
            #expect(label.utf8.count == 26)
            #expect(try store.attachments(.labelled(label)) == [one])
            #expect(try store.attachments(.labelled(label.lowercased())) == [one])
            let alike = all.filter { $0.attachment.label.hasPrefix(label.prefix(1)) }
            #expect(try store.attachments(.labelled(String(label.prefix(1)))) == alike)
        }
        for none in ["0", "%", "_", "[", "é", all[0].attachment.label + "A"] {
            #expect(try store.attachments(.labelled(none)).isEmpty, "\(none)")
        }
        #expect(try store.attachments(.labelled("")) == all)
    }

    @Test(arguments: StoreKind.allCases)
    func `all that is said of a file comes back`(kind: StoreKind) throws {
        let (bed, store) = try Self.open(kind)
        let hash = AttachedFile.named("x").blob.hash
        let files = [
            AttachedFile(name: "", mediaType: .unknown, image: nil, blob: BlobName(hash, size: 0)),
            AttachedFile(
                name: "e\u{301} 📎\u{0}.png", mediaType: try #require(MediaType("image/png")),
                image: ImageSize(width: .max, height: 1), blob: BlobName(hash, size: BlobLayout.sizeLimit)),
        ]
        for file in files { try store.write(.attach(ObjectKey("box/one"), file)) }
        #expect(try store.attachments().reversed().map(\.attachment.file) == files)
        bed.crash(store)
        #expect(try bed.open().attachments().reversed().map(\.attachment.file) == files)
    }

    // MARK: Which blobs are needed

    @Test(arguments: StoreKind.allCases)
    func `a blob is needed until the last attachment of it goes`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        #expect(try store.reference(to: "a") == nil)
        let first = try Self.attach("a", in: store)
        let second = try Self.attach("a", in: store)
        let blob = AttachedFile.named("a").blob
        #expect(try store.attachments(.ofBlob(blob)).map(\.attachment.id) == [second, first])
        #expect(try store.reference(to: "a") == BlobReference(blob: blob, attachmentCount: 2))
        try store.write(.detaching(first, from: "box/one"), at: 2_000)
        #expect(try store.reference(to: "a") == BlobReference(blob: blob, attachmentCount: 1))
        try store.write(.detaching(second, from: "box/one"), at: 3_000)
        let released = BlobReference(blob: blob, attachmentCount: 0, releasedMilliseconds: 3_000)
        #expect(try store.reference(to: "a") == released)
        #expect(try store.releasedBlobs(of: .home, before: 3_000, limit: 9).isEmpty)
        #expect(try store.releasedBlobs(of: .home, before: 3_001, limit: 9) == [released])
        // Undone within the grace period.
        try Self.attach("a", in: store, at: 4_000)
        #expect(try store.reference(to: "a") == BlobReference(blob: blob, attachmentCount: 1))
        #expect(try store.releasedBlobs(of: .home, before: .max, limit: 9).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `only what nobody needs is forgotten`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        let files = ["a", "b", "c"]
        for file in files {
            let id = try Self.attach(file, in: store)
            if file != "b" { try store.write(.detaching(id, from: "box/one"), at: file == "a" ? 9_000 : 8_000) }
        }
        let blobs = files.map { AttachedFile.named(ExactString($0)).blob }
        #expect(try store.releasedBlobs(of: .home, before: .max, limit: 9).map(\.blob) == [blobs[2], blobs[0]])
        #expect(try store.releasedBlobs(of: .home, before: .max, limit: 1).map(\.blob) == [blobs[2]])
        let all = try store.references(of: .home, after: nil, limit: 9)
        #expect(all.map(\.blob) == blobs.sorted())
        #expect(try store.references(of: .home, after: all[0].blob, limit: 1) == [all[1]])
        let unknown = AttachedFile.named("never").blob
        #expect(try store.forgetReleased([blobs[0], blobs[1], unknown], of: .home) == [blobs[0]])
        #expect(try store.forgetReleased([blobs[0]], of: .home).isEmpty)
        #expect(try store.reference(to: "a") == nil)
        #expect(try store.reference(to: "b")?.attachmentCount == 1)
        #expect(try store.reference(to: "c")?.releasedMilliseconds == 8_000)
        try Self.attach("a", in: store)
        #expect(try store.reference(to: "a")?.attachmentCount == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `what is refused leaves no trace`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        let id = try Self.attach("a", in: store)
        let before = try store.state()
        let refusal = try store.refusal(
            of: .attaching("b", to: "box/one"), .detaching(id, from: "box/one"), .attaching("c", to: "box/none"))
        #expect(refusal == WriteRefusal(step: 2, .notFound))
        #expect(try store.attached(to: "box/one") == ["a"])
        #expect(try store.reference(to: "b") == nil)
        #expect(try store.reference(to: "a")?.attachmentCount == 1)
        #expect(try store.state() == before)
    }

    // MARK: Deletion

    @Test(arguments: StoreKind.allCases)
    func `attachments go with their object, and their blobs are released then`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        try store.write(.putting("box/two", "{}"))
        try Self.attach("a", in: store)
        try Self.attach("b", in: store)
        try Self.attach("b", to: "box/two", in: store)
        try store.write(.deleting("box/one"), at: Self.day)
        #expect(try store.attachments().map(\.attachment.file.name) == ["b"])
        #expect(try store.reference(to: "a")?.releasedMilliseconds == Self.day)
        #expect(try store.reference(to: "b")?.attachmentCount == 1)
        #expect(try store.refusal(of: .attaching("c", to: "box/one"))?.reason == .deleted)
        #expect(try store.recomputedDigest(of: .home) == store.state().digest)
        try store.expectTrueReferences()
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that comes back brings its attachments`(kind: StoreKind) throws {
        let stores = try introduced([StoreBed(kind), StoreBed(.memory, device: TestDevice(2))])
        try stores[0].write(.schema("box", #"{"deletePolicy":"updateWins"}"#))
        try stores[0].write(.putting("box/one", "{}"))
        try Self.attach("a", in: stores[0])
        try converge(stores)
        try stores[0].write(.deleting("box/one"), at: 7_000)
        #expect(try stores[0].reference(to: "a")?.releasedMilliseconds == 7_000)
        try Self.attach("b", in: stores[1], at: 9_000)
        try converge(stores)
        for store in stores {
            #expect(try store.attached(to: "box/one") == ["b", "a"])
            #expect(try store.reference(to: "a")?.releasedMilliseconds == nil)
            #expect(try store.recomputedDigest(of: .home) == store.state().digest)
            try store.expectTrueReferences()
        }
        #expect(try stores[0].state().digest == stores[1].state().digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `lives begun apart show what is attached to either`(kind: StoreKind) throws {
        let stores = try introduced([StoreBed(kind), StoreBed(.memory, device: TestDevice(2))])
        for (store, file) in zip(stores, ["a", "b"]) {
            try store.write(.putting("box/one", "{}"), .attaching(ExactString(file), to: "box/one"))
        }
        try converge(stores)
        for store in stores {
            #expect(Set(try store.attached(to: "box/one")) == ["a", "b"])
            for one in try store.attachments() where one.attachment.file.name == "a" {
                try store.write(.detaching(one.attachment.id, from: "box/one"))
            }
            #expect(try store.attached(to: "box/one") == ["b"])
            try store.expectTrueReferences()
        }
    }

    // MARK: Open and sealed

    @Test(arguments: StoreKind.allCases)
    func `what was attached and detached alone is not told to anybody`(kind: StoreKind) throws {
        let (_, store) = try Self.open(kind)
        try store.leaveOpen()
        let id = try Self.attach("a secret name of a file", in: store)
        try Self.attach("b", in: store)
        try store.write(.detaching(id, from: "box/one"), at: 5_000)
        let before = try store.state()
        let sealed = try store.seal()
        let bytes = sealed.segments.flatMap(\.segment.bytes)
        let isTold = String(decoding: bytes, as: UTF8.self).contains("secret")
        // Of a large object nothing is left out.
        #expect(isTold == (kind == .sqliteOfLargeObjects))
        #expect(try store.attached(to: "box/one") == ["b"])
        #expect(try store.state().digest == before.digest)
        #expect(try store.state().counts.attachments == 1)
        #expect(try store.reference(to: "a secret name of a file")?.releasedMilliseconds == 5_000)
        let other = try StoreBed(.memory, device: TestDevice(2)).open()
        try other.pull(from: store)
        #expect(try other.attachments() == store.attachments())
        #expect(try other.state().digest == store.state().digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that nobody heard of leaves its blobs to the grace period`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.leaveOpen()
        try store.write(.putting("box/one", "{}"), .attaching("a", to: "box/one"))
        try store.write(.deleting("box/one"), at: 6_000)
        _ = try store.seal()
        #expect(try store.attachments().isEmpty)
        #expect(try store.reference(to: "a")?.releasedMilliseconds == 6_000)
        #expect(try store.state().counts.attachments == 0)
        try store.expectTrueReferences()
    }
}
