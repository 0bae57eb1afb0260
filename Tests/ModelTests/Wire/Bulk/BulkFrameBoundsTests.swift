import SyncModel
import Testing

/// Each bound of a bulk frame's fields at its edge: on the way out, and on the way in by bytes laid out here by hand.
@Suite struct BulkFrameBoundsTests {
    private let hash = [UInt8](repeating: 0xab, count: BlobHash.byteCount)
    private var blob: BlobName { name(hash) }

    private func name(_ hash: [UInt8], size: UInt64 = 5) -> BlobName { BlobName(BlobHash(bytes: hash)!, size: size) }

    private func expectTaken(_ frame: BulkFrame, _ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect((try? BulkFrameCodec.encode(frame)) == bytes, sourceLocation: sourceLocation)
        #expect((try? BulkFrameCodec.decode(bytes)) == frame, sourceLocation: sourceLocation)
    }

    private func expectRefused(
        _ frame: BulkFrame, _ bytes: [UInt8], _ field: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: WireError.outOfRange(field: field), sourceLocation: sourceLocation) {
            try BulkFrameCodec.encode(frame)
        }
        #expect(throws: WireError.outOfRange(field: field), sourceLocation: sourceLocation) {
            try BulkFrameCodec.decode(bytes)
        }
    }

    private func varint(_ value: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(varint: value)
        return bytes
    }

    @Test func `a version is at least one`() {
        func hello(_ version: UInt32) -> (BulkFrame, [UInt8]) {
            (
                .hello(BulkFrame.Hello(version: version, features: 0x0102)),
                [1] + varint(UInt64(version)) + [0, 0, 0, 0, 0, 0, 1, 2]
            )
        }
        expectTaken(hello(1).0, hello(1).1)
        expectTaken(hello(.max).0, hello(.max).1)
        expectRefused(hello(0).0, hello(0).1, "bulk.hello.version")
        #expect(throws: WireError.outOfRange(field: "bulk.hello.version")) {
            try BulkFrameCodec.decode([1] + varint(1 << 32) + [UInt8](repeating: 0, count: 8))
        }
    }

    @Test func `a list of blobs has 1 to 1,024, each once`() {
        func hashes(_ count: Int) -> [[UInt8]] {
            (0..<count).map { [UInt8($0 >> 8), UInt8($0 & 255)] + [UInt8](repeating: 9, count: 30) }
        }
        func check(
            _ field: String, _ head: [UInt8], _ frame: ([BlobName]) -> BulkFrame,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            func expect(_ list: [[UInt8]], taken: Bool) {
                let (frame, bytes) = (frame(list.map { name($0) }), head + list.flatMap { $0 + [5] })
                if taken {
                    expectTaken(frame, bytes, sourceLocation: sourceLocation)
                } else {
                    expectRefused(frame, bytes, field, sourceLocation: sourceLocation)
                }
            }
            expect(hashes(1), taken: true)
            expect(hashes(1_024), taken: true)
            expect([], taken: false)
            expect(hashes(1_025), taken: false)
            expect([hash, hash], taken: false)
            expect(hashes(1_023) + hashes(1), taken: false)
        }
        let home = SpaceID.home.bytes
        check("bulk.want.blobs", [2] + home) { .want(BulkFrame.Want(space: .home, blobs: $0)) }
        check("bulk.unwant.blobs", [3]) { .unwant(BulkFrame.Unwant(blobs: $0)) }
        check("bulk.small_request.blobs", [10, 9] + home) {
            .smallRequest(BulkFrame.SmallRequest(id: 9, space: .home, blobs: $0))
        }
    }

    @Test func `what is asked for whole is small`() {
        func request(_ sizes: [UInt64]) -> (BulkFrame, [UInt8]) {
            (
                .smallRequest(
                    BulkFrame.SmallRequest(id: 9, space: .home, blobs: sizes.map { name(hash, size: $0) })),
                [10, 9] + SpaceID.home.bytes + sizes.flatMap { hash + varint($0) }
            )
        }
        expectTaken(request([0, 65_536]).0, request([0, 65_536]).1)
        for sizes: [UInt64] in [[65_537], [16 << 30], [5, 65_537]] {
            expectRefused(request(sizes).0, request(sizes).1, "bulk.small_request.blobs")
        }
    }

    @Test func `what is held is of a blob that has chunks, at most those of 16 GiB`() {
        func holding(_ size: UInt64, _ part: BulkFrame.Holding.Part) -> BulkFrame {
            .holding(BulkFrame.Holding(blob: name(hash, size: size), part: part))
        }
        func chunks(_ size: UInt64) -> BulkFrame {
            holding(size, .chunks(ChunkSet(count: BlobLayout(size: size)!.chunkCount)))
        }
        func bytes(_ size: UInt64, _ count: Int) -> [UInt8] {
            [4] + hash + varint(size) + [1] + [UInt8](repeating: 0, count: (count + 7) / 8)
        }
        let most: UInt64 = 16 << 30
        expectTaken(holding(5, .nothing), [4] + hash + [5, 0])
        expectTaken(holding(0, .all), [4] + hash + [0, 2])
        expectTaken(holding(most, .all), [4] + hash + varint(most) + [2])
        expectTaken(chunks(1), bytes(1, 1))
        expectTaken(chunks(most), bytes(most, 65_536))
        expectRefused(chunks(0), bytes(0, 0), "bulk.holding.chunks")
        for large in [[4] + hash + varint(most + 1) + [2], bytes(most + 1, 65_537), [3] + hash + varint(most + 1)] {
            #expect(throws: WireError.outOfRange(field: "blob.size")) { try BulkFrameCodec.decode(large) }
        }
        // As many bits as the blob has chunks, no more and no fewer.
        for count in [1, 17] {
            #expect(throws: WireError.outOfRange(field: "bulk.holding.chunks")) {
                try BulkFrameCodec.decode(bytes(10 << 18, count))
            }
        }
        var some = ChunkSet(count: 10)
        some.insert(0)
        some.insert(9)
        for size: UInt64 in [10 << 18, 9 << 18 | 1] {
            expectTaken(holding(size, .chunks(some)), [4] + hash + varint(size) + [1, 0b1, 0b10])
        }
        let other = holding(9 << 18, .chunks(some))
        #expect(throws: WireError.outOfRange(field: "bulk.holding.chunks")) { try BulkFrameCodec.encode(other) }
    }

    @Test func `blobs of one hash and two sizes are two`() {
        let names = [name(hash, size: 10), name(hash, size: 11)]
        expectTaken(.unwant(BulkFrame.Unwant(blobs: names)), [3] + hash + [10] + hash + [11])
    }

    @Test func `hashes are asked for from the beginning of a page, and sent whole`() {
        func request(_ first: UInt32, id: UInt64 = 300) -> (BulkFrame, [UInt8]) {
            (
                .hashesRequest(BulkFrame.HashesRequest(id: id, space: .home, blob: blob, first: first)),
                [5] + varint(id) + SpaceID.home.bytes + hash + [5] + varint(UInt64(first))
            )
        }
        for first: UInt32 in [0, 8_192, 57_344] { expectTaken(request(first).0, request(first).1) }
        for first: UInt32 in [1, 8_191, 65_536, .max] {
            expectRefused(request(first).0, request(first).1, "bulk.hashes_request.first")
        }
        expectRefused(request(0, id: 0).0, request(0, id: 0).1, "bulk.hashes_request.id")

        func hashes(_ count: Int, id: UInt64 = 300) -> (BulkFrame, [UInt8]) {
            let bytes = [UInt8](repeating: 5, count: count)
            return (.hashes(BulkFrame.Hashes(id: id, bytes: bytes)), [6] + varint(id) + bytes)
        }
        for count in [32, 262_144] { expectTaken(hashes(count).0, hashes(count).1) }
        for count in [0, 31, 33, 262_143, 262_176] {
            expectRefused(hashes(count).0, hashes(count).1, "bulk.hashes.bytes")
        }
        expectRefused(hashes(32, id: 0).0, hashes(32, id: 0).1, "bulk.hashes.id")
    }

    @Test func `chunks are asked for, 1 to 64, within the greatest blob`() {
        func request(_ first: UInt32, _ count: UInt32, id: UInt64 = 1) -> (BulkFrame, [UInt8]) {
            (
                .request(BulkFrame.Request(id: id, space: .home, blob: blob, first: first, count: count)),
                [7] + varint(id) + SpaceID.home.bytes + hash + [5] + varint(UInt64(first)) + varint(UInt64(count))
            )
        }
        for (first, count): (UInt32, UInt32) in [(0, 1), (0, 64), (65_472, 64), (65_535, 1)] {
            expectTaken(request(first, count).0, request(first, count).1)
        }
        for (first, count): (UInt32, UInt32) in [(0, 0), (0, 65), (65_473, 64), (65_535, 2), (0, .max)] {
            expectRefused(request(first, count).0, request(first, count).1, "bulk.request.count")
        }
        expectRefused(request(65_536, 1).0, request(65_536, 1).1, "bulk.request.first")
        expectRefused(request(.max, .max).0, request(.max, .max).1, "bulk.request.first")
        expectRefused(request(0, 1, id: 0).0, request(0, 1, id: 0).1, "bulk.request.id")
        expectRefused(.cancel(BulkFrame.Cancel(id: 0)), [8, 0], "bulk.cancel.id")
    }

    @Test func `a chunk has 1 byte to 256 KiB`() {
        func chunk(_ index: UInt32, _ count: Int, id: UInt64 = 127) -> (BulkFrame, [UInt8]) {
            let bytes = [UInt8](repeating: 6, count: count)
            return (
                .chunk(BulkFrame.Chunk(id: id, index: index, bytes: bytes)),
                [9] + varint(id) + varint(UInt64(index)) + bytes
            )
        }
        expectTaken(chunk(0, 1).0, chunk(0, 1).1)
        expectTaken(chunk(65_535, 262_144).0, chunk(65_535, 262_144).1)
        expectRefused(chunk(0, 0).0, chunk(0, 0).1, "bulk.chunk.bytes")
        expectRefused(chunk(0, 262_145).0, chunk(0, 262_145).1, "bulk.chunk.bytes")
        expectRefused(chunk(65_536, 1).0, chunk(65_536, 1).1, "bulk.chunk.index")
        expectRefused(chunk(0, 1, id: 0).0, chunk(0, 1, id: 0).1, "bulk.chunk.id")
    }

    @Test func `small blobs are small, named once, and together at most 256 KiB`() {
        func small(_ parts: [(UInt32, Int)], last: Bool = false, id: UInt64 = 1) -> (BulkFrame, [UInt8]) {
            let blobs = parts.map {
                BulkFrame.SmallBlobs.Blob(index: $0.0, bytes: [UInt8](repeating: 8, count: $0.1))
            }
            return (
                .smallBlobs(BulkFrame.SmallBlobs(id: id, blobs: blobs, isLast: last)),
                [11] + varint(id) + [last ? 1 : 0]
                    + blobs.flatMap { varint(UInt64($0.index)) + varint(UInt64($0.bytes.count)) + $0.bytes }
            )
        }
        for (frame, bytes) in [
            small([(0, 0)]), small([], last: true), small([(1_023, 65_536)]), small([(7, 1), (3, 2)], last: true),
            small([(0, 65_536), (1, 65_536), (2, 65_536), (3, 65_536)]),
        ] {
            expectTaken(frame, bytes)
        }
        expectRefused(small([]).0, small([]).1, "bulk.small_blobs.blobs")
        expectRefused(small([(1_024, 1)]).0, small([(1_024, 1)]).1, "bulk.small_blobs.index")
        expectRefused(small([(5, 1), (5, 1)]).0, small([(5, 1), (5, 1)]).1, "bulk.small_blobs.index")
        expectRefused(small([(0, 65_537)]).0, small([(0, 65_537)]).1, "bulk.small_blobs.bytes")
        let much = small((0..<4).map { ($0, 65_536) } + [(4, 1)])
        expectRefused(much.0, much.1, "bulk.small_blobs.bytes")
        expectRefused(small([(0, 0)], id: 0).0, small([(0, 0)], id: 0).1, "bulk.small_blobs.id")
    }

    @Test func `a refusal has one of four reasons`() {
        for reason in BulkFrame.Refusal.Reason.allCases {
            expectTaken(.refusal(BulkFrame.Refusal(id: 2, reason: reason)), [12, 2, reason.rawValue])
        }
        for reason: UInt8 in [0, 5, 255] {
            #expect(throws: WireError.outOfRange(field: "bulk.refusal.reason")) {
                try BulkFrameCodec.decode([12, 2, reason])
            }
        }
        expectRefused(.refusal(BulkFrame.Refusal(id: 0, reason: .busy)), [12, 0, 4], "bulk.refusal.id")
    }

    @Test func `a farewell is held to the bounds of a session's`() {
        func goodbye(_ code: String, _ message: String) -> (BulkFrame, [UInt8]) {
            (
                .goodbye(Frame.Goodbye(code: code, message: message)),
                [13] + varint(UInt64(code.utf8.count)) + Array((code + message).utf8)
            )
        }
        let (code, message) = (String(repeating: "c", count: 64), String(repeating: "m", count: 1_024))
        expectTaken(goodbye(code, message).0, goodbye(code, message).1)
        expectTaken(goodbye("c", "").0, goodbye("c", "").1)
        expectRefused(goodbye("", "").0, goodbye("", "").1, "goodbye.code")
        expectRefused(goodbye("No", "").0, goodbye("No", "").1, "goodbye.code")
        expectRefused(goodbye(code + "c", "").0, goodbye(code + "c", "").1, "goodbye.code")
        expectRefused(goodbye("c", message + "m").0, goodbye("c", message + "m").1, "goodbye.message")
    }
}
