import FoundationEssentials
import SimulatedDevices
import SwiftProtobuf
import SyncModel

enum MemberSeeds {
    static let facts = SimulatedDevice.all.prefix(4).map(\.fact)

    /// Facts that hold, and facts of the same form that do not.
    static var all: [[UInt8]] {
        var chance = Chance(seed: 2)
        return (0..<Seeds.count).map { number in
            let fact = facts[number % facts.count]
            let binding = number % 3 == 0 ? chance.bytes(fact.binding.count) : fact.binding
            return MemberFact(
                subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: binding,
                discoveryKey: chance.bytes(32), role: MemberFact.Role.allCases[number % 3],
                name: "device \(chance.word())\(number)", isHost: number % 5 == 0,
                founder: number % 7 == 0 ? fact.device : nil,
                until: number % 4 == 0 ? UInt64(number) << UInt64(number % 60) : nil
            ).encoded
        }
    }
}

enum PairingSeeds {
    static var all: [[UInt8]] {
        var chance = Chance(seed: 3)
        let ofTickets = (0..<Seeds.count * 6 / 5).map { number in
            number % 3 == 0 ? ticket(&chance) : frame(number, &chance)
        }
        return ofTickets + (0..<40).map { codes($0, &chance) }
    }

    private static func ticket(_ chance: inout Chance) -> [UInt8] {
        let addresses = ["192.168.1.\(chance.below(256)):21817", "[fd00::1]:21817", "kitchen.local:80"]
        let ticket = Ticket(
            inviter: SimulatedDevice.all[chance.below(4)].id, secret: chance.bytes(Ticket.secretByteCount),
            expiresAtMilliseconds: Int64(chance.below(1 << 42)),
            addresses: addresses.suffix(1 + chance.below(3)).compactMap(HostPort.init(text:)))
        return Array((chance.below(4) == 0 ? ticket.text.uppercased() : ticket.text).utf8)
    }

    /// Under the keys and the secret that the fuzzer knows.
    private static func frame(_ number: Int, _ chance: inout Chance) -> [UInt8] {
        let secret = [UInt8](repeating: 7, count: Ticket.secretByteCount)
        let keys = (inviter: [UInt8](repeating: 1, count: 91), joiner: [UInt8](repeating: 2, count: 91))
        let fact = MemberSeeds.facts[number % 4]
        let message = introduction(of: fact, number, &chance)
        let isJoiner = number % 2 == 0
        guard let said = Introduction(message, subjectPublicKeyInfo: isJoiner ? keys.joiner : keys.inviter) else {
            preconditionFailure("an introduction of a member is one")
        }
        switch number % 8 {
        case 7: return PairingFrames.encode(.joinConfirmed(Lanyard_Pairing_V1_JoinConfirmed()))
        case 5: return PairingFrames.encode(.joinRefused(.with { $0.code = ["ticket_expired", "x"][chance.below(2)] }))
        case 1, 3:
            let proof = TicketProof.inviter(secret: secret, inviter: said, joinerKey: keys.joiner, joinerProof: [])
            return PairingFrames.encode(
                .joinAccepted(
                    .with {
                        $0.inviter = message
                        $0.proof = .init(proof)
                        if number % 3 != 0 { $0.grant = grant(number).message }
                    }))
        case _:
            let proof = TicketProof.joiner(secret: secret, inviterKey: keys.inviter, joiner: said)
            return PairingFrames.encode(
                .joinRequest(
                    .with {
                        $0.ticket = .init(TicketID(secret: secret).bytes)
                        $0.joiner = message
                        $0.proof = .init(number % 6 == 0 ? chance.bytes(32) : proof)
                    }))
        }
    }
}

extension PairingSeeds {
    private static func grant(_ number: Int) -> MembershipGrant {
        MembershipGrant(
            role: MemberFact.Role.allCases[number % 3],
            founder: number % 2 == 0 ? MemberSeeds.facts[number % 4].device : nil)
    }

    private static func introduction(
        of fact: MemberFact, _ number: Int, _ chance: inout Chance
    ) -> Lanyard_Pairing_V1_Introduction {
        .with {
            $0.name = "device \(number)"
            $0.signingKey = .init(fact.signingKey)
            $0.binding = .init(fact.binding)
            $0.discoveryKey = .init(fact.discoveryKey)
            $0.addresses = (0..<chance.below(4)).map { "10.0.0.\($0):21817" }
        }
    }

