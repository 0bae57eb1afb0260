import SyncModel
import Testing

@Suite struct ChangeCodecTests {
    private func view(_ bytes: [UInt8]) throws(CodecError) -> ChangeView {
        var reader = ByteReader(bytes)
        return try ChangeView(&reader)
    }

    @Test(arguments: 0..<20) func `a change reads back as it was written`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let change = random.change()
            let bytes = change.encoded
            let view = try view(bytes)
            #expect(Change(view, in: bytes) == change)
            #expect(Change(view, in: bytes).encoded == bytes)
            #expect(view.end == change.start + change.count)
            #expect(view.range == 0..<bytes.count)
        }
    }

    @Test func `an unknown operation, a later member fact and a void event stay as they are, byte for byte`() throws {
        let later = try TestDevice(1).fact.encoded + Array("later".utf8)
        let operations: [Operation] = [
            .unknown(kind: 99, span: 7, body: [1, 2, 3]), .unknown(kind: (1 << 63) - 1, span: 1, body: []),
            .unknown(kind: Operation.Kind.addMember, span: 1, body: later),
            .unknown(kind: Operation.Kind.appendEvent, span: 1, body: [1, UInt8(ascii: "/"), 0]),
            .unknown(kind: Operation.Kind.appendEvent, span: 2, body: []),
        ]
        let change = Change(start: 0, stamp: .zero, wallMilliseconds: 0, context: [], operations: operations)
        #expect(Change(try view(change.encoded), in: change.encoded).encoded == change.encoded)
        #expect(try view(change.encoded).count == 12)
    }

    @Test(arguments: 0..<10) func `no truncation and no single wrong byte traps or passes unseen`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let bytes = random.change().encoded
            let original = try view(bytes).digest(in: bytes)
            for length in 0..<bytes.count { #expect(throws: CodecError.self) { try view(Array(bytes.prefix(length))) } }
            for index in bytes.indices {
                var mutated = bytes
                mutated[index] ^= UInt8(1 << (random.next() % 8))
                guard let view = try? view(mutated) else { continue }
                #expect(view.digest(in: mutated) != original)
                // What reads also reads as operations, and as one change only.
                #expect(Change(view, in: mutated).count == view.count)
            }
        }
    }

    @Test(arguments: [
        ([0x80, 0x00], CodecError.varintNotShortest),
        ([0xff, 0x80, 0x00], .varintNotShortest),
        ([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02], .varintNotShortest),
        ([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x00], .varintNotShortest),
        ([0x80], .truncated), ([], .truncated),
    ]) func `a varint that is not the shortest, or too long, is refused`(bytes: [UInt8], error: CodecError) {
        #expect(throws: error) {
            var reader = ByteReader(bytes)
            _ = try reader.varint()
        }
    }

    @Test func `every varint is as long as it says and reads back`() throws {
        for shift in 0..<64 {
            for value in [(1 << UInt64(shift)) &- 1, 1 << UInt64(shift), UInt64.max >> UInt64(shift)] as [UInt64] {
                var bytes: [UInt8] = []
                bytes.append(varint: value)
                #expect(bytes.count == value.varintByteCount)
                var reader = ByteReader(bytes)
                #expect(try reader.varint() == value)
                #expect(reader.isAtEnd)
            }
        }
    }

    @Test func `counters that would overflow, clocks beyond reason and empty changes are refused`() {
        func refused(_ change: Change, _ field: String) {
            #expect(throws: CodecError.outOfRange(field: field)) { try view(change.encoded) }
        }
        func change(
            start: UInt64 = 0, wall: Int64 = 0, context: [VersionVector.Entry] = [], _ operations: [Operation]
        ) -> Change {
            Change(
                start: start, stamp: .zero, wallMilliseconds: wall, context: context, operations: operations)
        }
        refused(change(start: .max, [.event(1)]), "change.start")
        refused(change(start: Limits.counters, [.event(1)]), "change.count")
        refused(change(wall: .max, [.event(1)]), "change.wall")
        refused(change(wall: .min, [.event(1)]), "change.wall")
        refused(change([]), "change.count")
        refused(change([.unknown(kind: 9, span: Limits.operationsPerChange + 1, body: [])]), "change.count")
        var random = SeededGenerator(seed: 1)
        let entry = VersionVector.Entry(replica: random.replica(), next: 1)
        refused(change(context: [entry, entry], [.event(1)]), "change.context")
        refused(change(context: [VersionVector.Entry(replica: entry.replica, next: 0)], [.event(1)]), "change.context")
    }

    @Test func `a newer format is told by its version, a span of one has one way to be written`() {
        var bytes = Change(
            start: 0, stamp: .zero, wallMilliseconds: 0, context: [], operations: [.event(1)]
        ).encoded
        bytes[1] = 2
        #expect(throws: CodecError.unknownVersion(2)) { try view(bytes) }
        #expect(throws: CodecError.outOfRange(field: "operation.span")) {
            var reader = ByteReader([9 << 1 | 1, 1, 0])
            _ = try OperationView(&reader)
        }
    }

    @Test func `lengths that reach beyond the bytes are refused, however large`() {
        for length in [UInt64(5), 1 << 20, 1 << 40, .max] {
            var bytes: [UInt8] = []
            bytes.append(varint: length)
            bytes += [1, 2]
            #expect(throws: CodecError.self) { try view(bytes) }
        }
    }
}
