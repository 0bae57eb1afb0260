import SyncCore
import SyncModel
import SyncSimulator
import Testing

@Suite struct ExchangeTests {
    @Test func `what a peer holds and we lack is wanted, verified, persisted and only then announced`() {
        var talk = Conversation()
        let id = talk.accept(1)
        let other = talk.accept(2)
        var author = Author(1)
        let segment = author.write(3)
        talk.hear(.received(id, segment.have, bytes: 200))
        guard let want = talk.sent(id).compactMap(\.want).first else {
            Issue.record("nothing is wanted")
            return
        }
        #expect(want.replica == author.replica && want.from == 0 && want.to == 3)
        talk.hear(.received(id, segment.push(wantID: want.id, last: true), bytes: 500))
        #expect(talk.persisted?.segments == [segment])
        #expect(talk.core.held[author.replica] == nil)
        talk.wait(milliseconds: 500)
        #expect(talk.sent(other).compactMap(\.haveEntries).joined().isEmpty)
    }

    @Test func `once durable, a change is pushed on to who lacks it`() {
        var talk = Conversation()
        let id = talk.accept(1)
        let other = talk.accept(2)
        talk.hear(.received(other, .have(Self.emptyHave), bytes: 100))
        talk.hear(.received(id, .have(Self.emptyHave), bytes: 100))
        var author = Author(1)
        let segment = author.write()
        talk.hear(.received(id, segment.push(), bytes: 300))
        #expect(talk.sent(other).isEmpty)
        talk.persist()
        #expect(talk.sent(other) == [segment.push()])
        #expect(talk.sent(id).allSatisfy { $0.changes == nil })
        talk.wait(milliseconds: 100)
        #expect(
            talk.sent(id).compactMap(\.haveEntries).joined().contains { $0.replica == author.replica && $0.next == 1 })
    }

    @Test(arguments: [0, SessionProtocol.packedChanges]) func `changes are packed for those who understand that`(
        features: UInt64
    ) {
        var talk = Conversation()
        let id = talk.accept(1)
        let other = talk.accept(2, features: features)
        talk.hear(.received(other, .have(Self.emptyHave), bytes: 100))
        talk.hear(.received(id, .have(Self.emptyHave), bytes: 100))
        var author = Author(1)
        let segment = author.write(3)
        talk.hear(.received(id, segment.push(), bytes: 300))
        talk.persist()
        let parts = talk.sent(other).compactMap(\.changes).flatMap(\.segments)
        #expect(parts == [Frame.SegmentPart(segment.segment, packing: features != 0)])
        #expect(parts.map(\.isPacked) == [features != 0])
    }

    @Test func `changes that came packed are what their author wrote, and a forged packing ends the session`() {
        var talk = Conversation()
        let id = talk.accept(1)
        var author = Author(1)
        let segment = author.write(3)
        var changes = Frame.Changes(
            space: .home, replica: author.replica, wantID: 0, segments: [Frame.SegmentPart(segment.segment)],
            last: false)
        talk.hear(.received(id, .changes(changes), bytes: 200))
        #expect(talk.persisted?.segments == [segment])
        changes.segments[0].bytes.append(0xff)
        talk.hear(.received(id, .changes(changes), bytes: 200))
        #expect(talk.closed(id) == .badSegment)
    }

    @Test func `a change pushed twice is pruned once, and wanting it lifts that`() {
        var talk = Conversation()
        let id = talk.accept(1)
        let other = talk.accept(2)
        var author = Author(1)
        let segment = author.write()
        talk.hear(.received(id, segment.push(), bytes: 300))
        talk.persist()
        let prune = Frame.prune(Frame.Prune(space: .home, replica: author.replica))
        talk.hear(.received(other, segment.push(), bytes: 300))
        #expect(talk.sent(other).contains(prune))
        talk.hear(.received(other, segment.push(), bytes: 300))
        #expect(!talk.sent(other).contains(prune))
    }

    @Test func `a pruned peer hears of a change and is not sent it`() {
        var talk = Conversation()
        let id = talk.accept(1)
        talk.hear(.received(id, .have(Self.emptyHave), bytes: 100))
        var author = Author(0)
        talk.hear(.appended(StoreChange(segments: [author.write()], stateDigest: .zero, additions: [])))
        #expect(talk.sent(id).contains { $0.changes != nil })
        talk.hear(.received(id, .prune(Frame.Prune(space: .home, replica: author.replica)), bytes: 80))
        talk.hear(.appended(StoreChange(segments: [author.write()], stateDigest: .zero, additions: [])))
        #expect(talk.sent(id).allSatisfy { $0.changes == nil })
        talk.wait(milliseconds: 100)
        #expect(talk.sent(id).compactMap(\.haveEntries).joined().contains { $0.next == 2 })
    }

    @Test func `a change waits for what its author had seen`() {
        var talk = Conversation()
        let id = talk.accept(1)
        var (first, second) = (Author(1), Author(2))
        let cause = first.write()
        let effect = second.write(holding: VersionVector([.init(replica: first.replica, next: 1)]))
        talk.hear(.received(id, effect.push(), bytes: 300))
        #expect(talk.persisted == nil)
        #expect(talk.core.load.waitingRoomBytes > 0)
        talk.hear(.received(id, cause.push(), bytes: 300))
        #expect(talk.persisted?.segments == [cause, effect])
    }

    @Test func `bytes that a relay altered end its session and change nothing`() {
        var talk = Conversation()
        let id = talk.accept(1)
        var author = Author(1)
        let segment = author.write()
        guard case .changes(var forged) = segment.push() else { return }
        forged.segments[0].bytes[20] ^= 1
        talk.hear(.received(id, .changes(forged), bytes: 300))
        #expect(talk.closed(id) == .badSegment)
        #expect(talk.persisted == nil)
    }

    @Test func `when the store refuses, nothing is lost: it is wanted again`() {
        var talk = Conversation()
        let id = talk.accept(1)
        var author = Author(1)
        let segment = author.write()
        talk.hear(.received(id, segment.have, bytes: 200))
        guard let want = talk.sent(id).compactMap(\.want).first else { return }
        talk.hear(.received(id, segment.push(wantID: want.id, last: true), bytes: 500))
        guard let persist = talk.persisted else {
            Issue.record("nothing is persisted")
            return
        }
        talk.hear(.persistFailed(persist.id, code: "disk_full"))
        #expect(talk.sent(id).compactMap(\.want).isEmpty)
        talk.wait(milliseconds: 2_000)
        #expect(talk.sent(id).compactMap(\.want).first?.from == 0)
    }

    @Test func `a want without a byte for two seconds goes to somebody else`() {
        var talk = Conversation()
        let (id, other) = (talk.accept(1), talk.accept(2))
        var author = Author(1)
        let segment = author.write()
        talk.hear(.received(id, segment.have, bytes: 200))
        talk.hear(.received(other, segment.have, bytes: 200))
        talk.now = talk.now + .milliseconds(1_999)
        // Both are alive; the first just does not answer.
        talk.hear(.received(id, .ping(Frame.Ping(nonce: 1)), bytes: 12))
        talk.hear(.received(other, .ping(Frame.Ping(nonce: 1)), bytes: 12))
        talk.wait(milliseconds: 1)
        #expect(talk.sent(other).compactMap(\.want).first?.from == 0)
    }

    private static let emptyHave = Frame.Have(
        space: .home, vectorDigest: .zero, entries: [], complete: false, stateDigest: .zero)
}

extension Frame {
    var want: Want? {
        if case .want(let want) = self { want } else { nil }
    }
    var changes: Changes? {
        if case .changes(let changes) = self { changes } else { nil }
    }
    var haveEntries: [HaveEntry]? {
        if case .have(let have) = self { have.entries } else { nil }
    }
}
