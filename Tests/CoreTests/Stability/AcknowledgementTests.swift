import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// When a member's word counts.
@Suite struct AcknowledgementTests {
    private let devices = SimulatedDevice.all

    /// Shorter than the silence that ends a session.
    private var timing: CoreConfiguration.Timing {
        var timing = CoreConfiguration.Timing()
        timing.acknowledgeAfter = .seconds(1)
        timing.acknowledgeEvery = .seconds(3)
        return timing
    }

    /// Two members, a segment of ours that the other holds too, and our own acknowledgement of it.
    private func begin() -> (talk: Conversation, id: ConnectionID, segment: VerifiedSegment) {
        var author = Author(0)
        let segment = author.write()
        var talk = Conversation(members: 2, tips: [(author.replica, segment.tip)], timing: timing)
        let id = talk.accept(1, features: 1)
        talk.wait(milliseconds: 1_000)
        guard let ours = talk.acknowledgement else {
            Issue.record("ours is not due")
            return (talk, id, segment)
        }
        talk.hear(.acknowledged(SignedAcknowledgement(ours, space: .home, sign: devices[0].sign)))
        return (talk, id, segment)
    }

    @Test func `what every member acknowledged is stable, and collected`() {
        var (talk, id, segment) = begin()
        #expect(talk.core.stable.isEmpty && talk.collection == nil)
        talk.hear(.received(id, frame(signed(1, [(segment.segment.replica, segment.tip)])), bytes: 300))
        #expect(talk.core.stable.next(of: segment.segment.replica) == 1)
        #expect(talk.collection == talk.core.stable)
    }

    @Test func `an acknowledgement counts only once its author's changes up to its ends are here`() {
        var (talk, id, segment) = begin()
        var other = Author(1)
        let unseen = other.write()
        let entry = VersionVector.Entry(replica: other.replica, next: 1)
        let word = signed(1, [(segment.segment.replica, segment.tip)], later: [entry])
        talk.hear(.received(id, frame(word), bytes: 300))
        #expect(talk.core.stable.isEmpty)
        talk.hear(.received(id, unseen.push(), bytes: 300))
        #expect(talk.core.stable.isEmpty)
        talk.persist()
        #expect(talk.core.stable.next(of: segment.segment.replica) == 1)
    }

    @Test func `an acknowledgement of an older point is checked against the heads that the store looks up`() {
        var author = Author(0)
        let (first, second) = (author.write(), author.write())
        var talk = Conversation(members: 2, tips: [(author.replica, second.tip)], timing: timing)
        let id = talk.accept(1, features: 1)
        talk.hear(.received(id, frame(signed(1, [(author.replica, first.tip)])), bytes: 300))
        guard let (reading, entries) = talk.headReading else {
            Issue.record("no heads are looked up")
            return
        }
        #expect(entries == [VersionVector.Entry(replica: author.replica, next: 1)])
        talk.hear(.headsRead(reading, [first.tip.head]))
        talk.wait(milliseconds: 1_000)
        if let ours = talk.acknowledgement {
            talk.hear(.acknowledged(SignedAcknowledgement(ours, space: .home, sign: devices[0].sign)))
        }
        #expect(talk.core.stable == VersionVector(entries))
    }

    @Test func `one that speaks of another history never counts`() {
        var (talk, id, segment) = begin()
        let fork = ReplicaTip(next: 1, head: ChainHead(bytes: [UInt8](repeating: 7, count: 32))!, stamp: .zero)
        talk.hear(.received(id, frame(signed(1, [(segment.segment.replica, fork)])), bytes: 300))
        #expect(talk.core.stable.isEmpty)
        #expect(talk.core.stabilityView.heldBackBy.map(\.device) == [devices[1].id])
    }

    @Test func `a forged one is neither kept nor passed on`() {
        var (talk, id, segment) = begin()
        let forged = signed(1, [(segment.segment.replica, segment.tip)], by: 2)
        talk.hear(.received(id, frame(forged), bytes: 300))
        #expect(talk.core.stable.isEmpty && talk.kept.isEmpty)
        #expect(talk.core.counters.acknowledgementsRefused == 1)
        #expect(talk.closed(id) == nil)
    }

    @Test func `a stale one changes nothing`() {
        var (talk, id, segment) = begin()
        let tips = [(segment.segment.replica, segment.tip)]
        talk.hear(.received(id, frame(signed(1, tips, stamp: 20)), bytes: 300))
        #expect(talk.kept.count == 1)
        let stable = talk.core.stable
        talk.hear(.received(id, frame(signed(1, [], stamp: 19)), bytes: 300))
        #expect(talk.kept.isEmpty && talk.core.stable == stable)
    }

