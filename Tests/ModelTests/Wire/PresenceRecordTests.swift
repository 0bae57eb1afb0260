import SyncModel
import Testing

@Suite struct PresenceRecordTests {
    private let device = DeviceID(bytes: [UInt8](repeating: 0x44, count: 32))!
    private let signature = [UInt8](repeating: 0x55, count: 64)

    private func signed(_ entries: [PresenceRecord.Entry], run: UInt64 = 1) -> SignedPresence {
        SignedPresence(
            PresenceRecord(device: device, mark: PresenceMark(run: run, sequence: 2), entries: entries),
            signature: signature)
    }

    private func entry(_ topic: String, _ session: UInt64, bytes: Int = 2) -> PresenceRecord.Entry {
        PresenceRecord.Entry(
            topic: ExactString(topic), session: session, value: [UInt8](repeating: 0x31, count: bytes))
    }

    private func expectRefused(_ signed: SignedPresence, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
            try SignedPresence(encoded: signed.encoded)
        }
        #expect(throws: WireError.outOfRange(field: "presence.records"), sourceLocation: sourceLocation) {
            try FrameCodec.encode(.presence(Frame.Presence(space: .home, records: [signed])))
        }
    }

    @Test func `a record reads back, in one form whatever order its entries came in`() throws {
        let (first, second, third) = (entry("a", 9), entry("b", 1), entry("b", 2))
        let one = signed([third, first, second])
        #expect(one.record.entries == [first, second, third])
        #expect(one.encoded == signed([first, second, third]).encoded && one.encoded.count == one.byteCount)
        #expect(try SignedPresence(encoded: one.encoded) == one)
        #expect(try SignedPresence(encoded: signed([]).encoded) == signed([]))
    }

    @Test func `topics are told apart by their scalars`() throws {
        let both = signed([entry("\u{e9}", 1), entry("e\u{301}", 1)])
        #expect(both.record.isValid && both.record.entries.count == 2)
        #expect(try SignedPresence(encoded: both.encoded) == both)
    }

    @Test func `what is over a bound is neither written nor read`() throws {
        expectRefused(signed((0...64).map { entry("t", $0) }))
        expectRefused(signed([entry("t", 1, bytes: 1_025)]))
        expectRefused(signed([entry("t", 1, bytes: 0)]))
        expectRefused(signed([entry("t", 1), entry("t", 1)]))
        expectRefused(signed([entry("", 1)]))
        expectRefused(signed([entry("a/b", 1)]))
        expectRefused(signed([entry("a\u{1b}[31m", 1)]))
        expectRefused(signed([entry(String(repeating: "t", count: 129), 1)]))
        expectRefused(signed((0..<32).map { entry("t", $0, bytes: 1_024) }))
        expectRefused(signed([], run: Limits.presenceRun + 1))
        let full = signed((0..<31).map { entry("t", $0, bytes: 1_024) } + [entry("u", 1)])
        #expect(try SignedPresence(encoded: full.encoded) == full)
        let most = signed((0..<64).map { entry(String(repeating: "t", count: 128), $0, bytes: 300) })
        #expect(try SignedPresence(encoded: most.encoded) == most)
    }

    @Test func `a frame has at least one record and not too many`() {
        for count in [0, Limits.presencesPerFrame + 1] {
            let records = [SignedPresence](repeating: signed([]), count: count)
            #expect(throws: WireError.outOfRange(field: "presence.records")) {
                try FrameCodec.encode(.presence(Frame.Presence(space: .home, records: records)))
            }
        }
    }

    @Test func `entries in another order, or left over bytes, are refused`() {
        let (a, b) = (entry("a", 1), entry("b", 1))
        let bytes = signed([a, b]).encoded
        // Version, device, run and sequence, and the count; then two entries of one size.
        let (start, size) = (50, a.byteCount)
        let swapped =
            bytes[..<start] + bytes[(start + size)..<(start + 2 * size)] + bytes[start..<(start + size)]
            + bytes[(start + 2 * size)...]
        #expect(throws: CodecError.outOfRange(field: "presence.entries")) {
            try SignedPresence(encoded: Array(swapped))
        }
        #expect(throws: CodecError.trailingBytes) { try SignedPresence(encoded: bytes + [0]) }
    }

    @Test func `truncated and changed bytes are errors or another record, and trap nothing`() throws {
        let bytes = signed([entry("note:1", 7, bytes: 12), entry("é", 8)]).encoded
        for count in 0..<bytes.count {
            #expect(throws: (any Error).self) { try SignedPresence(encoded: Array(bytes.prefix(count))) }
        }
        for index in bytes.indices {
            for bit in 0..<8 as Range<UInt8> {
                var changed = bytes
                changed[index] ^= 1 << bit
                guard let read = try? SignedPresence(encoded: changed) else { continue }
                #expect(read.encoded == changed)
            }
        }
    }

    @Test func `of two records the one of the later run is newer, then the greater sequence`() {
        let marks = [(1, 9), (2, 1), (2, 2)].map { PresenceMark(run: $0.0, sequence: $0.1) }
        #expect(marks.sorted() == marks && marks.reversed().sorted() == marks)
        #expect(PresenceRecord.nextRun(after: 41) == 42)
        #expect(PresenceRecord.nextRun(after: .max) == Limits.presenceRun)
    }
}
