import SyncCore
import SyncModel
import SyncSimulator
import Testing

@Suite struct SessionTests {
    @Test func `a peer with another protocol is told which side to upgrade`() throws {
        var talk = Conversation()
        let id = talk.accept(1, protocols: 7...9)
        #expect(talk.closed(id) == .protocolMismatch)
        let goodbye = try #require(talk.goodbye(id))
        #expect(goodbye.code == "protocol_mismatch")
        #expect(goodbye.message.contains("7 to 9") && goodbye.message.contains("upgrade"))
    }

    @Test func `the first announcement of a session names no replica, however many are held`() {
        var talk = Conversation()
        var author = Author(0)
        talk.hear(.appended(StoreChange(segments: [author.write(5)], stateDigest: .zero, additions: [])))
        let id = talk.accept(1)
        let haves = talk.sent(id).compactMap { frame -> Frame.Have? in
            guard case .have(let have) = frame else { return nil }
            return have
        }
        #expect(haves.count == 1)
        #expect(haves.first?.entries.isEmpty == true)
        #expect(haves.first?.vectorDigest == talk.core.held.digest)
    }

    @Test func `a peer that dialled us is shown where it listens, not where it came from`() {
        var talk = Conversation()
        let id = talk.accept(1)
        let view = talk.core.peers(at: talk.now).first { $0.connection == id }
        #expect(view?.endpoint == Endpoint(host: "h1", port: 21_817))
    }

    @Test func `a digest we cannot explain is asked about once`() {
        var talk = Conversation()
        let id = talk.accept(1)
        var author = Author(1)
        let segment = author.write()
        let have = Frame.have(
            Frame.Have(
                space: .home, vectorDigest: segment.tip.digestTerm(of: author.replica), entries: [], complete: false,
                stateDigest: .zero))
        talk.hear(.received(id, have, bytes: 100))
        #expect(talk.sent(id).contains(.haveRequest(Frame.HaveRequest(space: .home))))
        talk.hear(.received(id, have, bytes: 100))
        #expect(!talk.sent(id).contains(.haveRequest(Frame.HaveRequest(space: .home))))
    }

    @Test func `silence is pinged after ten seconds and ended after fifteen`() {
        var talk = Conversation()
        let id = talk.accept(1)
        for number in 1...4 {
            guard let nonce = talk.sent(id).compactMap(\.pingNonce).first else {
                Issue.record("the round trip of a new session is not measured the \(number)th time")
                return
            }
            talk.hear(.received(id, .pong(Frame.Pong(nonce: nonce)), bytes: 12))
            if number < 4 { talk.wait(milliseconds: 1_000) }
        }
        talk.wait(milliseconds: 10_900)
        #expect(talk.sent(id).allSatisfy { $0.pingNonce == nil })
        talk.wait(milliseconds: 200)
        #expect(talk.sent(id).contains { $0.pingNonce != nil })
        talk.wait(milliseconds: 3_800)
        #expect(talk.closed(id) == nil)
        talk.wait(milliseconds: 200)
        #expect(talk.closed(id) == .silent)
    }

    @Test func `a slow first answer is not shown as the round trip for long`() {
        var talk = Conversation()
        let id = talk.accept(1)
        func shown() -> Int64? {
            talk.core.peers(at: talk.now).first { $0.connection == id }?.roundTrip.map { $0.nanoseconds / 1_000_000 }
        }
        var nonce = talk.sent(id).compactMap(\.pingNonce).first ?? 0
        for (delay, least) in [(562, 562), (1, 1), (3, 1)] as [(Int64, Int64)] {
            talk.now = talk.now + .milliseconds(delay)
            talk.hear(.received(id, .pong(Frame.Pong(nonce: nonce)), bytes: 12))
            #expect(shown() == least)
            talk.wait(milliseconds: 1_000)
            nonce = talk.sent(id).compactMap(\.pingNonce).first ?? 0
        }
    }

    @Test func `of two crossing connections the one dialled by the greater device is kept`() {
        for own in [0, 1] {
            var talk = Conversation(own: own, members: 2)
            let (ours, theirs) = (Conversation.devices[own].id, Conversation.devices[1 - own].id)
            talk.hear(.addressAdded(Endpoint(host: "peer", port: 1), device: theirs, isStatic: false))
            guard case .dial(let dialled, _)? = talk.effects.first(where: \.isDial) else {
                Issue.record("a known address is not dialled")
                return
            }
            let accepted = talk.accept(1 - own)
            talk.hear(.opened(dialled, theirs, remote: Endpoint(host: "peer", port: 1)))
            talk.hear(.received(dialled, .hello(Conversation.hello(sessionNumber: 2)), bytes: 60))
            #expect(talk.closed(ours > theirs ? accepted : dialled) == .redundant)
            #expect(talk.core.upConnections == [ours > theirs ? dialled : accepted])
        }
    }

    @Test func `a stranger and a frame before hello are turned away`() {
        var talk = Conversation(members: 2)
        let stranger = ConnectionID(rawValue: 100)
        talk.hear(.opened(stranger, Conversation.devices[5].id, remote: Endpoint(host: "x", port: 1)))
        #expect(talk.closed(stranger) == .notMember)
        let hasty = ConnectionID(rawValue: 102)
        talk.hear(.opened(hasty, Conversation.devices[1].id, remote: Endpoint(host: "y", port: 1)))
        talk.hear(.received(hasty, .ping(Frame.Ping(nonce: 1)), bytes: 12))
        #expect(talk.closed(hasty) == .unexpectedFrame)
    }

    @Test func `hello must come within five seconds`() {
        var talk = Conversation(members: 2)
        let id = ConnectionID(rawValue: 2)
        talk.hear(.opened(id, Conversation.devices[1].id, remote: Endpoint(host: "y", port: 1)))
        talk.wait(milliseconds: 4_999)
        #expect(talk.closed(id) == nil)
        talk.wait(milliseconds: 1)
        #expect(talk.closed(id) == .helloTimeout)
    }

    @Test func `a member met before is dialled every second, others with jitter up to thirty`() {
        var talk = Conversation(members: 2)
        let endpoint = Endpoint(host: "peer", port: 1)
        talk.hear(.addressAdded(endpoint, device: Conversation.devices[1].id, isStatic: false))
        var waits: [Int64] = []
        for _ in 0..<12 {
            guard case .dial(let id, _)? = talk.effects.first(where: \.isDial) else {
                Issue.record("it is not dialled again")
                return
            }
            talk.hear(.dialFailed(id, code: "no_answer"))
            guard let next = talk.core.nextDeadline else { continue }
            waits.append((next - talk.now).nanoseconds / 1_000_000)
            talk.now = next
            talk.hear(.deadlinePassed)
        }
        #expect(waits.count == 12)
        #expect(waits.allSatisfy { (250...30_000).contains($0) })
        #expect((waits.max() ?? 0) > 1_000)
    }
}

extension Effect {
    var isDial: Bool {
        if case .dial = self { true } else { false }
    }
}

extension Frame {
    var pingNonce: UInt64? {
        if case .ping(let ping) = self { ping.nonce } else { nil }
    }
}