    /// Each that is taken is a transaction of the store.
    @Test func `a member that acknowledges without end is written down at a rate`() {
        var (talk, id, segment) = begin()
        let tips = [(segment.segment.replica, segment.tip)]
        var kept = 0
        func say(_ count: UInt64, from stamp: UInt64) {
            for number in 0..<count {
                talk.hear(.received(id, frame(signed(1, tips, stamp: stamp + number)), bytes: 300))
                kept += talk.kept.count
            }
        }
        say(1_000, from: 20)
        #expect(kept == 64 && talk.closed(id) == nil)
        talk.wait(milliseconds: 1_000)
        say(1_000, from: 2_000)
        #expect(kept == 74)
    }

    @Test func `a member that says less than before is taken at its word`() {
        var (talk, id, segment) = begin()
        let tips = [(segment.segment.replica, segment.tip)]
        talk.hear(.received(id, frame(signed(1, tips, stamp: 20)), bytes: 300))
        #expect(!talk.core.stable.isEmpty)
        talk.hear(.received(id, frame(signed(1, [], stamp: 21)), bytes: 300))
        #expect(talk.core.stable.isEmpty)
    }

    @Test func `our own word from before a restore is outbid`() {
        var (talk, id, segment) = begin()
        let lost = VersionVector.Entry(replica: ReplicaID(device: devices[1].id, incarnation: 9), next: 5)
        let tip = ReplicaTip(next: 5, head: segment.tip.head, stamp: .zero)
        let before = signed(0, [(segment.segment.replica, segment.tip), (lost.replica, tip)], stamp: 1 << 40)
        talk.hear(.received(id, frame(before), bytes: 300))
        #expect(talk.core.stable.isEmpty)
        talk.wait(milliseconds: 5_000)
        #expect(talk.acknowledgement.map { $0.stamp > before.stamp } ?? false)
    }

    @Test func `a row that continues one we do not have is asked for whole`() {
        var (talk, id, segment) = begin()
        let tips = [(segment.segment.replica, segment.tip)]
        let (first, second) = (signed(1, tips, stamp: 20), signed(1, tips, stamp: 21))
        talk.hear(.received(id, frame(second, since: first), bytes: 200))
        let asked = talk.sent(id).contains {
            if case .acknowledgementRequest = $0 { true } else { false }
        }
        #expect(asked && talk.core.stable.isEmpty)
        talk.hear(.received(id, frame(first), bytes: 200))
        talk.hear(.received(id, frame(second, since: first), bytes: 200))
        #expect(!talk.core.stable.isEmpty)
    }

    @Test func `an older peer gets no digest and no rows, and is served as before`() {
        var author = Author(0)
        let segment = author.write()
        var talk = Conversation(members: 3, tips: [(author.replica, segment.tip)])
        let old = talk.accept(1)
        #expect(talk.sent(old).contains { $0.have?.acknowledgementsDigest == nil && $0.have != nil })
        let id = talk.accept(2, features: 1)
        #expect(talk.sent(id).contains { $0.have?.acknowledgementsDigest == .zero })
        talk.hear(.received(id, frame(signed(2, [(segment.segment.replica, segment.tip)])), bytes: 300))
        #expect(talk.kept.count == 1)
        #expect(talk.sent(old).isEmpty)
    }
}

extension Conversation {
    var acknowledgement: Acknowledgement? {
        effects.lazy.compactMap { if case .acknowledge(let one) = $0 { one } else { nil } }.first
    }

    var collection: VersionVector? {
        effects.lazy.compactMap { if case .collect(let stable, _, _) = $0 { stable } else { nil } }.first
    }

    var kept: [SignedAcknowledgement] {
        effects.flatMap { effect -> [SignedAcknowledgement] in
            guard case .keep(let signed) = effect else { return [] }
            return signed
        }
    }

    var headReading: (id: ReadID, entries: [VersionVector.Entry])? {
        effects.lazy.compactMap { effect in
            guard case .readHeads(let id, let entries) = effect else { return nil }
            return (id, entries)
        }.first
    }
}

extension Frame {
    var have: Have? {
        guard case .have(let have) = self else { return nil }
        return have
    }
}

/// The word of a member, signed by it or by somebody else.
func signed(
    _ device: Int, _ tips: [(ReplicaID, ReplicaTip)], stamp: UInt64 = 10, later: [VersionVector.Entry] = [],
    digest: Sum256? = nil, by signer: Int? = nil
) -> SignedAcknowledgement {
    var sum = Sum256.zero
    for (replica, tip) in tips { sum += tip.digestTerm(of: replica) }
    let acknowledgement = Acknowledgement(
        device: SimulatedDevice.all[device].id, stamp: Stamp(rawValue: stamp),
        vector: VersionVector(tips.map { VersionVector.Entry(replica: $0.0, next: $0.1.next) }),
        digest: digest ?? sum, laterEnds: VersionVector(later))
    return SignedAcknowledgement(acknowledgement, space: .home, sign: SimulatedDevice.all[signer ?? device].sign)
}

/// One row of it, as it is sent.
func frame(_ signed: SignedAcknowledgement, since base: SignedAcknowledgement? = nil) -> Frame {
    .acknowledgements(
        Frame.Acknowledgements(space: .home, rows: [AcknowledgementRow(signed, since: base)]))
}
