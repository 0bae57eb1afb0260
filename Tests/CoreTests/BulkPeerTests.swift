import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// What sessions tell of bulk connections.
struct BulkPeerTests {
    private static let both = SessionProtocol.bulk

    private func told(_ effects: [Effect]) -> [Effect] {
        effects.filter { effect in
            switch effect {
            case .bulkPeerUp, .bulkPeerDown, .bulkWanted: true
            default: false
            }
        }
    }

    @Test func `a session with a device that knows bulk connections is told, and its end`() {
        var talk = Conversation()
        let device = Conversation.devices[1].id
        let id = talk.accept(1, features: Self.both)
        #expect(told(talk.effects) == [.bulkPeerUp(device, dial: nil)])
        talk.hear(.received(id, .bulkWanted, bytes: 2))
        #expect(told(talk.effects) == [.bulkWanted(device)])
        talk.hear(.askForBulk(device))
        #expect(talk.sent(id) == [.bulkWanted])
        talk.hear(.closed(id, code: "lost"))
        #expect(told(talk.effects) == [.bulkPeerDown(device)])
        talk.hear(.askForBulk(device))
        #expect(talk.sent(id).isEmpty)
    }

    /// Bit 2 meant connections on which blobs are named by their hashes alone: neither side would understand the other.
    @Test(arguments: [0, 1 << 2] as [UInt64])
    func `one that does not know them is not told, and may not ask`(features: UInt64) {
        var talk = Conversation()
        let id = talk.accept(1, features: features)
        #expect(told(talk.effects).isEmpty)
        talk.hear(.askForBulk(Conversation.devices[1].id))
        #expect(talk.sent(id).isEmpty)
        talk.hear(.received(id, .bulkWanted, bytes: 2))
        #expect(told(talk.effects).isEmpty)
        #expect(talk.closed(id) == .unexpectedFrame)
    }

    /// Its machine lost its power and was back before the session was given up: the old bulk connection says nothing of that, and
    /// what is wanted was told there alone.
    @Test func `bulk connections end with the process at the other end`() {
        var talk = Conversation()
        let device = Conversation.devices[1].id
        _ = talk.accept(1, runID: 7, features: Self.both)
        for _ in 0..<8 { talk.wait(milliseconds: 1_000) }
        _ = talk.accept(1, runID: 8, features: Self.both)
        #expect(told(talk.effects) == [.bulkPeerDown(device), .bulkPeerUp(device, dial: nil)])
    }

    @Test func `whoever dialled the session is to dial`() throws {
        var talk = Conversation()
        let (device, endpoint) = (Conversation.devices[1].id, Endpoint(host: "h1", port: 21_817))
        talk.hear(.addressAdded(endpoint, device: device, isStatic: true))
        let dials = talk.effects.compactMap { if case .dial(let id, _) = $0 { id } else { nil } }
        let id = try #require(dials.first)
        talk.hear(.opened(id, device, remote: endpoint))
        talk.hear(.received(id, .hello(Conversation.hello(features: Self.both)), bytes: 60))
        #expect(told(talk.effects) == [.bulkPeerUp(device, dial: endpoint)])
    }
}
