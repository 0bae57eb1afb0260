import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// An address that a person removed is not dialled again, also where an attempt was under way.
@Suite struct RemovedAddressTests {
    private let endpoint = Endpoint(host: "away", port: 1)

    /// An address of nobody yet is being dialled, and is removed meanwhile.
    private func removed() throws -> (talk: Conversation, dial: ConnectionID) {
        var talk = Conversation(members: 2)
        talk.hear(.addressAdded(endpoint, device: nil, isStatic: true))
        guard case .dial(let dial, endpoint)? = talk.effects.first(where: \.isDial) else {
            throw Missing(what: "a known address is not dialled")
        }
        talk.hear(.addressRemoved(endpoint))
        #expect(!isShown(talk))
        return (talk, dial)
    }

    private func isDialling(_ talk: Conversation) -> Bool { talk.effects.contains { $0.isDial } }

    private struct Missing: Error { let what: String }

    private func isShown(_ talk: Conversation) -> Bool {
        talk.core.peers(at: talk.now).contains { $0.endpoint == endpoint }
    }

    @Test func `an attempt that fails is the last`() throws {
        var (talk, dial) = try removed()
        talk.hear(.dialFailed(dial, code: "no_answer"))
        talk.hear(.networkChanged)
        #expect(!isDialling(talk))
        for _ in 0..<60 {
            talk.wait(milliseconds: 1_000)
            #expect(!isDialling(talk))
        }
        #expect(!isShown(talk))
    }

    @Test func `an attempt that opens is not remembered`() throws {
        var (talk, dial) = try removed()
        let device = Conversation.devices[1].id
        talk.hear(.opened(dial, device, remote: endpoint))
        talk.hear(.received(dial, .hello(Conversation.hello()), bytes: 60))
        #expect(talk.core.connectedDevices == [device], "a member that was met is welcome")
        #expect(
            talk.effects.allSatisfy { effect in
                if case .remember = effect { false } else { true }
            })
        talk.hear(.closed(dial, code: "closed"))
        talk.wait(milliseconds: 2_000)
        #expect(!isDialling(talk))
    }

    @Test func `it may be added again while the attempt goes on`() throws {
        var (talk, dial) = try removed()
        talk.hear(.addressAdded(endpoint, device: nil, isStatic: true))
        #expect(isShown(talk))
        talk.hear(.dialFailed(dial, code: "no_answer"))
        #expect(isShown(talk))
        talk.wait(milliseconds: 31_000)
        #expect(isDialling(talk))
    }
}
