import SyncModel
import SyncSimulator
import SyncStore
import Testing

@Suite("Blobs: asked for by peers, and taken from them")
struct BlobServingTests {
    private static let large = BlobBytes.some(2 * BlobLayout.chunkBytes + 1_000, seed: 1)
    private static let small = (0..<5).map { BlobBytes.some(1_000 + $0, seed: UInt64($0) + 10) }

    // MARK: Small ones

    @Test func `of small blobs that come together each is judged alone, and the right ones are kept`() throws {
        let blobs = try BlobBed().open()
        let hashes = Self.small.map(BlobBytes.hash)
        var wrong = Self.small[1]
        wrong[7] ^= 1
        let tooLarge = BlobBytes.some(70_000, seed: 2)
        let received = try blobs.receive([
            (hashes[0], Self.small[0]), (hashes[1], wrong), (BlobBytes.hash(tooLarge), tooLarge),
            (hashes[2], Self.small[2]), (hashes[2], Self.small[2]), (BlobBytes.hash([]), []),
        ])
        #expect(received.right == [hashes[0], hashes[2], hashes[2], BlobBytes.hash([])])
        #expect(received.wrong == [hashes[1], BlobBytes.hash(tooLarge)])
        #expect(try blobs.bytes(of: hashes[2]) == Self.small[2])
        #expect(try blobs.status(of: hashes[1]) == .missing)
        let usage = try blobs.usage()
        #expect(usage.wholeCount == 3 && usage.claimedBytes == 2_002)
        #expect(try blobs.receive([]) == ReceivedBlobs())
    }

    @Test func `the same check finds the planted bug of taking bytes unseen`() throws {
        let blobs = try BlobBed().open(.skipChunkHash)
        #expect(try blobs.receive([(BlobBytes.hash([1]), [2])]).wrong == [])
    }

    @Test func `small blobs that have no room are refused together`() throws {
        let blobs = try BlobBed().open { $0.quotaBytes = 1_500 }
        let batch = Self.small[..<2].map { (name: BlobBytes.hash($0), bytes: $0) }
        #expect(throws: BlobError.quotaExceeded(quota: 1_500, needed: 2_001)) { try blobs.receive(batch) }
        #expect(try blobs.usage() == BlobUsage())
        _ = try blobs.receive([batch[0]])
        // What is here costs nothing.
        #expect(try blobs.receive([batch[0]]).right == [batch[0].name])
    }

    @Test func `small blobs are read in one go, up to the budget, and what is not here is left out`() throws {
        let blobs = try BlobBed().open()
        let hashes = try blobs.add(Self.small)
        let large = try blobs.add(Self.large)
        let none = BlobBytes.hash([99])
        var read = try blobs.readSmall([none, hashes[0], large, hashes[1], hashes[2]], byteBudget: 2_001)
        #expect(read.blobs.map(\.index) == [1, 3] && read.nextIndex == 4)
        #expect(read.blobs.map(\.bytes) == Array(Self.small[..<2]))
        // One at least, however little is asked for.
        read = try blobs.readSmall([none, hashes[4], hashes[3]], byteBudget: 0)
        #expect(read.blobs.map(\.index) == [1] && read.nextIndex == 2)
        read = try blobs.readSmall([none, large, none], byteBudget: 100)
        #expect(read.blobs == [] && read.nextIndex == 3)
        #expect(try blobs.readSmall([], byteBudget: 100) == SmallBlobs())
    }

    @Test func `a small blob that came by chunks is read as all others, an empty one too`() throws {
        let blobs = try BlobBed().open()
        for bytes in [Self.small[0], []] {
            let partial = try #require(try blobs.begin(bytes))
            for chunk in 0..<partial.layout.chunkCount { try partial.write(chunk, of: bytes) }
            try partial.complete()
        }
        let read = try blobs.readSmall([Self.small[0], []].map(BlobBytes.hash), byteBudget: 10_000)
        #expect(read.blobs.map(\.bytes) == [Self.small[0], []])
    }

