import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// When the core has changes dropped, step by step.
@Suite("Compaction, as the core drives it")
struct CompactionPlanTests {
    /// Both members have acknowledged what there is.
    private func begin(compacts: Bool = true) -> (talk: Conversation, vector: VersionVector, id: ConnectionID) {
        var author = Author(0)
        let segment = author.write()
        var talk = Conversation(members: 2, tips: [(author.replica, segment.tip)], compacts: compacts)
        let tips = [(segment.segment.replica, segment.tip)]
        let id = talk.accept(1, features: 0b1001)
        talk.hear(.received(id, frame(signed(1, tips)), bytes: 300))
        talk.hear(.acknowledged(signed(0, tips)))
        return (talk, VersionVector([.init(replica: author.replica, next: segment.tip.next)]), id)
    }

    @Test func `a pass begins by itself after a while, and goes on step by step until it is over`() {
        var (talk, vector, _) = begin()
        #expect(talk.core.stable == vector && talk.compaction == nil)
        talk.wait(milliseconds: 601_000)
        #expect(talk.compaction == vector)
        talk.wait(milliseconds: 10)
        #expect(talk.compaction == nil, "one step at a time")
        talk.hear(.compacted(firstHeld: vector, isLast: false))
        #expect(talk.compaction == nil, "writers first")
        talk.wait(milliseconds: 50)
        #expect(talk.compaction == vector)
        // A step that takes long is followed by a rest as long, and by a longer one where somebody writes meanwhile.
        for isWritten in [false, true] {
            talk.wait(milliseconds: 200)
            if isWritten { talk.hear(.appended(StoreChange(segments: [], stateDigest: .zero, additions: []))) }
            talk.hear(.compacted(firstHeld: vector, isLast: false))
            talk.wait(milliseconds: isWritten ? 790 : 190)
            #expect(talk.compaction == nil)
            talk.wait(milliseconds: 10)
            #expect(talk.compaction == vector)
        }
        talk.hear(.compacted(firstHeld: vector, isLast: true))
        talk.wait(milliseconds: 60_000)
        #expect(talk.compaction == nil)
        talk.wait(milliseconds: 3_600_000)
        #expect(talk.compaction == vector, "the next pass")
    }

    @Test func `it begins at once when somebody asks, and after a failure with the next pass`() {
        var (talk, vector, _) = begin()
        talk.hear(.compactionAsked)
        #expect(talk.compaction == vector)
        talk.hear(.compactFailed(code: "disk_full"))
        talk.wait(milliseconds: 1_000)
        #expect(talk.compaction == nil)
        talk.hear(.compactionAsked)
        #expect(talk.compaction == vector)
    }

    @Test func `nothing is dropped where all is kept, or while somebody lacks it`() {
        var (kept, _, _) = begin(compacts: false)
        kept.hear(.compactionAsked)
        #expect(kept.compaction == nil && kept.core.nextDeadline != nil)
        var author = Author(0)
        let segment = author.write()
        var alone = Conversation(members: 2, tips: [(author.replica, segment.tip)], compacts: true)
        alone.hear(.compactionAsked)
        #expect(alone.compaction == nil)
    }

    @Test func `nothing is dropped before a cut is settled and known to all left, nor while objects may be wrong`() {
        var author = Author(0)
        var segment = author.write()
        var talk = Conversation(members: 3, tips: [(author.replica, segment.tip)], compacts: true)
        let id = talk.accept(1, features: 0b1001)
        func acknowledge(_ members: [Int]) {
            let tips = [(author.replica, segment.tip)]
            for member in members {
                let signed = signed(member, tips, stamp: 10 + segment.tip.next)
                talk.hear(member == 0 ? .acknowledged(signed) : .received(id, frame(signed), bytes: 300))
            }
        }
        acknowledge([0, 1, 2])
        #expect(!talk.core.stable.isEmpty)
        let cut = Dot(replica: author.replica, counter: segment.tip.next)
        segment = author.write()
        var cuts = CutTable()
        let fact = CutFact(device: SimulatedDevice.all[2].id, isStrict: false, ends: [])
        _ = cuts.record(cut, context: VersionVector(), [(cut, .cut(fact))], members: MemberFacts())
        talk.hear(.appended(StoreChange(segments: [segment], stateDigest: .zero, additions: [], cuts: cuts)))
        talk.hear(.compactionAsked)
        acknowledge([0])
        #expect(!talk.core.stable.isEmpty && talk.compaction == nil, "1 may still keep what 2 wrote")
        acknowledge([1])
        #expect(talk.compaction == nil, "2 may yet let 0 go, and hold")
        let settling = Dot(replica: author.replica, counter: segment.tip.next)
        segment = author.write()
        _ = cuts.record(settling, context: VersionVector(), [(settling, .settled(.init(cut)))], members: MemberFacts())
        talk.hear(.appended(StoreChange(segments: [segment], stateDigest: .zero, additions: [], cuts: cuts)))
        #expect(talk.compaction == VersionVector([.init(replica: author.replica, next: settling.counter)]))
        talk.hear(.compacted(firstHeld: VersionVector(), isLast: true))
        segment = author.write()
        talk.hear(
            .appended(StoreChange(segments: [segment], stateDigest: .zero, additions: [], isIncomplete: true)))
        acknowledge([0, 1])
        talk.hear(.compactionAsked)
        #expect(talk.compaction == nil)
    }

    @Test func `what was dropped is not promised to who asks for it`() {
        var (talk, vector, id) = begin()
        talk.hear(.compactionAsked)
        talk.hear(.compacted(firstHeld: vector, isLast: true))
        let entry = vector.entries[0]
        let want = Frame.Want(
            id: 5, space: .home, replica: entry.replica, from: 0, to: entry.next, creditBytes: 1 << 20)
        talk.hear(.received(id, .want(want), bytes: 80))
        let answers = talk.sent(id).compactMap { if case .changes(let changes) = $0 { changes } else { nil } }
        #expect(answers.first?.firstHeld == entry.next && answers.first?.segments.isEmpty == true, "\(talk.sent(id))")
    }
}

extension Conversation {
    fileprivate var compaction: VersionVector? {
        effects.lazy.compactMap { if case .compact(let stable) = $0 { stable } else { nil } }.first
    }
}