    /// A frame of a pairing by typed codes, or an offer as it stands in one.
    private static func codes(_ number: Int, _ chance: inout Chance) -> [UInt8] {
        let fact = MemberSeeds.facts[number % 4]
        guard
            let said = Introduction(
                introduction(of: fact, number, &chance), subjectPublicKeyInfo: fact.subjectPublicKeyInfo)
        else { preconditionFailure("an introduction of a member is one") }
        let offer = CodesFrames.offer(
            said, memberCount: UInt64(chance.below(1 << 20)), grant: number % 3 == 0 ? nil : grant(number))
        let nonce = chance.bytes(PairingTranscript.nonceByteCount)
        switch number % 8 {
        case 0: return offer
        case 1: return CodesFrames.encode(.message(.commitment(nonce)))
        case 2: return CodesFrames.encode(.message(.answer(nonce)))
        case 3: return CodesFrames.encode(.message(.opening(nonce)))
        case 4: return CodesFrames.encode(.message(.confirmed))
        case 5: return CodesFrames.encode(.message(.admitted))
        case 6:
            let reasons = PairingEnd.allCases
            return CodesFrames.encode(.message(.ended(reasons[chance.below(reasons.count)])))
        case _: return CodesFrames.encode(.offer(offer))
        }
    }
}

/// The statements of two members on roles, in the form that `FuzzSession` reads: by its recovery key, by a device,
/// by nobody.
enum StatementSeeds {
    static func talk(_ number: Int) -> [UInt8] {
        let placed = (0..<1 + number % 4).map { statement(number + $0) }
        let frames: [Frame] = [
            .statements(Frame.Statements(space: .home, statements: placed)),
            .goodbye(Frame.Goodbye(code: number % 3 == 0 ? "revoked" : "shutdown", message: "", statements: placed)),
        ]
        var bytes: [UInt8] = []
        for frame in number % 2 == 0 ? frames : frames.reversed() {
            guard let encoded = try? FrameCodec.encode(frame) else { continue }
            bytes.append(UInt8(number % 2 << 4))
            bytes.append(lengthPrefixed: encoded)
        }
        return bytes
    }

    private static func statement(_ number: Int) -> PlacedStatement {
        let devices = SimulatedDevice.all
        let dot = Dot(
            replica: ReplicaID(device: devices[number % 4].id, incarnation: 1), counter: UInt64(number / 4))
        let ends = number % 3 == 0 ? [] : [TrustStatement.End(incarnation: 1, end: UInt64(number))]
        let device = devices[number / 3 % 4].id
        let content: TrustStatement.Content =
            switch number % 5 {
            case 0: .role(device, .reader, ends: ends)
            case 1: .readmission(device, .admin, ends: ends)
            case 2: .recoveryKey([UInt8](repeating: 9, count: 32))
            case _: .revocation(device, ends: ends, wipes: number % 2 == 0)
            }
        let knows = VersionVector([VersionVector.Entry(replica: dot.replica, next: dot.counter + 1)])
        guard number % 4 != 1, let key = RecoveryKey(bytes: [UInt8](repeating: 7, count: 32)) else {
            return PlacedStatement(
                dot: dot,
                statement: TrustStatement(
                    content, by: .author, knows: knows, at: dot, in: .home, sign: devices[number % 5 % 4].sign))
        }
        return PlacedStatement(
            dot: dot, statement: TrustStatement(content, by: key, knows: knows, at: dot, in: .home))
    }
}

/// Conversations of two members that keep to the protocol, in the form that `FuzzSession` reads.
enum SessionSeeds {
    static var all: [[UInt8]] {
        (0..<UInt64(Seeds.count)).map { seed in
            var talk = Talk(seed: seed)
            for _ in 0..<3 + talk.chance.below(12) { talk.go() }
            return talk.bytes
        } + (0..<40).map { number in StatementSeeds.talk(number) }
    }

    private struct Talk {
        var chance: Chance
        private(set) var bytes: [UInt8] = []
        private var authors: [ChangeAuthor]
        private var last: [VerifiedSegment?] = [nil, nil]

        init(seed: UInt64) {
            chance = Chance(seed: seed &+ 2_000)
            authors = (1...2).map { number in
                let replica = ReplicaID(device: SimulatedDevice.all[number].id, incarnation: 1)
                return ChangeAuthor(
                    space: .home, replica: replica, tip: .empty(space: .home, replica: replica),
                    named: VersionVector())
            }
        }

