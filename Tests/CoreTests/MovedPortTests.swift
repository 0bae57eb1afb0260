import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// Another port where this device listens, while it runs.
struct MovedPortTests {
    private func port(_ frames: [Frame]) -> UInt16? {
        frames.lazy.compactMap { if case .hello(let hello) = $0 { hello.listenPort } else { nil } }.first
    }

    private func dialled(_ host: String, _ talk: Conversation) -> ConnectionID? {
        talk.effects.lazy.compactMap { effect in
            guard case .dial(let id, Endpoint(host: host, port: 21_817)) = effect else { return nil }
            return id
        }.first
    }

    @Test func `each session ends with a reason, and the peer is dialled at once and told the port`() throws {
        var talk = Conversation()
        talk.hear(.announced(instance: "", listenPort: 21_817))
        let first = talk.open(1)
        #expect(port(talk.sent(first)) == 21_817)
        talk.hear(.received(first, .hello(Conversation.hello()), bytes: 60))
        let second = talk.accept(2)
        // One that has said nothing was told the old port as well.
        let third = talk.open(1)
        talk.wait(milliseconds: 2_000)
        talk.hear(.announced(instance: "desk", listenPort: 4_000))
        for id in [first, second, third] {
            #expect(talk.closed(id) == .moved)
            #expect(talk.goodbye(id)?.code == "moved")
        }
        #expect(dialled("h2", talk) != nil)
        let again = try #require(dialled("h1", talk))
        talk.hear(.closed(first, code: "closed"))
        talk.hear(.opened(again, Conversation.devices[1].id, remote: Endpoint(host: "h1", port: 21_817)))
        #expect(port(talk.sent(again)) == 4_000)
        talk.hear(.received(again, .hello(Conversation.hello(sessionNumber: 2)), bytes: 60))
        #expect(talk.core.peers(at: talk.now).first { $0.device == Conversation.devices[1].id }?.connection == again)
    }

    @Test func `a peer that moved is remembered at its new port`() {
        var talk = Conversation()
        let id = talk.accept(1)
        talk.wait(milliseconds: 2_000)
        talk.hear(.received(id, .goodbye(Frame.Goodbye(code: "moved", message: "")), bytes: 20))
        talk.hear(.closed(id, code: "closed"))
        let again = talk.open(1)
        var hello = Conversation.hello(sessionNumber: 2)
        hello.listenPort = 4_000
        talk.hear(.received(again, .hello(hello), bytes: 60))
        #expect(talk.effects.contains(.remember(Endpoint(host: "h1", port: 4_000), Conversation.devices[1].id)))
    }

    @Test func `the first port, the same one, and another instance end no session`() {
        var talk = Conversation()
        let id = talk.accept(1)
        for instance in ["", "desk", "desk", "hall"] {
            talk.hear(.announced(instance: instance, listenPort: 21_817))
            #expect(talk.closed(id) == nil && talk.sent(id).isEmpty)
        }
        let other = talk.open(2)
        #expect(port(talk.sent(other)) == 21_817)
    }
}
