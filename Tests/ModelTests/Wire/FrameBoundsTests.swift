import SyncModel
import Testing

/// Each bound of a frame's fields, on the way out; `FrameCodecTests` shows that what comes in is held to the same.
@Suite struct FrameBoundsTests {
    private let replica: ReplicaID
    private var random = SeededGenerator(seed: 9)

    init() { replica = random.replica() }

    private func expectRefused(
        _ frame: Frame, _ field: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: WireError.outOfRange(field: field), sourceLocation: sourceLocation) {
            try FrameCodec.encode(frame)
        }
    }

    @Test func `a want is numbered, ordered and bounded`() {
        func want(id: UInt64 = 1, _ from: UInt64, _ to: UInt64, credit: UInt64 = 1) -> Frame {
            .want(Frame.Want(id: id, space: .home, replica: replica, from: from, to: to, creditBytes: credit))
        }
        expectRefused(want(id: 0, 1, 2), "want.id")
        expectRefused(want(2, 1), "want.to")
        expectRefused(want(0, .max), "want.to")
        expectRefused(want(0, 1, credit: Limits.creditBytes + 1), "want.credit_bytes")
        expectRefused(.credit(Frame.Credit(wantID: 0, bytes: 1, cancel: false)), "credit.want_id")
        expectRefused(.credit(Frame.Credit(wantID: 1, bytes: .max, cancel: false)), "credit.bytes")
    }

    @Test func `segments follow each other, and only the last may go on`() {
        func changes(_ parts: [(UInt64, UInt64, Int, Int)], want: UInt64 = 1, last: Bool = false) -> Frame {
            .changes(
                Frame.Changes(
                    space: .home, replica: replica, wantID: want,
                    segments: parts.map {
                        Frame.SegmentPart(
                            start: $0.0, end: $0.1, bytes: [UInt8](repeating: 1, count: $0.2),
                            signature: [UInt8](repeating: 2, count: $0.3))
                    }, last: last))
        }
        #expect(throws: Never.self) { try FrameCodec.encode(changes([(0, 2, 9, 64), (2, 5, 9, 0)])) }
        #expect(throws: Never.self) { try FrameCodec.encode(changes([], last: true)) }
        expectRefused(changes([]), "changes.segments")
        expectRefused(changes([], want: 0, last: true), "changes.segments")
        expectRefused(changes([(0, 2, 9, 0)], last: true), "changes.last")
        expectRefused(changes([(0, 2, 9, 0), (2, 3, 9, 64)]), "segment.start")
        expectRefused(changes([(0, 2, 9, 64), (3, 5, 9, 64)]), "segment.start")
        expectRefused(changes([(2, 2, 9, 64)]), "segment.end")
        expectRefused(changes([(3, 2, 9, 64)]), "segment.end")
        expectRefused(changes([(0, .max, 9, 64)]), "segment.end")
        expectRefused(changes([(0, 2, 0, 64)]), "segment.data")
        expectRefused(changes([(0, 2, Limits.segmentPartBytes + 1, 64)]), "segment.data")
        expectRefused(changes([(0, 2, 9, 63)]), "segment.signature")
        let many = (0...UInt64(Limits.segmentsPerFrame)).map { ($0, $0 + 1, 1, 64) }
        expectRefused(changes(many), "changes.segments")
    }

    @Test func `entries of a have are sorted, single and not empty`() {
        let other = ReplicaID(device: replica.device, incarnation: replica.incarnation + 1)
        func have(_ entries: [(ReplicaID, UInt64)]) -> Frame {
            .have(
                Frame.Have(
                    space: .home, vectorDigest: .zero,
                    entries: entries.map {
                        Frame.HaveEntry(replica: $0.0, next: $0.1, head: ChainHead(space: .home, replica: $0.0))
                    }, complete: false, stateDigest: .zero))
        }
        #expect(throws: Never.self) { try FrameCodec.encode(have([(replica, 1), (other, 1)])) }
        expectRefused(have([(other, 1), (replica, 1)]), "have.entries")
        expectRefused(have([(replica, 1), (replica, 2)]), "have.entries")
        expectRefused(have([(replica, 0)]), "have.next")
        expectRefused(have([(replica, .max)]), "have.next")
    }

    @Test func `hello and goodbye carry short, printable text`() {
        func hello(_ change: (inout Frame.Hello) -> Void) -> Frame {
            var hello = Frame.Hello.sample()
            change(&hello)
            return .hello(hello)
        }
        expectRefused(hello { $0.protocols = 0...1 }, "hello.protocol_least")
        expectRefused(hello { $0.name = String(repeating: "n", count: 129) }, "hello.name")
        expectRefused(hello { $0.name = "a\u{1b}[31m" }, "hello.name")
        expectRefused(hello { $0.agentVersion = "1\n2" }, "hello.agent_version")
        expectRefused(hello { $0.instance = "\0" }, "hello.instance")
        expectRefused(hello { $0.waitingRoomBytes = .max }, "hello.waiting_room_bytes")
        expectRefused(hello { $0.wallMilliseconds = .min }, "hello.wall_milliseconds")
        func goodbye(_ code: String, _ message: String = "") -> Frame {
            .goodbye(Frame.Goodbye(code: code, message: message))
        }
        expectRefused(goodbye(""), "goodbye.code")
        expectRefused(goodbye("Bad Code"), "goodbye.code")
        expectRefused(goodbye("x", String(repeating: "m", count: Limits.messageBytes + 1)), "goodbye.message")
    }

    @Test func `a broken clock in a hello is clamped, a port or range that cannot be is refused`() throws {
        // hello { protocol_least 1, protocol_greatest 1, wall_milliseconds = Int64.min as zigzag }
        let clock: [UInt8] = [8, 1, 16, 1, 64, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]
        guard case .hello(let hello)? = try FrameCodec.decode([1 << 3 | 2, UInt8(clock.count)] + clock) else {
            Issue.record("a hello was sent")
            return
        }
        #expect(hello.wallMilliseconds == -Limits.wallMilliseconds)
        #expect(throws: WireError.outOfRange(field: "hello.listen_port")) {
            try FrameCodec.decode([1 << 3 | 2, 8, 8, 1, 16, 1, 88, 0x80, 0x80, 4])
        }
        #expect(throws: WireError.outOfRange(field: "hello.protocol_greatest")) {
            try FrameCodec.decode([1 << 3 | 2, 4, 8, 2, 16, 1])
        }
    }
}
