import SyncModel
import Testing

@Suite struct BulkFrameCodecTests {
    @Test(arguments: 0..<20) func `a bulk frame reads back as it was sent`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let frame = random.bulkFrame()
            let bytes = try BulkFrameCodec.encode(frame)
            #expect(try BulkFrameCodec.decode(bytes) == frame)
        }
    }

    /// What is accepted is written back byte for byte, so no two byte strings are one frame.
    private func expectOneForm(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws {
        guard let frame = try? BulkFrameCodec.decode(bytes) else { return }
        let written = try BulkFrameCodec.encode(frame)
        if written != bytes {
            Issue.record(
                "\(bytes.hexadecimal) is written back as \(written.hexadecimal)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: 0..<10) func `a truncation or a wrong byte is refused, or has one form`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let bytes = try BulkFrameCodec.encode(random.bulkFrame())
            for length in 0..<bytes.count { try expectOneForm(Array(bytes.prefix(length))) }
            for index in bytes.indices {
                var mutated = bytes
                mutated[index] = UInt8(truncatingIfNeeded: random.next())
                try expectOneForm(mutated)
                mutated[index] = bytes[index] ^ 1 << UInt8(random.next() % 8)
                try expectOneForm(mutated)
            }
        }
    }

    @Test func `a kind of frame from the future is ignored, noise and nothing are malformed`() throws {
        for kind in UInt8(14)...255 { #expect(try BulkFrameCodec.decode([kind, 1, 2, 3]) == nil) }
        #expect(throws: WireError.malformed) { try BulkFrameCodec.decode([]) }
        #expect(throws: WireError.malformed) { try BulkFrameCodec.decode([0]) }
        for kind in UInt8(1)...13 {
            #expect(throws: WireError.self) { try BulkFrameCodec.decode([kind]) }
        }
        let long = [UInt8](repeating: 200, count: Limits.frameBytes + 1)
        #expect(throws: WireError.tooLarge(byteCount: long.count)) { try BulkFrameCodec.decode(long) }
        #expect(try BulkFrameCodec.decode(Array(long.dropLast())) == nil)
    }

    @Test(arguments: 0..<10) func `nothing may follow a field that is not the rest of its frame`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let frame = random.bulkFrame()
            switch frame {
            case .hashes, .chunk, .goodbye: continue  // One byte more is one of theirs.
            case .hello, .want, .unwant, .holding, .hashesRequest, .request, .cancel, .smallRequest, .smallBlobs,
                .refusal:
                let bytes = try BulkFrameCodec.encode(frame)
                #expect(throws: WireError.self) { try BulkFrameCodec.decode(bytes + [0]) }
            }
        }
    }

    @Test func `numbers are as short as they can be, and unused bits are zero`() throws {
        #expect(try BulkFrameCodec.decode([8, 1]) == .cancel(BulkFrame.Cancel(id: 1)))
        #expect(throws: WireError.malformed) { try BulkFrameCodec.decode([8, 0x81, 0]) }
        let greatest = [8] + [UInt8](repeating: 0xff, count: 9) + [1]
        #expect(try BulkFrameCodec.decode(greatest) == .cancel(BulkFrame.Cancel(id: .max)))
        #expect(throws: WireError.malformed) { try BulkFrameCodec.decode(greatest.dropLast() + [2]) }

        // Of three chunks.
        let blob = [UInt8](repeating: 7, count: 32) + [0x80, 0x80, 0x30]
        #expect(try BulkFrameCodec.decode([4] + blob + [1, 0b111]) != nil)
        #expect(throws: WireError.outOfRange(field: "bulk.holding.chunks")) {
            try BulkFrameCodec.decode([4] + blob + [1, 0b1000])
        }
        #expect(throws: WireError.outOfRange(field: "bulk.holding.part")) {
            try BulkFrameCodec.decode([4] + blob + [3])
        }
        #expect(throws: WireError.outOfRange(field: "bulk.small_blobs.last")) { try BulkFrameCodec.decode([11, 1, 2]) }
    }

    @Test func `the greatest frames fit, and read back`() throws {
        var random = SeededGenerator(seed: 5)
        let blobs = (0..<BulkLimits.blobsPerFrame).map { _ in random.blob() }
        var chunks = ChunkSet(count: BulkLimits.chunksPerBlob)
        for chunk in stride(from: 0, to: chunks.count, by: 3) { chunks.insert(chunk) }
        let small = blobs.indices.map {
            BulkFrame.SmallBlobs.Blob(
                index: UInt32($0), bytes: random.bytes(BulkLimits.smallFrameBytes / BulkLimits.blobsPerFrame))
        }
        let frames: [BulkFrame] = [
            .want(BulkFrame.Want(space: .home, blobs: blobs)), .unwant(BulkFrame.Unwant(blobs: blobs)),
            .holding(
                BulkFrame.Holding(blob: BlobName(blobs[0].hash, size: BlobLayout.sizeLimit), part: .chunks(chunks))),
            .hashes(BulkFrame.Hashes(id: .max, bytes: random.bytes(BulkLimits.hashesPerFrame * 32))),
            .chunk(BulkFrame.Chunk(id: .max, index: 65_535, bytes: random.bytes(BlobLayout.chunkBytes))),
            .smallRequest(BulkFrame.SmallRequest(id: .max, space: .home, blobs: blobs.map { _ in random.smallName() })),
            .smallBlobs(BulkFrame.SmallBlobs(id: .max, blobs: small, isLast: true)),
        ]
        for frame in frames {
            let bytes = try BulkFrameCodec.encode(frame)
            #expect(bytes.count <= Limits.frameBytes)
            #expect(try BulkFrameCodec.decode(bytes) == frame)
        }
    }

    @Test func `a list of more than there may be is refused by its length`() {
        let many = [UInt8](repeating: 1, count: 31_000 * (BlobHash.byteCount + 1))
        #expect(throws: WireError.outOfRange(field: "bulk.unwant.blobs")) { try BulkFrameCodec.decode([3] + many) }
        // Empty blobs, two bytes each: counted while they are read.
        let empty = [UInt8](repeating: 0, count: 1_000_000)
        #expect(throws: WireError.outOfRange(field: "bulk.small_blobs.blobs")) {
            try BulkFrameCodec.decode([11, 1, 1] + empty)
        }
    }

    @Test func `a farewell is text`() throws {
        let frame = BulkFrame.goodbye(Frame.Goodbye(code: "idle", message: "ü"))
        #expect(try BulkFrameCodec.decode([13, 4] + Array("idleü".utf8)) == frame)
        #expect(throws: WireError.outOfRange(field: "goodbye.message")) {
            try BulkFrameCodec.decode([13, 4] + Array("idle".utf8) + [0xc3])
        }
        #expect(throws: WireError.outOfRange(field: "goodbye.code")) { try BulkFrameCodec.decode([13, 1, 0xff]) }
    }
}