        mutating func go() {
            let peer = chance.below(2)
            switch chance.below(12) {
            case 0: bytes.append(UInt8(2 | chance.below(64) << 2))
            case 1 where chance.below(3) == 0: bytes.append(UInt8(3 | peer << 4))
            case 2, 3, 4, 5: write(peer)
            case _: send(frame(peer), from: peer)
            }
        }

        /// The peer writes, pushes it, and says what it holds.
        private mutating func write(_ peer: Int) {
            let payload = Array("{\"n\":\(chance.below(100))}".utf8)
            let operations: [Operation] =
                chance.below(2) == 0
                ? [.appendEvent(.init(stream: "s", type: nil, payload: payload))]
                : [
                    .editObject(
                        .init(object: Known.key, life: .birth, edits: [.update("f", .register(.set(.integer(1))))]))
                ]
            let held = VersionVector([
                .init(replica: authors[peer].replica, next: authors[peer].tip.next)
            ])
            let segments = authors[peer].author(
                [operations], held: held, greatestStamp: authors[peer].tip.stamp, wallMilliseconds: 1_000,
                sign: SimulatedDevice.all[peer + 1].sign)
            guard let segment = segments?.first else { preconditionFailure("stamps are not used up") }
            last[peer] = segment
            let relay = chance.below(4) == 0 ? 1 - peer : peer
            if chance.below(4) != 0 { send(push(segment), from: relay) }
            send(have(peer), from: relay)
        }

        private func push(_ segment: VerifiedSegment, wantID: UInt64 = 0) -> Frame {
            .changes(
                Frame.Changes(
                    space: .home, replica: segment.segment.replica, wantID: wantID,
                    segments: [Frame.SegmentPart(segment.segment)], last: wantID > 0))
        }

        private func have(_ peer: Int) -> Frame {
            let (replica, tip) = (authors[peer].replica, authors[peer].tip)
            return .have(
                Frame.Have(
                    space: .home, vectorDigest: tip.digestTerm(of: replica),
                    entries: [Frame.HaveEntry(replica: replica, next: tip.next, head: tip.head)], complete: true,
                    stateDigest: .zero))
        }

        private mutating func frame(_ peer: Int) -> Frame {
            let (replica, next) = (authors[1 - peer].replica, authors[1 - peer].tip.next)
            switch chance.below(14) {
            case 0: return .ping(Frame.Ping(nonce: UInt64(chance.below(9))))
            case 1: return .pong(Frame.Pong(nonce: UInt64(chance.below(9))))
            case 2: return .haveRequest(Frame.HaveRequest(space: .home))
            case 3, 4:
                return .want(
                    Frame.Want(
                        id: UInt64(1 + chance.below(5)), space: .home, replica: replica, from: 1, to: max(2, next),
                        creditBytes: 65_536))
            case 5:
                let isCancelled = chance.below(3) == 0
                return .credit(Frame.Credit(wantID: UInt64(1 + chance.below(5)), bytes: 4_096, cancel: isCancelled))
            case 6: return .prune(Frame.Prune(space: .home, replica: replica))
            case 7:
                return .stateRequest(
                    Frame.StateRequest(
                        id: UInt64(1 + chance.below(5)), space: .home, since: VersionVector(),
                        stagedEvents: VersionVector(), asks: true, creditBytes: 65_536))
            case 8: return .bulkWanted
            case 9: return .goodbye(Frame.Goodbye(code: "shutdown", message: ""))
            case 10: return .acknowledgementRequest(Frame.AcknowledgementRequest(space: .home, held: []))
            case 11: return last[peer].map { push($0, wantID: UInt64(1 + chance.below(3))) } ?? have(peer)
            case 12: return presence(of: chance.below(2), sequence: UInt64(chance.below(9)))
            case _: return have(peer)
            }
        }

        private func presence(of peer: Int, sequence: UInt64) -> Frame {
            let device = SimulatedDevice.all[peer + 1]
            let record = PresenceRecord(
                device: device.id, mark: PresenceMark(run: 1, sequence: sequence),
                entries: sequence == 0
                    ? [] : [.init(topic: "t", session: sequence, value: Array("\(sequence)".utf8))])
            return .presence(
                Frame.Presence(space: .home, records: [SignedPresence(record, space: .home, sign: device.sign)]))
        }

        private mutating func send(_ frame: Frame, from peer: Int) {
            guard let encoded = try? FrameCodec.encode(frame) else { return }
            bytes.append(UInt8(peer << 4))
            bytes.append(lengthPrefixed: encoded)
        }
    }
}
