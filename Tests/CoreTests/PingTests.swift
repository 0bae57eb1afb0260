import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// The way to a device, measured because a person asked.
struct PingTests {
    private func nonce(_ frames: [Frame]) -> UInt64? {
        frames.lazy.compactMap { if case .ping(let ping) = $0 { ping.nonce } else { nil } }.first
    }

    private func view(_ talk: Conversation) throws -> PeerView {
        try #require(talk.core.peers(at: talk.now).first { $0.device == Conversation.devices[1].id })
    }

    @Test func `a ping that is asked for is sent, with a request for all that the device holds`() throws {
        var talk = Conversation()
        let id = talk.accept(1)
        // The session begins with a ping of its own.
        let first = try #require(nonce(talk.sent(id)))
        talk.hear(.received(id, .pong(Frame.Pong(nonce: first)), bytes: 9))
        #expect(try view(talk).pongs == 1)

        talk.hear(.pingAsked(Conversation.devices[1].id))
        let frames = talk.sent(id)
        let second = try #require(nonce(frames))
        #expect(frames.contains { if case .haveRequest = $0 { true } else { false } })
        talk.now = talk.now + .milliseconds(7)
        talk.hear(.received(id, .pong(Frame.Pong(nonce: second)), bytes: 9))
        #expect(try view(talk).pongs == 2)
        #expect(try view(talk).newestRoundTrip == .milliseconds(7))
        #expect(try view(talk).wholeHaves == 0, "it has not said yet what it holds")

        let have = Frame.Have(
            space: .home, vectorDigest: .zero, entries: [], complete: true, stateDigest: .zero)
        talk.hear(.received(id, .have(have), bytes: 80))
        #expect(try view(talk).wholeHaves == 1)
    }

    @Test func `without a session nothing is sent, and another device hears nothing`() {
        var talk = Conversation()
        talk.hear(.pingAsked(Conversation.devices[1].id))
        #expect(talk.effects.isEmpty)
        let id = talk.accept(1)
        talk.hear(.pingAsked(Conversation.devices[2].id))
        #expect(talk.sent(id).isEmpty)
    }
}
