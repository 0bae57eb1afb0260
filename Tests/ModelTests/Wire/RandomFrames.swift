import SyncModel

extension Frame.Hello {
    static func sample() -> Frame.Hello {
        Frame.Hello(
            protocols: 1...1, features: 3, featuresRequired: 0, name: "kitchen", runID: 7, sessionNumber: 1,
            wallMilliseconds: 1_700_000_000_000, agentVersion: "0.1.0", instance: "a1b2", listenPort: 21_817,
            waitingRoomBytes: 64 << 20)
    }
}

extension SeededGenerator {
    mutating func wipeReceipt() -> WipeReceipt {
        let signature = (0..<64).map { _ in UInt8(truncatingIfNeeded: next()) }
        let milliseconds = Int64.random(in: -Limits.wallMilliseconds...Limits.wallMilliseconds, using: &self)
        let statement = Dot(replica: replica(), counter: edgy(below: 1 << 61))
        return WipeReceipt(of: statement.replica.device, statement: statement, milliseconds: milliseconds, in: .home) {
            _ in signature
        }
    }

    mutating func frame() -> Frame {
        switch next() % 18 {
        case 0:
            var hello = Frame.Hello.sample()
            hello.protocols = 1...UInt32(next() % 1000 + 1)
            hello.features = next()
            hello.wallMilliseconds = Int64.random(in: -Limits.wallMilliseconds...Limits.wallMilliseconds, using: &self)
            hello.statementCount = UInt32(next() % 33)
            if chance(20) { hello.wipeReceipt = wipeReceipt() }
            return .hello(hello)
        case 1: return .have(have())
        case 2: return .haveRequest(Frame.HaveRequest(space: .home))
        case 3:
            let from = edgy(below: 1 << 61)
            return .want(
                Frame.Want(
                    id: edgy(below: .max) + 1, space: .home, replica: replica(), from: from,
                    to: from + edgy(below: 1 << 61),
                    creditBytes: edgy(below: Limits.creditBytes)))
        case 4:
            return .credit(Frame.Credit(wantID: next() | 1, bytes: edgy(below: Limits.creditBytes), cancel: chance(50)))
        case 5, 6: return .changes(changes())
        case 7: return .prune(Frame.Prune(space: .home, replica: replica()))
        case 8: return chance(50) ? .ping(Frame.Ping(nonce: next())) : .pong(Frame.Pong(nonce: next()))
        case 9: return .acknowledgements(acknowledgements())
        case 10: return .acknowledgementRequest(acknowledgementRequest())
        case 11: return .bulkWanted
        case 12: return chance(20) ? .stateOffer(Frame.StateOffer(space: .home)) : .stateRequest(stateRequest())
        case 13: return .stateItems(stateItems())
        case 14:
            let count = Int.random(in: 1...5, using: &self)
            if chance(50) {
                return .stateAnswer(Frame.StateAnswer(id: next() | 1, staged: (0..<count).map { _ in chance(50) }))
            }
            let announcements = (0..<count).map { number in
                StateAnnouncement(
                    key: ObjectKey(collection: "notes", id: ExactString("é\(number)")), touched: vector())
            }
            return .stateQuestion(Frame.StateQuestion(id: next() | 1, announcements: announcements))
        case 15: return .presence(presence())
        case 16: return .statements(Frame.Statements(space: .home, statements: statements()))
        default:
            return .goodbye(
                Frame.Goodbye(
                    code: "frame_malformed", message: "é\(next())", statements: chance(50) ? statements() : []))
        }
    }

    /// At most three, which fit in a `Goodbye`.
    private mutating func statements() -> [PlacedStatement] {
        (0..<Int.random(in: 0..<4, using: &self)).map { _ in
            PlacedStatement(dot: Dot(replica: replica(), counter: edgy(below: 1 << 61)), statement: statement())
        }
    }

    private mutating func stateRequest() -> Frame.StateRequest {
        Frame.StateRequest(
            id: next() | 1, space: .home, since: vector(), stagedEvents: chance(50) ? vector() : VersionVector(),
            asks: chance(50), creditBytes: edgy(below: Limits.creditBytes))
    }

    private mutating func stateItems() -> Frame.StateItems {
        let bytes = self.bytes(Int.random(in: 1..<300, using: &self))
        return Frame.StateItems(
            id: next() | 1, vector: chance(30) ? vector() : nil, bytes: bytes,
            last: chance(50))
    }

    private mutating func acknowledgements() -> Frame.Acknowledgements {
        let rows = (0..<Int.random(in: 1..<4, using: &self)).map { _ in
            let device = replica().device
            func signed(_ random: inout SeededGenerator) -> SignedAcknowledgement {
                SignedAcknowledgement(
                    Acknowledgement(
                        device: device, stamp: Stamp(rawValue: random.next()), vector: random.vector(),
                        digest: Sum256(bytes: random.bytes(32))!), signature: random.bytes(64))
            }
            return AcknowledgementRow(signed(&self), since: chance(50) ? signed(&self) : nil)
        }
        return Frame.Acknowledgements(space: .home, rows: rows)
    }

    private mutating func presence() -> Frame.Presence {
        let records = (0..<Int.random(in: 1..<4, using: &self)).map { _ in
            let entries = (0..<Int.random(in: 0..<4, using: &self)).map { number in
                PresenceRecord.Entry(
                    topic: ExactString("é\(number / 2)"), session: next(),
                    value: bytes(Int.random(in: 1..<30, using: &self)))
            }
            let mark = PresenceMark(run: edgy(below: Limits.presenceRun), sequence: next())
            return SignedPresence(
                PresenceRecord(device: replica().device, mark: mark, entries: entries), signature: bytes(64))
        }
        return Frame.Presence(space: .home, records: records)
    }

    private mutating func acknowledgementRequest() -> Frame.AcknowledgementRequest {
        let devices = Set((0..<Int.random(in: 0..<5, using: &self)).map { _ in replica().device }).sorted()
        return Frame.AcknowledgementRequest(
            space: .home,
            held: devices.map {
                .init(device: $0, mark: AcknowledgementMark(stamp: Stamp(rawValue: next()), tag: next()))
            })
    }

    private mutating func have() -> Frame.Have {
        Frame.Have(
            space: .home, vectorDigest: Sum256(bytes: bytes(32))!,
            entries: vector().entries.map {
                Frame.HaveEntry(replica: $0.replica, next: $0.next, head: ChainHead(bytes: bytes(32))!)
            }, complete: chance(50), stateDigest: Sum256(bytes: bytes(32))!,
            acknowledgementsDigest: chance(50) ? nil : Sum256(bytes: bytes(32))!)
    }

    private mutating func changes() -> Frame.Changes {
        var next = edgy(below: 1 << 61)
        var segments: [Frame.SegmentPart] = []
        for _ in 0..<Int.random(in: 1..<5, using: &self) {
            let end = next + edgy(below: 1 << 59) + 1
            segments.append(
                Frame.SegmentPart(
                    start: next, end: end, bytes: bytes(Int.random(in: 1..<300, using: &self)), isPacked: chance(30),
                    signature: bytes(64)))
            next = end
        }
        if chance(30), !segments[segments.count - 1].isPacked { segments[segments.count - 1].signature = [] }
        let isWhole = segments[segments.count - 1].endsSegment
        if chance(10) {
            return Frame.Changes(
                space: .home, replica: replica(), wantID: self.next() | 1, segments: [], last: true,
                firstHeld: edgy(below: 1 << 61))
        }
        return Frame.Changes(
            space: .home, replica: replica(), wantID: edgy(below: 100), segments: segments, last: isWhole && chance(50))
    }
}
