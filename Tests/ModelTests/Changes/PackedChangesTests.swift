import SyncModel
import Testing

/// Changes as they travel, and back.
struct PackedChangesTests {
    private let key = ObjectKey(collection: "notes", id: "diary")

    private func typed(_ text: ExactString, behind counter: UInt64) -> Operation {
        .editObject(
            .init(
                object: key, life: .own(counter: 0),
                edits: [.update("body", .text(.insert(.after(.own(counter), .inherited), text)))]))
    }

    private func deleted(_ counter: UInt64) -> Operation {
        .editObject(
            .init(
                object: key, life: .own(counter: 0),
                edits: [.update("body", .text(.delete([.init(first: .own(counter), count: 1)])))]))
    }

    /// Consecutive changes that somebody might write, with clocks that stand, run and are set.
    private func history(_ random: inout SeededGenerator) -> [Change] {
        var next = random.edgy(below: 1 << 40) + 1
        var stamp = Stamp(rawValue: random.edgy(below: 1 << 60))
        return (0..<Int.random(in: 1..<40, using: &random)).map { number in
            let operations: [Operation]
            switch random.next() % 9 {
            case 0...3:
                operations = [typed(["e", "é", "🧑‍🚀", "two"].randomElement(using: &random) ?? "e", behind: next - 1)]
            case 4: operations = [typed("x", behind: random.next() % next)]
            case 5: operations = [deleted(random.next() % next)]
            case 6: operations = [.event(number), .event(number)]
            case 7: operations = [.event(Int(random.next() % 1_000))]
            case _: operations = [.unknown(kind: 99, span: random.edgy(below: 1 << 30) + 1, body: random.bytes(7))]
            }
            let wall = random.chance(80) ? stamp.milliseconds : Int64(random.next() % (1 << 45))
            stamp = Stamp(rawValue: stamp.rawValue + 1)
            if random.chance(80) {
                stamp = Stamp(rawValue: UInt64(stamp.milliseconds + Int64(random.next() % 500 + 1)) << 16)
            }
            let change = Change(start: next, stamp: stamp, wallMilliseconds: wall, context: [], operations: operations)
            next += change.count
            return change
        }
    }

