import SyncModel
import Testing

@Suite struct FrameCodecTests {
    @Test(arguments: 0..<20) func `a frame reads back as it was sent`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let frame = random.frame()
            let bytes = try FrameCodec.encode(frame)
            #expect(try FrameCodec.decode(bytes) == frame)
            #expect(try FrameCodec.encode(frame) == bytes)
        }
    }

    @Test(arguments: 0..<10) func `no truncation and no single wrong byte traps`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let bytes = try FrameCodec.encode(random.frame())
            for length in 0..<bytes.count { _ = try? FrameCodec.decode(Array(bytes.prefix(length))) }
            for index in bytes.indices {
                var mutated = bytes
                mutated[index] = UInt8(truncatingIfNeeded: random.next())
                // Whatever is accepted can be said again, and means the same.
                guard let frame = try? FrameCodec.decode(mutated) else { continue }
                #expect(try FrameCodec.decode(FrameCodec.encode(frame)) == frame)
            }
        }
    }

    @Test func `a kind of frame from the future is ignored, noise and nothing are malformed`() throws {
        #expect(try FrameCodec.decode([0xa2, 0x06, 3, 1, 2, 3]) == nil)
        #expect(throws: WireError.malformed) { try FrameCodec.decode([]) }
        #expect(throws: WireError.malformed) { try FrameCodec.decode([0xff, 0xff]) }
        #expect(throws: WireError.malformed) { try FrameCodec.decode(Array("GET / HTTP/1.1\r\n".utf8)) }
        // A group: not used by the schema, and it would nest.
        #expect(throws: WireError.malformed) { try FrameCodec.decode([15 << 3 | 3, 15 << 3 | 4]) }
    }

    @Test func `a known frame with a field from the future is read`() throws {
        let ping = try FrameCodec.encode(.ping(Frame.Ping(nonce: 5)))
        #expect(ping == [8 << 3 | 2, 2, 8, 5])
        #expect(try FrameCodec.decode([8 << 3 | 2, 4, 8, 5, 15 << 3, 1]) == .ping(Frame.Ping(nonce: 5)))
    }

    @Test func `a frame that says nothing but its name is read, with fields from the future too`() throws {
        #expect(try FrameCodec.encode(.bulkWanted) == [13 << 3 | 2, 0])
        #expect(try FrameCodec.decode([13 << 3 | 2, 0]) == .bulkWanted)
        #expect(try FrameCodec.decode([13 << 3 | 2, 2, 8, 1]) == .bulkWanted)
    }

    @Test func `a frame over one mebibyte is refused before it is read`() {
        let bytes = [UInt8](repeating: 0, count: Limits.frameBytes + 1)
        #expect(throws: WireError.tooLarge(byteCount: bytes.count)) { try FrameCodec.decode(bytes) }
    }

    @Test func `a frame of many empty parts is refused before anything is built`() {
        // Two bytes each on the wire; counted, not parsed.
        let parts = [UInt8](repeating: 0, count: 0) + (0..<200_000).flatMap { _ in [3 << 3 | 2, 0] as [UInt8] }
        var bytes: [UInt8] = [2 << 3 | 2]
        bytes.append(lengthPrefixed: parts)
        #expect(throws: WireError.outOfRange(field: "frame.fields")) { try FrameCodec.decode(bytes) }
        // Spread over many bodies of one kind, which protobuf would merge.
        let merged = (0..<20_000).flatMap { _ in [2 << 3 | 2, 2, 3 << 3 | 2, 0] as [UInt8] }
        #expect(throws: WireError.outOfRange(field: "frame.fields")) { try FrameCodec.decode(merged) }
    }

    @Test func `the largest part and the longest list fit in a frame`() throws {
        var random = SeededGenerator(seed: 3)
        let part = Frame.SegmentPart(
            start: Limits.counters - 1, end: Limits.counters, bytes: random.bytes(Limits.segmentPartBytes),
            signature: random.bytes(64))
        let changes = Frame.changes(
            Frame.Changes(space: .home, replica: random.replica(), wantID: .max, segments: [part], last: true))
        #expect(try FrameCodec.decode(FrameCodec.encode(changes)) == changes)
        let device = random.replica().device
        let entries = (0..<Limits.haveEntries).map { index in
            Frame.HaveEntry(
                replica: ReplicaID(device: device, incarnation: UInt64(index) << 32), next: Limits.counters,
                head: ChainHead(bytes: random.bytes(32))!)
        }
        let have = Frame.have(
            Frame.Have(
                space: .home, vectorDigest: .zero, entries: entries, complete: true, stateDigest: .zero,
                acknowledgementsDigest: .zero))
        #expect(try FrameCodec.decode(FrameCodec.encode(have)) == have)
    }
}
