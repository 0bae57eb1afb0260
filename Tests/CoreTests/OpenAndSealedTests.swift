import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// Local writes stay open while nobody is there, and are sealed when somebody is, also by a store that first refuses.
struct OpenAndSealedTests {
    private func seals(_ talk: Conversation) -> Bool { talk.effects.contains(.seal) }

    @Test func `they are sealed when a connection opens, once, and stay open when the last one is gone`() {
        var talk = Conversation()
        #expect(talk.effects.contains(.leaveOpen))
        let id = ConnectionID(rawValue: 2)
        talk.hear(.opened(id, Conversation.devices[1].id, remote: Endpoint(host: "h1", port: 40_000)))
        #expect(seals(talk))
        talk.hear(.received(id, .hello(Conversation.hello()), bytes: 60))
        #expect(!seals(talk))
        talk.hear(.closed(id, code: "reset"))
        #expect(talk.effects.contains(.leaveOpen))
    }

    @Test func `a store that refused is asked again, for as long as somebody is there`() {
        var talk = Conversation()
        let id = talk.accept(1)
        talk.hear(.sealFailed(code: "disk_full"))
        #expect(!seals(talk))
        talk.wait(milliseconds: 1_000)
        #expect(!seals(talk))
        talk.wait(milliseconds: 1_000)
        #expect(seals(talk))
        talk.hear(.sealFailed(code: "disk_full"))
        talk.hear(.closed(id, code: "reset"))
        talk.wait(milliseconds: 5_000)
        #expect(!seals(talk))
    }
}
