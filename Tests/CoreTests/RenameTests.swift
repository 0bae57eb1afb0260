import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// Another name of this device, while it runs.
struct RenameTests {
    private func name(_ frames: [Frame]) -> String? {
        frames.lazy.compactMap { if case .hello(let hello) = $0 { hello.name } else { nil } }.first
    }

    @Test func `each session ends with a reason, and the peer is dialled at once and told the name`() throws {
        var talk = Conversation()
        let first = talk.open(1)
        #expect(name(talk.sent(first)) == "own")
        talk.hear(.received(first, .hello(Conversation.hello()), bytes: 60))
        let second = talk.accept(2)
        talk.wait(milliseconds: 2_000)
        talk.hear(.renamed("kitchen"))
        for (id, device) in [(first, 1), (second, 2)] {
            #expect(talk.closed(id) == .renamed)
            #expect(talk.goodbye(id)?.code == "renamed")
            let address = Endpoint(host: "h\(device)", port: 21_817)
            #expect(talk.effects.contains { if case .dial(_, address) = $0 { true } else { false } })
        }
        let dialled = talk.effects.lazy.compactMap { effect -> ConnectionID? in
            guard case .dial(let id, Endpoint(host: "h1", port: 21_817)) = effect else { return nil }
            return id
        }.first
        let again = try #require(dialled)
        talk.hear(.closed(first, code: "closed"))
        talk.hear(.opened(again, Conversation.devices[1].id, remote: Endpoint(host: "h1", port: 21_817)))
        #expect(name(talk.sent(again)) == "kitchen")
        talk.hear(.received(again, .hello(Conversation.hello(sessionNumber: 2)), bytes: 60))
        #expect(talk.core.peers(at: talk.now).first { $0.device == Conversation.devices[1].id }?.connection == again)
    }

    @Test func `a peer keeps the name that it said last when its session ends`() {
        var talk = Conversation()
        let id = talk.open(1)
        let peer = Conversation.devices[1].id
        var hello = Conversation.hello()
        hello.name = "kitchen"
        talk.hear(.received(id, .hello(hello), bytes: 60))
        talk.hear(.closed(id, code: "closed"))
        let view = talk.core.peers(at: talk.now).first { $0.device == peer }
        #expect(view?.state != .connected && view?.name == "kitchen" && talk.core.name(of: peer) == "kitchen")
        #expect(talk.core.standings.first { $0.device == peer }?.name == "kitchen")
    }

    @Test func `the name that it has already ends no session`() {
        var talk = Conversation()
        let id = talk.accept(1)
        talk.hear(.renamed("own"))
        #expect(talk.closed(id) == nil && talk.sent(id).isEmpty)
    }
}