    @Test(arguments: 0..<40) func `changes come out as they went in, byte for byte`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var packedCount = 0
        for _ in 0..<100 {
            let bytes = history(&random).flatMap(\.encoded)
            guard let packed = PackedChanges.packed(bytes) else { continue }
            packedCount += 1
            #expect(packed.count < bytes.count)
            #expect(try PackedChanges.unpacked(packed, upTo: bytes.count) == bytes)
            #expect(throws: CodecError.self) { try PackedChanges.unpacked(packed, upTo: bytes.count - 1) }
        }
        #expect(packedCount > 80)
    }

    @Test func `a letter typed behind another takes four bytes`() throws {
        let letters = (0..<1_000).map { number in
            let milliseconds = 1_700_000_000_000 + Int64(number) * 100
            return Change(
                start: UInt64(number) + 1_000_000, stamp: Stamp(rawValue: UInt64(milliseconds) << 16),
                wallMilliseconds: milliseconds, context: [],
                operations: [typed("e", behind: UInt64(number) + 999_999)])
        }
        let bytes = letters.flatMap(\.encoded)
        let packed = try #require(PackedChanges.packed(bytes))
        #expect(packed.count < 3 * 1_000 + letters[0].encoded.count)
        #expect(try PackedChanges.unpacked(packed, upTo: bytes.count) == bytes)
    }

    @Test func `what is not consecutive, or names others, goes as it is`() {
        var random = SeededGenerator(seed: 7)
        let first = Change(
            start: 5, stamp: Stamp(rawValue: 9), wallMilliseconds: 0, context: [], operations: [.event(1)])
        func next(_ start: UInt64, _ stamp: UInt64, _ context: [VersionVector.Entry] = []) -> [UInt8] {
            let next = Change(
                start: start, stamp: Stamp(rawValue: stamp), wallMilliseconds: 0, context: context,
                operations: [.event(2)])
            return first.encoded + next.encoded
        }
        #expect(PackedChanges.packed(next(6, 10)) != nil)
        #expect(PackedChanges.packed(next(7, 10)) == nil)
        #expect(PackedChanges.packed(next(6, 9)) == nil)
        #expect(PackedChanges.packed(next(6, 10, [.init(replica: random.replica(), next: 1)])) == nil)
        #expect(PackedChanges.packed(first.encoded) == nil)
        #expect(PackedChanges.packed([]) == nil)
        #expect(PackedChanges.packed(random.bytes(300)) == nil)
    }

    @Test(arguments: 0..<10) func `no truncation and no single wrong byte traps, or becomes more than was asked for`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<30 {
            let bytes = history(&random).flatMap(\.encoded)
            guard let packed = PackedChanges.packed(bytes) else { continue }
            for length in packed.indices {
                _ = try? PackedChanges.unpacked(Array(packed.prefix(length)), upTo: bytes.count)
            }
            for index in packed.indices {
                var mutated = packed
                mutated[index] = UInt8(truncatingIfNeeded: random.next())
                let limit = bytes.count + Int(random.next() % 100)
                guard let unpacked = try? PackedChanges.unpacked(mutated, upTo: limit) else { continue }
                #expect(unpacked.count <= limit)
            }
        }
    }

    @Test func `a few bytes that say the same again and again end at the limit`() throws {
        let payload = [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "a"), count: 60_000) + [UInt8(ascii: "\"")]
        let first = Change(
            start: 0, stamp: Stamp(rawValue: 1), wallMilliseconds: 0, context: [],
            operations: [.appendEvent(.init(stream: "log", type: nil, payload: payload))])
        let same = Change(
            start: 1, stamp: Stamp(rawValue: 2), wallMilliseconds: 0, context: [], operations: first.operations)
        let one = try #require(PackedChanges.packed(first.encoded + same.encoded)).dropFirst(first.encoded.count)
        #expect(one.count < 12)
        let bomb = first.encoded + (0..<1_000).flatMap { _ in one }
        #expect(throws: CodecError.self) { try PackedChanges.unpacked(bomb, upTo: 500_000) }
        #expect(try PackedChanges.unpacked(bomb, upTo: 100_000_000).count > 60_000_000)
    }

    /// Events that are much alike, signed with anything.
    private func segment(_ count: Int, payload: [UInt8]? = nil) -> Segment {
        var random = SeededGenerator(seed: 1)
        let changes = (0..<count).map { number in
            Change(
                start: UInt64(number), stamp: Stamp(rawValue: UInt64(number) + 1), wallMilliseconds: 0, context: [],
                operations: [
                    payload.map { .appendEvent(.init(stream: "log", type: nil, payload: $0)) } ?? .event(number)
                ])
        }
        return Segment(
            replica: random.replica(), start: 0, end: UInt64(count), bytes: changes.flatMap(\.encoded),
            signature: random.bytes(64))
    }

    private func changes(_ parts: [Frame.SegmentPart]) -> Frame.Changes {
        var random = SeededGenerator(seed: 1)
        return Frame.Changes(space: .home, replica: random.replica(), wantID: 3, segments: parts, last: true)
    }

    @Test func `a frame carries a segment packed, and the other side reads what was meant`() throws {
        let segment = segment(50)
        let sent = changes([Frame.SegmentPart(segment)])
        #expect(sent.segments[0].isPacked)
        let bytes = try FrameCodec.encode(.changes(sent))
        #expect(bytes.count < segment.bytes.count)
        #expect(try FrameCodec.decode(bytes) == .changes(sent))
        let read = try sent.unpacked()
        #expect(!read.segments[0].isPacked)
        #expect(read.segments[0].bytes == segment.bytes)
        #expect(try read.unpacked() == read)
        // One change is not worth it.
        #expect(!Frame.SegmentPart(self.segment(1)).isPacked)
    }

    @Test func `a frame that unpacks to more than it may, a packed piece, and changes said twice are refused`() throws {
        let payload = [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "a"), count: 60_000) + [UInt8(ascii: "\"")]
        let most = Frame.SegmentPart(segment(8, payload: payload))
        #expect(most.bytes.count < 70_000)
        #expect(try changes([most]).unpacked().segments[0].bytes.count > 480_000)
        var more = Frame.SegmentPart(segment(1, payload: payload))
        more.start = 8
        more.end = 9
        #expect(throws: CodecError.outOfRange(field: "segment.packed")) { try changes([most, more]).unpacked() }
        #expect(throws: CodecError.self) {
            try changes([Frame.SegmentPart(segment(9, payload: payload))]).unpacked()
        }

        var piece = most
        piece.signature = []
        #expect(throws: WireError.outOfRange(field: "segment.signature")) {
            var frame = changes([piece])
            frame.last = false
            _ = try FrameCodec.encode(.changes(frame))
        }

        var random = SeededGenerator(seed: 1)
        let twice = [2 << 3, 9] + field(3, [1]) + field(5, [1]) + field(4, random.bytes(64))
        let body = field(1, SpaceID.home.bytes) + field(2, random.replica().bytes) + field(4, twice)
        #expect(throws: WireError.outOfRange(field: "segment.packed")) { try FrameCodec.decode(field(6, body)) }
    }

    /// A protobuf field of bytes.
    private func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        var bytes = [number << 3 | 2]
        bytes.append(lengthPrefixed: content)
        return bytes
    }
}
