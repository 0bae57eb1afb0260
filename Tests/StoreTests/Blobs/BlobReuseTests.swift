import SyncModel
import SyncStore
import Testing

@Suite("Blobs: chunks that are here under another name")
struct BlobReuseTests {
    private static let old = BlobBytes.some(6 * BlobLayout.chunkBytes, seed: 1)
    private static let chunkBytes = BlobLayout.chunkBytes

    /// The chunks that are present after the search, of a blob that is begun beside `old`.
    private func reused(of bytes: [UInt8], _ bed: BlobBed = BlobBed(), limit: Int = 64) throws -> [Int] {
        let blobs = try bed.open()
        defer { bed.close() }
        _ = try blobs.add(Self.old)
        let partial = try #require(try blobs.begin(bytes))
        try reuse(blobs, partial, limit: limit)
        let present = try partial.present()
        return (0..<partial.layout.chunkCount).filter(present.contains)
    }

    private func reuse(_ blobs: BlobStore, _ partial: BlobPartial, limit: Int = 64) throws {
        var next: Int? = 0
        while let first = next {
            next = try blobs.reuseChunks(for: partial, from: first, limit: limit)
            if let next { #expect(next == first + limit) }
        }
    }

    @Test func `of a file that grew, only what was appended is missing`() throws {
        #expect(try reused(of: Self.old + [1, 2, 3, 4]) == [0, 1, 2, 3, 4, 5])
    }

    @Test func `of a file that was changed in place, only the changed chunks are missing`() throws {
        var bytes = Self.old
        bytes[2 * Self.chunkBytes] ^= 1
        bytes[5 * Self.chunkBytes + 7] ^= 1
        #expect(try reused(of: bytes) == [0, 1, 3, 4])
        #expect(try reused(of: bytes, limit: 1) == [0, 1, 3, 4], "slice by slice")
    }

    @Test func `a chunk is found wherever it stands in the other file`() throws {
        let bytes = Array(Self.old[(3 * Self.chunkBytes)...]) + Array(Self.old[..<(2 * Self.chunkBytes)])
        #expect(try reused(of: bytes) == [0, 1, 2, 3, 4])
    }

    @Test func `the blob is completed with the rest, also after the process was killed in between`() throws {
        let bed = BlobBed()
        let bytes = Self.old + [1, 2, 3, 4]
        #expect(try reused(of: bytes, bed).count == 6)
        let blobs = try bed.open()
        let partial = try #require(try blobs.resumePartial(BlobBytes.hash(bytes)))
        #expect(try partial.present().presentCount == 6)
        try partial.write(6, of: bytes)
        try partial.complete()
        #expect(try blobs.bytes(of: BlobBytes.hash(bytes)) == bytes)
        #expect(try blobs.bytes(of: BlobBytes.hash(Self.old)) == Self.old)
    }

    @Test func `nothing is taken from a blob that is partial, removed or damaged`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let grown = Self.old + [1]
        let source = try #require(try blobs.begin(Self.old))
        try source.write(0, of: Self.old)
        let partial = try #require(try blobs.begin(grown))
        try reuse(blobs, partial)
        #expect(try partial.present().presentCount == 0, "a part may not survive a loss of power")

        for chunk in 1..<6 { try source.write(chunk, of: Self.old) }
        try source.complete()
        let file = try #require(try bed.files.open(.whole(BlobBytes.hash(Self.old).hash)))
        let wrong = [Self.old[0] ^ 1]
        try wrong.withUnsafeBufferPointer { byte throws(BlobError) in
            try file.write(UnsafeRawBufferPointer(byte), at: 0)
        }
        try reuse(blobs, partial)
        let present = try partial.present()
        #expect(!present.contains(0))
        #expect(try blobs.status(of: BlobBytes.hash(Self.old)) != .whole, "whoever needs it fetches it anew")
    }

    @Test func `a blob that goes takes its places with it`() throws {
        let bed = BlobBed()
        var blobs = try bed.open()
        _ = try blobs.add(Self.old)
        // The check at the end can fail.
        #expect(throws: StoreError.self) { try bed.reopen(adding: Self.expectNoPlaces) }
        blobs = try bed.open()
        bed.clock.advance(hours: 24 * 60)
        #expect(try blobs.sweep().blobCount == 1)
        try bed.reopen(adding: Self.expectNoPlaces)
    }

    private static let expectNoPlaces = """
        CREATE TABLE places (count INTEGER CHECK (count = 0));
        INSERT INTO places SELECT count(*) FROM chunk_place;
        """

    @Test func `a store of before gets the places of what it has`() throws {
        let bed = BlobBed()
        _ = try bed.open().add(Self.old)
        let blobs = try bed.reopen(adding: "DROP TABLE chunk_place;" + Schema.current.steps[17])
        let partial = try #require(try blobs.begin(Self.old + [1]))
        try reuse(blobs, partial)
        #expect(try partial.present().presentCount == 6)
    }
}

extension BlobBed {
    /// The next process is a newer program with one more step of the schema.
    @discardableResult
    fileprivate func reopen(adding step: String) throws -> BlobStore {
        close()
        return try open(schema: Schema(steps: Schema.current.steps + [step]))
    }
}
