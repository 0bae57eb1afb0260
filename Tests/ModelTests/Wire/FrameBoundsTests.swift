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

    @Test func `where a history begins is said only where nothing of it comes`() {
        func changes(_ parts: [Frame.SegmentPart], last: Bool, _ firstHeld: UInt64) -> Frame {
            .changes(
                Frame.Changes(
                    space: .home, replica: replica, wantID: 1, segments: parts, last: last, firstHeld: firstHeld))
        }
        let part = Frame.SegmentPart(start: 0, end: 1, bytes: [1], signature: [UInt8](repeating: 2, count: 64))
        #expect(throws: Never.self) { try FrameCodec.encode(changes([], last: true, 9)) }
        expectRefused(changes([part], last: true, 9), "changes.first_held")
        expectRefused(changes([], last: true, .max), "changes.first_held")
    }

    @Test func `frames of a state are numbered and bounded`() {
        func request(id: UInt64 = 1, credit: UInt64 = 1) -> Frame {
            .stateRequest(
                Frame.StateRequest(
                    id: id, space: .home, since: VersionVector(), stagedEvents: VersionVector(), asks: false,
                    creditBytes: credit))
        }
        func items(id: UInt64 = 1, _ count: Int, last: Bool = false) -> Frame {
            .stateItems(Frame.StateItems(id: id, bytes: [UInt8](repeating: 1, count: count), last: last))
        }
        func answer(_ id: UInt64, _ count: Int) -> Frame {
            .stateAnswer(Frame.StateAnswer(id: id, staged: [Bool](repeating: true, count: count)))
        }
        expectRefused(request(id: 0), "state_request.id")
        expectRefused(request(credit: .max), "state_request.credit_bytes")
        expectRefused(items(id: 0, 1), "state_items.id")
        expectRefused(items(0), "state_items.data")
        expectRefused(items(Limits.statePartBytes + 1), "state_items.data")
        #expect(throws: Never.self) { try FrameCodec.encode(items(0, last: true)) }
        #expect(throws: Never.self) { try FrameCodec.encode(items(Limits.statePartBytes)) }
        expectRefused(.stateQuestion(Frame.StateQuestion(id: 1, announcements: [])), "state_question.announcements")
        expectRefused(answer(0, 1), "state_answer.id")
        expectRefused(answer(1, 0), "state_answer.staged")
        expectRefused(answer(1, Limits.stateAnnouncementsPerFrame + 1), "state_answer.staged")
    }

    @Test func `a vector that no frame holds is cut, or left out`() throws {
        let device = replica.device
        let vector = VersionVector(
            (0...UInt64(Limits.stateFrameEntries)).map {
                VersionVector.Entry(replica: ReplicaID(device: device, incarnation: $0), next: 1)
            })
        let request = Frame.StateRequest(
            id: 1, space: .home, since: vector, stagedEvents: vector, asks: true, creditBytes: 1)
        #expect(request.since.entries.count == Limits.stateFrameEntries && vector.covers(request.since))
        #expect(try FrameCodec.decode(FrameCodec.encode(.stateRequest(request))) == .stateRequest(request))
        #expect(Frame.StateItems(id: 1, vector: vector, bytes: [1], last: false).vector == nil)
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

    /// One after the other in a history; the longest has `ends` ends.
    private func statements(_ count: Int, ends: Int = 0) -> [PlacedStatement] {
        let ends = (0..<ends).map { TrustStatement.End(incarnation: UInt64($0), end: 1) }
        return (0..<UInt64(count)).map { counter in
            let dot = Dot(replica: replica, counter: counter)
            let statement = TrustStatement(
                .revocation(replica.device, ends: ends, wipes: false), by: .author, knows: VersionVector(), at: dot,
                in: .home
            ) { _ in [UInt8](repeating: 7, count: 64) }
            return PlacedStatement(dot: dot, statement: statement)
        }
    }

    @Test func `statements are bounded in number and bytes`() throws {
        func sent(_ statements: [PlacedStatement]) -> Frame {
            .statements(Frame.Statements(space: .home, statements: statements))
        }
        func goodbye(_ statements: [PlacedStatement]) -> Frame {
            .goodbye(Frame.Goodbye(code: "revoked", message: "", statements: statements))
        }
        for frame in [sent(statements(32)), goodbye(statements(10)), sent([]), sent(statements(1, ends: 16_384))] {
            #expect(try FrameCodec.decode(FrameCodec.encode(frame)) == frame)
        }
        expectRefused(sent(statements(33)), "statements.statements")
        expectRefused(sent(statements(2, ends: 16_384)), "statements.statements")
        expectRefused(goodbye(statements(33)), "goodbye.statements")
        // 64 KiB in all.
        expectRefused(goodbye(statements(1, ends: 8_000)), "goodbye.statements")
        var hello = Frame.Hello.sample()
        hello.statementCount = 32
        #expect(try FrameCodec.decode(FrameCodec.encode(.hello(hello))) == .hello(hello))
        hello.statementCount = 33
        expectRefused(.hello(hello), "hello.statement_count")
    }

    private func field(_ number: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        var field: [UInt8] = []
        field.append(varint: number << 3 | 2)
        field.append(lengthPrefixed: bytes)
        return field
    }

    @Test func `a receipt that cannot be read is refused`() throws {
        let replica = ReplicaID(device: DeviceID(bytes: [UInt8](repeating: 4, count: 32))!, incarnation: 1)
        let receipt = WipeReceipt(
            of: replica.device, statement: Dot(replica: replica, counter: 300), milliseconds: 5, in: .home
        ) { _ in [UInt8](repeating: 9, count: 64) }
        var hello = Frame.Hello.sample()
        let plain = try FrameCodec.encode(.hello(hello))
        hello.wipeReceipt = receipt
        #expect(try FrameCodec.decode(FrameCodec.encode(.hello(hello))) == .hello(hello))
        // One byte for the field's number, one for its length.
        func frame(_ receipt: [UInt8]) -> [UInt8] { field(1, plain.dropFirst(2) + field(16, receipt)) }
        let bytes = receipt.canonicalBytes
        #expect(try FrameCodec.decode(frame(bytes)) == .hello(hello))
        for broken in [Array(bytes.dropLast()), bytes + [0], [1]] {
            #expect(throws: WireError.outOfRange(field: "hello.wipe_receipt")) {
                try FrameCodec.decode(frame(broken))
            }
        }
    }

    @Test func `too many statements are refused before they are read, and unknown ones are passed over`() throws {
        let one = statements(1)[0].canonicalBytes
        func frame(_ parts: [[UInt8]]) -> [UInt8] {
            field(20, field(1, SpaceID.home.bytes) + parts.flatMap { field(2, $0) })
        }
        #expect(throws: WireError.outOfRange(field: "statements")) {
            try FrameCodec.decode(frame(Array(repeating: one, count: 33)))
        }
        #expect(throws: WireError.outOfRange(field: "statements")) {
            try FrameCodec.decode(frame([[UInt8](repeating: 0, count: 256 << 10 + 1)]))
        }
        // Kind 9, and one with bytes behind it, may be those of a later version.
        var later = one
        later[ReplicaID.byteCount + 1] = 9
        let known = Frame.Statements(space: .home, statements: statements(1))
        #expect(try FrameCodec.decode(frame([later, one + [0], one])) == .statements(known))
        #expect(throws: WireError.outOfRange(field: "space")) { try FrameCodec.decode(field(20, field(2, one))) }
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
