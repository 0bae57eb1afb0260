import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// Two live agents with one key (design: "Incarnations"): both are told, and a restart is not taken for a twin.
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

    @Test func `whoever is told by a peer says so`() {
        var talk = Conversation()
        let id = talk.accept(1)
        talk.hear(.received(id, .goodbye(Frame.Goodbye(code: "duplicate_identity", message: "")), bytes: 30))
        #expect(reports(talk).contains(.duplicateIdentity(Conversation.devices[0].id)))
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
