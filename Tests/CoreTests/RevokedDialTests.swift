import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// A device that was revoked, and that has not been told by whom it could know: it goes on dialling.
@Suite struct RevokedDialTests {
    private func dials(_ talk: Conversation) -> [ConnectionID] {
        talk.effects.compactMap { if case .dial(let id, _) = $0 { id } else { nil } }
    }

    @Test func `a member that says this device was revoked is dialled each ten seconds, and not at once`() throws {
        var talk = Conversation()
        let device = Conversation.devices[1].id
        var id = talk.accept(1)
        for _ in 0..<5 {
            let goodbye = Frame.Goodbye(code: CloseReason.revoked.rawValue, message: "by an admin")
            talk.hear(.received(id, .goodbye(goodbye), bytes: 40))
            #expect(dials(talk).isEmpty)
            talk.hear(.closed(id, code: "connection_reset"))
            #expect(dials(talk).isEmpty)
            talk.wait(milliseconds: 9_900)
            #expect(dials(talk).isEmpty)
            talk.wait(milliseconds: 200)
            #expect(dials(talk).count == 1)
            id = try #require(dials(talk).first)
            talk.hear(.opened(id, device, remote: Endpoint(host: "h1", port: 21_817)))
            talk.hear(.received(id, .hello(Conversation.hello()), bytes: 60))
        }
    }

    @Test func `the session in which a member says so ended for that reason`() {
        var talk = Conversation()
        let id = talk.accept(1)
        let goodbye = Frame.Goodbye(code: CloseReason.revoked.rawValue, message: "by an admin")
        talk.hear(.received(id, .goodbye(goodbye), bytes: 40))
        #expect(talk.closed(id) == .revoked && talk.goodbye(id) == nil)
        #expect(talk.effects.contains(.report(.sessionDown(Conversation.devices[1].id, code: "revoked"))))
    }
}
