import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// Two live agents with one key (Decisions/22): both are told, and a restart is not taken for a twin.
@Suite struct TwinTests {
    private func reports(_ talk: Conversation) -> [Report] {
        talk.effects.compactMap { effect in
            guard case .report(let report) = effect else { return nil }
            return report
        }
    }

    private func pings(_ talk: Conversation, _ id: ConnectionID) -> [UInt64] { talk.sent(id).compactMap(\.pingNonce) }

    private let twin = Report.duplicateIdentity(Conversation.devices[1].id)

    @Test func `a second run takes the place only when the first one does not answer`() {
        var talk = Conversation()
        let first = talk.accept(1, runID: 1)
        let old = pings(talk, first)
        let second = talk.accept(1, runID: 2)
        #expect(talk.closed(second) == .peerRestarted && talk.closed(first) == nil)
        #expect(!reports(talk).contains(twin), "it may have restarted a moment ago")
        let asked = pings(talk, first)
        #expect(asked.count == 1 && asked != old)
        // An answer to what was asked before the second hello came proves nothing: it may have been under way.
        for nonce in old { talk.hear(.received(first, .pong(Frame.Pong(nonce: nonce)), bytes: 12)) }
        #expect(!reports(talk).contains(twin))
        talk.wait(milliseconds: 1_000)
        let third = talk.accept(1, runID: 2)
        #expect(talk.closed(first) == .peerRestarted && talk.closed(third) == nil)
        #expect(talk.core.upConnections == [third])
    }

    @Test func `two runs that both answer are each told once, and one of them goes on`() {
        var talk = Conversation()
        let first = talk.accept(1, runID: 1)
        _ = talk.accept(1, runID: 2)
        for nonce in pings(talk, first) { talk.hear(.received(first, .pong(Frame.Pong(nonce: nonce)), bytes: 12)) }
        #expect(reports(talk).contains(twin))
        #expect(talk.closed(first) == .duplicateIdentity, "it has to be told, too")
        // It comes back first, and keeps its place from now on.
        let again = talk.accept(1, runID: 1)
        #expect(talk.closed(again) == nil)
        _ = talk.accept(1, runID: 2)
        for nonce in pings(talk, again) { talk.hear(.received(again, .pong(Frame.Pong(nonce: nonce)), bytes: 12)) }
        #expect(talk.closed(again) == nil)
        for _ in 0..<5 {
            let other = talk.accept(1, runID: 2)
            #expect(talk.closed(other) == .duplicateIdentity)
            #expect(talk.goodbye(other)?.code == "duplicate_identity")
        }
        #expect(talk.core.upConnections == [again])
    }

    @Test func `on a connection with our own key the run tells ourselves from a copy of our disk`() {
        var talk = Conversation()
        let ownTwin = Report.duplicateIdentity(Conversation.devices[0].id)
        let ourselves = talk.accept(0, runID: 1)
        #expect(talk.closed(ourselves) == .ownDevice && !reports(talk).contains(ownTwin))
        let copy = talk.accept(0, runID: 2)
        #expect(talk.closed(copy) == .duplicateIdentity && reports(talk).contains(ownTwin))
        #expect(talk.core.upConnections.isEmpty)
    }

    private func goodbye(otherRun: UInt64, proof: [UInt8]) -> Frame {
        .goodbye(Frame.Goodbye(code: "duplicate_identity", message: "", otherRun: otherRun, proof: proof))
    }

    /// What a device signed as one run about another.
    private func statement(_ device: Int, run: UInt64, other: UInt64, by signer: Int? = nil) -> [UInt8] {
        TwinStatement.signed(
            device: Conversation.devices[device].id, run: run, other: other,
            Conversation.devices[signer ?? device].sign
        ).signature
    }

    @Test func `what a peer says of a second holder of our key counts with a signature of that one`() {
        let ownTwin = Report.duplicateIdentity(Conversation.devices[0].id)
        let claims: [(otherRun: UInt64, proof: [UInt8])] = [
            (0, []), (9, []), (9, [UInt8](repeating: 1, count: 64)),
            // Signed by the member itself; by us, about another run than this; by this very run.
            (9, statement(0, run: 9, other: 1, by: 1)), (9, statement(0, run: 9, other: 2)),
            (1, statement(0, run: 1, other: 1)), (9, statement(0, run: 1, other: 9)),
        ]
        for claim in claims {
            var talk = Conversation()
            let id = talk.accept(1)
            talk.hear(.received(id, goodbye(otherRun: claim.otherRun, proof: claim.proof), bytes: 30))
            #expect(!reports(talk).contains(ownTwin))
        }
        var talk = Conversation()
        let id = talk.accept(1)
        talk.hear(.received(id, goodbye(otherRun: 9, proof: statement(0, run: 9, other: 1)), bytes: 30))
        #expect(reports(talk).contains(ownTwin))
    }

    /// A doubted device acknowledges nothing for a while, and others wait for that before they forget.
    @Test func `a peer that says without proof that our key is used twice is doubted for once in an hour`() {
        func acknowledges(within seconds: Int64) -> Bool {
            var talk = Conversation()
            var author = Author(0)
            let other = talk.accept(2, features: SessionProtocol.features)
            var hasAcknowledged = false
            func look() {
                if talk.effects.contains(where: { if case .acknowledge = $0 { true } else { false } }) {
                    hasAcknowledged = true
                }
                for nonce in pings(talk, other) {
                    talk.hear(.received(other, .pong(Frame.Pong(nonce: nonce)), bytes: 12))
                    look()
                }
            }
            talk.hear(.appended(StoreChange(segments: [author.write()], stateDigest: .zero, additions: [])))
            for second in 0..<seconds {
                if second % 5 == 0 {
                    let id = talk.accept(1)
                    look()
                    talk.hear(.received(id, goodbye(otherRun: UInt64(100 + second), proof: []), bytes: 30))
                    look()
                    talk.hear(.closed(id, code: "closed_by_peer"))
                }
                talk.wait(milliseconds: 1_000)
                look()
            }
            return hasAcknowledged
        }
        #expect(!acknowledges(within: 50))
        #expect(acknowledges(within: 200))
    }