    @Test func `a small blob that has rotted is not handed over, and the others are`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open()
        let partial = try #require(try blobs.begin(Self.small[0]))
        try partial.write(0, of: Self.small[0])
        try partial.complete()
        folder.rot(.whole(partial.blob.hash), at: 5)
        let other = try blobs.add(Self.small[1])
        let read = try blobs.readSmall([partial.blob, other], byteBudget: 1)
        #expect(read.blobs == [SmallBlobs.Blob(index: 1, bytes: Self.small[1])] && read.nextIndex == 2)
        #expect(read.unreadable == [partial.blob])
        #expect(try blobs.status(of: partial.blob) != .whole)
    }

    // MARK: Large ones

    @Test(arguments: [small[0], large]) func `the hash of a blob with another size names nothing that is here`(
        bytes: [UInt8]
    ) throws {
        let blobs = try BlobBed().open()
        let truth = try blobs.add(bytes)
        let other = BlobName(truth.hash, size: truth.size + 1)
        #expect(try blobs.status(of: other) == .missing && blobs.holdings(of: [other, truth]) == [.nothing, .all])
        #expect(try blobs.chunks(of: other) == nil && blobs.resumePartial(other) == nil && !blobs.touch(other))
        #expect(try blobs.readSmall([other], byteBudget: 9).blobs.isEmpty)
        #expect(throws: BlobError.notHere(other)) { try blobs.readChunk(0, of: other) }
        #expect(throws: BlobError.wrongHashes(other)) { try blobs.beginPartial(other, BlobBytes.chunks(bytes)) }
        #expect(try blobs.receive([(name: other, bytes: bytes)]).wrong == [other])
        #expect(try blobs.bytes(of: truth) == bytes)
    }

    @Test func `how much is held of each is told in one look`() throws {
        let blobs = try BlobBed().open()
        let whole = try blobs.add(Self.small[0])
        let partial = try #require(try blobs.begin(Self.large))
        let none = BlobBytes.hash([99])
        #expect(
            try blobs.holdings(of: [none, partial.blob, whole]) == [.nothing, .chunks(ChunkSet(count: 3)), .all])
        #expect(try blobs.wholeName(of: whole.hash) == whole)
        #expect(try blobs.wholeName(of: partial.blob.hash) == nil && blobs.wholeName(of: none.hash) == nil)
        try partial.write(1, of: Self.large)
        var expected = ChunkSet(count: 3)
        expected.insert(1)
        #expect(try blobs.holdings(of: [partial.blob, none]) == [.chunks(expected), .nothing])
        #expect(try blobs.readChunk(1, of: partial.blob) == BlobBytes.chunk(1, of: Self.large))
        #expect(throws: BlobError.notHere(partial.blob)) { try blobs.readChunk(0, of: partial.blob) }
        for chunk in [0, 2] { try partial.write(chunk, of: Self.large) }
        try partial.complete()
        #expect(try blobs.holdings(of: [partial.blob]) == [.all])
        #expect(try blobs.readChunk(2, of: partial.blob) == BlobBytes.chunk(2, of: Self.large))
    }

    @Test func `chunks of more blobs than files stay open are read in any order`() throws {
        let bed = BlobBed()
        let blobs = try bed.open { $0.smallBytes = 100 }
        let contents = (0..<40).map { BlobBytes.some(300 + $0, seed: UInt64($0) + 1) }
        let hashes = try blobs.add(contents)
        for round in 0..<3 {
            for (bytes, hash) in zip(contents, hashes) where round != 1 || bytes.count % 3 == 0 {
                #expect(try blobs.readChunk(0, of: hash) == bytes)
                #expect(throws: BlobError.notHere(hash)) { try blobs.readChunk(1, of: hash) }
            }
        }
        // Swept: nothing of it is handed over from a file that is still open.
        bed.clock.advance(hours: 48)
        #expect(try blobs.sweep().blobCount == 40)
        for hash in hashes { #expect(throws: BlobError.notHere(hash)) { try blobs.readChunk(0, of: hash) } }
    }

    @Test func `what is damaged while its file is open is found, and right again once it is repaired`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open()
        let hash = try blobs.add(Self.large)
        #expect(try blobs.readChunk(0, of: hash) == BlobBytes.chunk(0, of: Self.large))
        folder.rot(.whole(hash.hash), at: BlobLayout.chunkBytes + 1)
        #expect(throws: BlobError.damaged(hash)) { try blobs.readChunk(1, of: hash) }
        #expect(throws: BlobError.notHere(hash)) { try blobs.readChunk(0, of: hash) }
        let partial = try #require(try blobs.resumePartial(hash))
        #expect(try blobs.readChunk(0, of: hash) == BlobBytes.chunk(0, of: Self.large), "served while it is repaired")
        try partial.write(1, of: Self.large)
        try partial.complete()
        #expect(try blobs.readChunk(1, of: hash) == BlobBytes.chunk(1, of: Self.large))
    }
}
