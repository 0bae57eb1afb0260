import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// What is said on a session is decided by the features of both sides, not by their versions.
@Suite struct FeatureTests {
    @Test func `a peer without a feature that is required here is told so, and nothing else`() throws {
        var talk = Conversation(featuresRequired: SessionProtocol.state)
        let id = talk.accept(1, features: SessionProtocol.features & ~SessionProtocol.state)
        #expect(talk.closed(id) == .featureRequired)
        let goodbye = try #require(talk.goodbye(id))
        #expect(goodbye.code == "feature_required" && goodbye.message.contains("upgrade the peer"))
        #expect(talk.sent(id).count == 1)

        let other = talk.accept(2, features: SessionProtocol.state)
        #expect(talk.closed(other) == nil)
    }

    @Test(
        arguments: [
            (SessionProtocol.features, 0), (0, SessionProtocol.features), (0, 0),
            (SessionProtocol.features, SessionProtocol.features), (SessionProtocol.features, ~SessionProtocol.presence),
            (~SessionProtocol.acknowledgements, SessionProtocol.features), (SessionProtocol.bulk, .max),
        ] as [(UInt64, UInt64)])
    func `a peer is sent what both sides know, and no more`(ours: UInt64, theirs: UInt64) {
        var talk = Conversation(features: ours)
        let id = talk.accept(1, features: theirs)
        func isKnown(_ feature: UInt64) -> Bool { ours & theirs & feature != 0 }
        let have = talk.sent(id).lazy.compactMap { frame in if case .have(let have) = frame { have } else { nil } }
            .first
        #expect((have?.acknowledgementsDigest != nil) == isKnown(SessionProtocol.acknowledgements))
        let bulk = talk.effects.contains { effect in if case .bulkPeerUp = effect { true } else { false } }
        #expect(bulk == isKnown(SessionProtocol.bulk))

        let record = PresenceRecord(
            device: Conversation.devices[0].id, mark: PresenceMark(run: 1, sequence: 1),
            entries: [PresenceRecord.Entry(topic: "t", session: 1, value: Array("1".utf8))])
        talk.hear(.presenceChanged(SignedPresence(record, space: .home, sign: Conversation.devices[0].sign)))
        let presence = talk.sent(id).contains { frame in if case .presence = frame { true } else { false } }
        #expect(presence == isKnown(SessionProtocol.presence))
    }

    @Test func `a core that ignores the agreement says what its peer does not know`() {
        var talk = Conversation(faults: .sendUnagreedFrames)
        let id = talk.accept(1, features: 0)
        let hasDigest = talk.sent(id).contains { frame in
            if case .have(let have) = frame { have.acknowledgementsDigest != nil } else { false }
        }
        #expect(hasDigest, "else the planted bug plants nothing")
    }
}