    @Test func `a run that is told of another one names it to the peer that told it, and to no other`() {
        var talk = Conversation()
        let id = talk.accept(1)
        talk.hear(.received(id, goodbye(otherRun: 9, proof: []), bytes: 30))
        func hello(_ device: Int) -> Frame.Hello? {
            let connection = talk.open(device)
            return talk.sent(connection).lazy.compactMap { if case .hello(let hello) = $0 { hello } else { nil } }.first
        }
        #expect(hello(1)?.twinRun == 9)
        #expect(hello(2)?.twinRun == 0)
    }

    /// Two live agents with the key of device 1, and what each was told by the core between them.
    private struct Pair {
        var talk = Conversation()
        /// By run: the session that is up, and what it was told of.
        var connections: [UInt64: ConnectionID] = [:]
        var told: [UInt64: UInt64] = [:]
        var isConvinced: Set<UInt64> = []
        var ended: [UInt64: Int] = [:]

        /// One of them dials, says hello, and answers what it is asked.
        mutating func dial(_ run: UInt64) {
            let device = Conversation.devices[1]
            var hello = Conversation.hello(runID: run, sessionNumber: UInt64.random(in: 1 ... .max))
            hello.twinRun = told[run] ?? 0
            let id = talk.open(1)
            connections[run] = id
            step(.received(id, .hello(hello.signing(as: device.id, device.sign)), bytes: 60))
        }

        private mutating func step(_ input: Input) {
            talk.hear(input)
            let effects = talk.effects
            var ended: [UInt64] = []
            for (run, id) in connections {
                for frame in talk.sent(id) {
                    guard case .goodbye(let goodbye) = frame, goodbye.code == "duplicate_identity" else { continue }
                    told[run] = goodbye.otherRun
                    let statement = TwinStatement(
                        device: Conversation.devices[1].id, run: goodbye.otherRun, other: run,
                        signature: goodbye.proof)
                    if statement.isSigned(by: Conversation.devices[1].fact.signingKey) { isConvinced.insert(run) }
                    self.ended[run, default: 0] += 1
                }
                if talk.closed(id) != nil { ended.append(run) }
            }
            for run in ended { connections[run] = nil }
            for case .send(let id, .ping(let ping)) in effects where connections.values.contains(id) {
                step(.received(id, .pong(Frame.Pong(nonce: ping.nonce)), bytes: 12))
            }
        }
    }

    @Test(arguments: 0..<64)
    func `two holders of a key that meet in a third both learn it, in whatever order they come back`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var pair = Pair()
        pair.dial(21)
        pair.dial(22)
        var dials = 0
        while pair.isConvinced.count < 2, dials < 100 {
            let waiting = [21, 22].filter { pair.connections[$0] == nil }
            dials += 1
            pair.talk.wait(milliseconds: 100)
            guard let run = waiting.randomElement(using: &random) else { continue }
            pair.dial(run)
        }
        #expect(pair.isConvinced == [21, 22])
        // And then one of them has peace.
        for _ in 0..<20 {
            for run in [21, 22] as [UInt64] where pair.connections[run] == nil { pair.dial(run) }
        }
        let ended = pair.ended
        for _ in 0..<5 {
            for run in [21, 22] as [UInt64] where pair.connections[run] == nil { pair.dial(run) }
        }
        #expect([21, 22].contains { pair.ended[$0] == ended[$0] })
    }

    @Test(arguments: [false, true])
    func `one of two holders of a key does not speak for the other: it acknowledges nothing`(isShared: Bool) {
        var talk = Conversation()
        var author = Author(1)
        if isShared { _ = talk.accept(0, runID: 2) }
        let id = talk.accept(1)
        talk.hear(.received(id, author.write().push(), bytes: 100))
        talk.persist()
        var acknowledges = false
        for _ in 0..<12 {
            talk.hear(.received(id, .ping(Frame.Ping(nonce: 1)), bytes: 12))
            talk.wait(milliseconds: 5_000)
            acknowledges = acknowledges || talk.effects.contains { if case .acknowledge = $0 { true } else { false } }
        }
        #expect(acknowledges != isShared)
    }

    @Test func `a repeated session is refused`() {
        var talk = Conversation()
        let first = talk.accept(1, runID: 1)
        let second = talk.accept(1, runID: 1)
        #expect(talk.closed(second) == .duplicateIdentity && talk.closed(first) == nil)
        #expect(reports(talk).contains(twin))
    }
}

/// What a device learns of itself from others.
@Suite struct OwnHistoryTests {
    @Test func `own changes that come back are said once`() {
        var author = Author(0)
        let lost = [author.write(), author.write()]
        var talk = Conversation()
        let id = talk.accept(1)
        var said = 0
        for segment in lost {
            talk.hear(.received(id, segment.push(), bytes: 100))
            talk.persist()
            said += talk.effects.count { $0 == .report(.ownChangesReturned) }
        }
        #expect(talk.core.held.next(of: author.replica) == 2 && said == 1)
    }
}
