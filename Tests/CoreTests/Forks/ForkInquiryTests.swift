import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// What a core does when a peer shows another history of a replica than it holds itself.
@Suite struct ForkInquiryTests {
    /// A core that holds two changes, and another way on from the first, `count` changes long, that the same key has signed.
    private struct Fork {
        var talk: Conversation
        let first: VerifiedSegment
        let here: VerifiedSegment
        let there: VerifiedSegment
        let replica: ReplicaID
        var id = ConnectionID(rawValue: 0)

        /// - Parameter isForked: else the peer's goes on from ours.
        init(_ count: Int, by number: Int = 0, isForked: Bool = true) {
            var author = Author(number)
            first = author.write()
            var other = author
            here = author.write()
            if !isForked { other = author }
            let elsewhere = ReplicaID(device: SimulatedDevice.all[1].id, incarnation: 9)
            there = other.write(
                count, holding: isForked ? VersionVector([.init(replica: elsewhere, next: 1)]) : VersionVector())
            replica = author.replica
            talk = Conversation()
            talk.hear(.appended(StoreChange(segments: [first, here], stateDigest: .zero, additions: [])))
        }

        /// Connects a peer that says that it holds the other history.
        mutating func show(_ device: Int = 1) {
            id = talk.accept(device)
            talk.hear(.sealed(StoreChange(segments: [], stateDigest: .zero, additions: [])))
            talk.hear(.received(id, there.have, bytes: 100))
        }

        mutating func readHeads(_ head: ChainHead?) {
            for case .readHeads(let id, let entries) in talk.effects {
                talk.hear(.headsRead(id, entries.map { _ in head }))
            }
        }

        /// Where it is to be looked up that ours stands.
        var lookups: [UInt64] {
            talk.effects.flatMap { effect in
                if case .readHeads(_, let entries) = effect { entries.map(\.next) } else { [UInt64]() }
            }
        }

        mutating func readNothing() {
            for case .readHeads(let id, _) in talk.effects { talk.hear(.headsRead(id, [])) }
        }

        var want: Frame.Want? {
            talk.sent(id).lazy.compactMap { frame in if case .want(let want) = frame { want } else { nil } }.first
        }

        mutating func answer(_ want: Frame.Want, _ segments: VerifiedSegment...) {
            for segment in segments {
                let isLast = segment == segments.last
                talk.hear(.received(id, segment.push(wantID: want.id, last: isLast), bytes: 100))
            }
        }

        /// Answers the want with nothing.
        mutating func answerNothing(_ want: Frame.Want) {
            let nothing = Frame.Changes(space: .home, replica: replica, wantID: want.id, segments: [], last: true)
            talk.hear(.received(id, .changes(nothing), bytes: 60))
        }

        /// The other way on with a signature that nobody made.
        func forged(_ wantID: UInt64) -> Frame {
            let part = Frame.SegmentPart(
                start: there.segment.start, end: there.segment.end, bytes: there.segment.bytes,
                signature: [UInt8](repeating: 1, count: 64))
            return .changes(
                Frame.Changes(space: .home, replica: replica, wantID: wantID, segments: [part], last: wantID > 0))
        }

        var takenBack: OtherHistory? {
            talk.effects.lazy.compactMap { effect in
                if case .takeBack(let other) = effect { other } else { nil }
            }.first
        }

        var closes: Bool { talk.effects.contains(.closeIncarnation(replica)) }
        func reports(_ report: Report) -> Bool { talk.effects.contains(.report(report)) }
    }

    private static let nothing = StoredHistory(
        tips: [], additions: [], stateDigest: .zero, acknowledgements: [], floor: VersionVector(), cuts: CutTable(),
        settled: [], awaited: [], hasTakenBack: false)

    @Test(arguments: [1, 3])
    func `what the peer shows is walked from its first change, and then ours is taken back`(count: Int) throws {
        var fork = Fork(count)
        fork.show()
        if count > 1 {
            #expect(fork.want?.from == 2, "as if it continued ours")
            fork.talk.hear(.received(fork.id, fork.there.push(), bytes: 100))
            #expect(fork.closes, "our key has signed it")
        } else {
            fork.readHeads(nil)
        }
        let want = try #require(fork.want)
        #expect(want.from == 0 && want.replica == fork.replica && fork.talk.closed(fork.id) == nil)
        fork.answer(want, fork.first, fork.there)
        let other = try #require(fork.takenBack)
        #expect(fork.closes)
        #expect(other.replica == fork.replica && other.tip == fork.there.tip)
        #expect(other.segments == [fork.first.segment, fork.there.segment])
        #expect(other.ends.map(\.end) == (count == 1 ? [1, 2] : [1, 2, 3]), "as far as ours goes, and one more")
        #expect(other.ends[0].head == fork.first.tip.head)
        fork.talk.hear(.takenBack(.done(Self.nothing)))
        #expect(fork.talk.closed(fork.id) == .historyChanged)
        #expect(fork.reports(.tookBack(fork.replica, Conversation.devices[1].id)))
        #expect(fork.talk.core.held.entries.isEmpty)
    }

    /// A core that dropped its first change looks up where it stands behind that, and asks for what follows.
    @Test func `what is not held as changes any more is not walked`() throws {
        var fork = Fork(3)
        fork.talk.hear(.compacted(firstHeld: VersionVector([.init(replica: fork.replica, next: 1)]), isLast: true))
        fork.show()
        fork.talk.hear(.received(fork.id, fork.there.push(), bytes: 100))
        #expect(fork.want == nil && fork.lookups == [1])
        fork.readHeads(fork.first.tip.head)
        let want = try #require(fork.want)
        #expect(want.from == 1)
        fork.answer(want, fork.there)
        let other = try #require(fork.takenBack)
        #expect(other.start == ChainEnd(end: 1, head: fork.first.tip.head))
        #expect(other.segments == [fork.there.segment] && other.ends.map(\.end) == [2, 3])
        var history = Self.nothing
        history.firstHeld = VersionVector([.init(replica: fork.replica, next: 1)])
        fork.talk.hear(.takenBack(.done(history)))
        #expect(fork.talk.core.firstHeld == history.firstHeld)
    }

    @Test func `a peer that has dropped its first changes is asked for those that it has`() throws {
        var fork = Fork(3)
        fork.show()
        fork.talk.hear(.received(fork.id, fork.there.push(), bytes: 100))
        let first = try #require(fork.want)
        #expect(first.from == 0)
        let nothing = Frame.Changes(
            space: .home, replica: fork.replica, wantID: first.id, segments: [], last: true, firstHeld: 1)
        fork.talk.hear(.received(fork.id, .changes(nothing), bytes: 60))
        #expect(fork.lookups == [1])
        fork.readHeads(fork.first.tip.head)
        let want = try #require(fork.want)
        #expect(want.from == 1)
        fork.answer(want, fork.there)
        #expect(fork.takenBack?.tip == fork.there.tip)
    }

    @Test(arguments: [false, true])
    func `histories that part in what was dropped are reported`(isInOurs: Bool) throws {
        var fork = Fork(1)
        fork.talk.hear(.compacted(firstHeld: VersionVector([.init(replica: fork.replica, next: 1)]), isLast: true))
        fork.show()
        fork.readHeads(nil)
        #expect(fork.lookups == [1])
        fork.readHeads(isInOurs ? nil : fork.there.tip.head)
        if !isInOurs { fork.answer(try #require(fork.want), fork.there) }
        let report = Report.forked(fork.replica, Conversation.devices[1].id)
        #expect(!fork.reports(report) && fork.want?.from == 1, "asked for the signature under its head")
        fork.answer(try #require(fork.want), fork.there)
        #expect(fork.takenBack == nil && fork.talk.closed(fork.id) == nil)
        #expect(fork.reports(report) && fork.closes)
    }

    @Test func `who alters what follows on changes that were dropped is refused`() throws {
        var fork = Fork(1, by: 2, isForked: false)
        fork.talk.hear(.compacted(firstHeld: VersionVector([.init(replica: fork.replica, next: 2)]), isLast: true))
        fork.show(2)
        fork.talk.hear(.received(fork.id, fork.forged(0), bytes: 100))
        #expect(fork.lookups == [2])
        let ours = try #require(fork.talk.core.held.entries.first { $0.replica == fork.replica }?.tip)
        fork.readHeads(ours.head)
        fork.answer(try #require(fork.want), fork.there)
        #expect(fork.takenBack?.segments == [fork.there.segment])
        fork.talk.hear(.takenBack(.nothing))
        #expect(fork.talk.closed(fork.id) == .badSegment)
        #expect(!fork.reports(.forked(fork.replica, Conversation.devices[2].id)))
    }

    /// A store that cannot read is asked again; nothing follows from it.
    @Test func `what cannot be looked up makes no other history`() throws {
        var fork = Fork(1)
        fork.talk.hear(.compacted(firstHeld: VersionVector([.init(replica: fork.replica, next: 1)]), isLast: true))
        fork.show()
        fork.readNothing()
        #expect(fork.lookups.isEmpty && fork.want == nil && !fork.closes)
        fork.talk.wait(milliseconds: 30_000)
        fork.readHeads(nil)
        fork.readNothing()
        #expect(!fork.closes && !fork.reports(.forked(fork.replica, Conversation.devices[1].id)))
    }

    /// What was written alone may be in the store and not yet known here.
    @Test func `nothing of our own is asked for while the store seals what was open`() {
        var fork = Fork(3)
        fork.id = fork.talk.accept(1)
        fork.talk.hear(.received(fork.id, fork.there.have, bytes: 100))
        #expect(fork.want == nil)
        fork.talk.hear(.sealed(StoreChange(segments: [], stateDigest: .zero, additions: [])))
        #expect(fork.want?.from == 2)
    }

    @Test func `what lies on ours is no other history, and is looked up once`() {
        var fork = Fork(1)
        fork.id = fork.talk.accept(1)
        fork.talk.hear(.received(fork.id, fork.first.have, bytes: 100))
        fork.readHeads(fork.first.tip.head)
        #expect(fork.want == nil && fork.takenBack == nil)
        fork.talk.hear(.received(fork.id, fork.first.have, bytes: 100))
        #expect(!fork.talk.effects.contains { if case .readHeads = $0 { true } else { false } })
    }

    @Test func `of our own history nothing is shown to who holds another one of it`() throws {
        var fork = Fork(1)
        fork.show()
        let want = Frame.Want(id: 5, space: .home, replica: fork.replica, from: 0, to: 2, creditBytes: 1 << 20)
        fork.talk.hear(.received(fork.id, .want(want), bytes: 60))
        #expect(!fork.talk.effects.contains { if case .read = $0 { true } else { false } })
        for case .readHeads(let id, _) in fork.talk.effects { fork.talk.hear(.headsRead(id, [nil])) }
    }

    /// Else the author, which has not heard of it, would show its own, and both would take that: what is here would be gone.
    @Test func `who holds another history says so before it asks the author for its own`() throws {
        var fork = Fork(1, by: 1)
        fork.id = fork.talk.accept(1)
        fork.talk.hear(.received(fork.id, fork.there.have, bytes: 100))
        fork.readHeads(nil)
        let sent = fork.talk.sent(fork.id)
        let asks = try #require(sent.firstIndex { if case .want = $0 { true } else { false } })
        let tells = sent[..<asks].contains { frame in
            if case .have(let have) = frame { have.entries.contains { $0.head == fork.here.tip.head } } else { false }
        }
        #expect(tells)
    }

    /// A claim alone would have us begin a new history with every change that we write.
    @Test(arguments: [false, true])
    func `a peer that does not show its history is asked for the signature under it, once`(isSigned: Bool) throws {
        var fork = Fork(1)
        fork.show()
        fork.readHeads(nil)
        let want = try #require(fork.want)
        fork.answer(want, fork.first)
        let question = try #require(fork.want)
        #expect(question.from == 1 && question.to == 2 && !fork.closes)
        if isSigned { fork.answer(question, fork.there) } else { fork.answerNothing(question) }
        #expect(fork.reports(.forked(fork.replica, Conversation.devices[1].id)) == isSigned)
        #expect(fork.closes == isSigned)
        fork.talk.hear(.received(fork.id, fork.there.have, bytes: 100))
        #expect(fork.want == nil && fork.takenBack == nil && fork.talk.closed(fork.id) == nil)
    }

    @Test func `bytes that nobody signed close nothing, and end the session`() throws {
        var fork = Fork(2)
        fork.show()
        fork.talk.hear(.received(fork.id, fork.forged(0), bytes: 100))
        #expect(!fork.closes)
        let want = try #require(fork.want)
        fork.talk.hear(.received(fork.id, fork.first.push(wantID: want.id), bytes: 100))
        fork.talk.hear(.received(fork.id, fork.forged(want.id), bytes: 100))
        #expect(!fork.closes && fork.talk.closed(fork.id) == .badSegment && fork.takenBack == nil)
    }

    /// Else it was dropped, and nothing of the replica asked of this peer again.
    @Test(arguments: [0, 2])
    func `what does not fit and is more than the peer said ends the session`(author: Int) {
        var fork = Fork(2, by: author)
        fork.id = fork.talk.accept(2)
        fork.talk.hear(.sealed(StoreChange(segments: [], stateDigest: .zero, additions: [])))
        fork.talk.hear(.received(fork.id, fork.first.have, bytes: 100))
        fork.readHeads(fork.first.tip.head)
        fork.talk.hear(.received(fork.id, fork.there.push(), bytes: 100))
        #expect(fork.talk.closed(fork.id) == .badSegment && fork.want == nil)
    }

    @Test func `of another device's history its author alone is followed`() throws {
        var fork = Fork(1, by: 2)
        fork.show(1)
        let report = Report.forked(fork.replica, Conversation.devices[1].id)
        let question = try #require(fork.want)
        #expect(!fork.reports(report) && question.from == 1 && question.to == 2)
        fork.answer(question, fork.there)
        #expect(fork.reports(report) && fork.takenBack == nil && fork.want == nil)
        fork.show(2)
        fork.readHeads(nil)
        let want = try #require(fork.want)
        fork.answer(want, fork.first, fork.there)
        #expect(fork.takenBack?.replica == fork.replica)
    }

    @Test func `the author's word ends what was reported`() throws {
        var fork = Fork(1, by: 2)
        fork.show(1)
        fork.answer(try #require(fork.want), fork.there)
        #expect(fork.reports(.forked(fork.replica, Conversation.devices[1].id)))
        let author = fork.talk.accept(2)
        fork.talk.hear(.received(author, fork.first.have, bytes: 100))
        fork.readHeads(fork.first.tip.head)
        #expect(fork.reports(.forkEnded(fork.replica)))
    }

    @Test func `what is settled is not taken back again`() {
        var fork = Fork(1)
        fork.show()
        fork.readHeads(nil)
        if let want = fork.want { fork.answer(want, fork.first, fork.there) }
        var history = Self.nothing
        history.settled = [fork.replica]
        history.tips = [KnownReplica(replica: fork.replica, tip: fork.first.tip)]
        fork.talk.hear(.takenBack(.done(history)))
        fork.show(2)
        fork.talk.hear(.received(fork.id, fork.there.push(), bytes: 100))
        #expect(fork.takenBack == nil)
    }

    /// It was a session that ended and began again without end.
    @Test func `a history that cannot be taken back here is reported, and the session goes on`() throws {
        var fork = Fork(3, by: 2)
        fork.show(2)
        fork.talk.hear(.received(fork.id, fork.there.push(), bytes: 100))
        let want = try #require(fork.want)
        fork.answer(want, fork.first, fork.there)
        #expect(fork.takenBack?.replica == fork.replica)
        fork.talk.hear(.takenBack(.impossible))
        #expect(fork.reports(.forked(fork.replica, Conversation.devices[2].id)))
        #expect(fork.talk.closed(fork.id) == nil)
        fork.talk.hear(.received(fork.id, fork.there.have, bytes: 100))
        #expect(fork.want == nil && fork.takenBack == nil)
    }

    @Test func `a flipped bit makes no other history of what is settled`() throws {
        var fork = Fork(1)
        fork.show()
        fork.readHeads(nil)
        let asked = try #require(fork.want)
        fork.answer(asked, fork.first, fork.there)
        var history = Self.nothing
        history.settled = [fork.replica]
        history.tips = [KnownReplica(replica: fork.replica, tip: fork.first.tip)]
        history.additions = Conversation.devices[1...2].map {
            Membership.Addition(author: Conversation.devices[0].id, fact: $0.fact, wallMilliseconds: 0)
        }
        fork.talk.hear(.takenBack(.done(history)))
        fork.show(2)
        let want = try #require(fork.want)
        #expect(want.from == 1)
        fork.talk.hear(.received(fork.id, fork.forged(0), bytes: 100))
        let walk = try #require(fork.want)
        #expect(walk.from == 0)
        fork.answer(walk, fork.first, fork.there)
        #expect(fork.talk.closed(fork.id) == .badSegment)
        #expect(!fork.reports(.forked(fork.replica, Conversation.devices[2].id)))
    }

    // MARK: Another device's history, compared

    /// A core that asks peer 1 for the whole of another device's history, which goes on from ours: the peer sent nothing, or
    /// unsigned bytes. Meanwhile the author has sent all of it.
    private func overtaken(byNothing: Bool) throws -> (fork: Fork, walk: Frame.Want) {
        var fork = Fork(3, by: 2, isForked: false)
        fork.show(1)
        let first = try #require(fork.want)
        #expect(first.from == 2)
        if byNothing {
            fork.answerNothing(first)
            fork.talk.wait(milliseconds: 1_000)
            fork.answerNothing(try #require(fork.want))
            fork.talk.wait(milliseconds: 1_000)
        } else {
            fork.talk.hear(.received(fork.id, fork.forged(first.id), bytes: 100))
            fork.talk.wait(milliseconds: 1_000)
        }
        let walk = try #require(fork.want)
        #expect(walk.from == 0)
        let author = fork.talk.accept(2)
        fork.talk.hear(.received(author, fork.there.push(), bytes: 100))
        fork.talk.persist()
        #expect(fork.talk.core.held.next(of: fork.replica) == 5)
        return (fork, walk)
    }

    @Test func `what came from others while a peer was asked for its history makes no fork`() throws {
        var (fork, walk) = try overtaken(byNothing: true)
        fork.answer(walk, fork.first, fork.here, fork.there)
        #expect(fork.talk.core.forkedReplicas.isEmpty && fork.talk.closed(fork.id) == nil)
    }

    /// The peer then shows what lies behind the place at which it was suspected, and no more.
    @Test func `histories are not compared where a peer shows only what is behind`() throws {
        var (fork, walk) = try overtaken(byNothing: false)
        let nothing = Frame.Changes(
            space: .home, replica: fork.replica, wantID: walk.id, segments: [], last: true, firstHeld: 3)
        fork.talk.hear(.received(fork.id, .changes(nothing), bytes: 60))
        #expect(fork.lookups == [3])
        fork.readHeads(fork.there.segment.ends(from: fork.here.tip.head)[0].head)
        let want = try #require(fork.want)
        let rest = try #require(fork.there.segment.suffix(from: 3))
        let part = Frame.SegmentPart(start: 3, end: rest.end, bytes: rest.bytes, signature: rest.signature)
        let answer = Frame.Changes(space: .home, replica: fork.replica, wantID: want.id, segments: [part], last: true)
        fork.talk.hear(.received(fork.id, .changes(answer), bytes: 100))
        #expect(fork.talk.core.forkedReplicas.isEmpty && fork.want == nil)
    }

    /// The peer sends changes that do not continue what waits, or none.
    @Test(arguments: [false, true])
    func `what waits for others is compared, too`(isStalled: Bool) throws {
        var (author, talk) = (Author(2), Conversation())
        var other = author
        let elsewhere = ReplicaID(device: SimulatedDevice.all[1].id, incarnation: 9)
        let here = author.write(1, holding: VersionVector([.init(replica: elsewhere, next: 1)]))
        let there = other.write(3)
        let session = talk.accept(2)
        talk.hear(.received(session, here.push(), bytes: 100))
        #expect(talk.persisted == nil)
        let id = talk.accept(1)
        talk.hear(.sealed(StoreChange(segments: [], stateDigest: .zero, additions: [])))
        talk.hear(.received(id, there.have, bytes: 100))
        for from: UInt64 in isStalled ? [1, 1, 0] : [1, 0] {
            let wants = talk.sent(id).compactMap { if case .want(let want) = $0 { want } else { nil } }
            let want = try #require(wants.first)
            #expect(want.from == from)
            let nothing = Frame.Changes(
                space: .home, replica: author.replica, wantID: want.id, segments: [], last: true)
            let changes = there.push(wantID: want.id, last: true)
            talk.hear(.received(id, isStalled && from > 0 ? .changes(nothing) : changes, bytes: 100))
            if from > 0 { talk.wait(milliseconds: 1_000) }
        }
        #expect(talk.core.forkedReplicas == [author.replica] && talk.closed(id) == nil)
        // The author settled on the other one.
        talk.hear(.received(session, there.have, bytes: 100))
        #expect(talk.core.forkedReplicas.isEmpty)
        talk.hear(.received(session, there.push(), bytes: 100))
        #expect(talk.persisted?.segments.map(\.tip) == [there.tip])
    }

    @Test func `a history that was found to be another one is not asked for again on the session`() throws {
        var fork = Fork(3, by: 2)
        fork.show(1)
        fork.answer(try #require(fork.want), fork.there)
        fork.talk.wait(milliseconds: 1_000)
        fork.answer(try #require(fork.want), fork.first, fork.there)
        #expect(fork.talk.core.forkedReplicas == [fork.replica])
        let author = fork.talk.accept(2)
        fork.talk.hear(.received(author, fork.here.have, bytes: 100))
        #expect(fork.talk.core.forkedReplicas.isEmpty, "the author holds ours")
        fork.talk.wait(milliseconds: 1_000)
        #expect(fork.want == nil && fork.talk.closed(fork.id) == nil)
    }

    /// A disk that cannot be read in one place sends nothing of it.
    @Test func `a peer that cannot show its history stays connected, and is asked for all of it once`() throws {
        var fork = Fork(2, by: 2)
        for isFirst in [true, false] {
            fork.show(1)
            for _ in 1...2 {
                let want = try #require(fork.want)
                #expect(want.from == 2)
                fork.answerNothing(want)
                fork.talk.wait(milliseconds: 1_000)
            }
            let want = try #require(fork.want)
            #expect(want.from == (isFirst ? 0 : 2))
            guard isFirst else { break }
            fork.talk.hear(.received(fork.id, fork.first.push(wantID: want.id), bytes: 100))
            fork.talk.hear(.received(fork.id, fork.forged(want.id), bytes: 100))
            #expect(fork.talk.closed(fork.id) == nil)
            fork.talk.hear(.closed(fork.id, code: "connection_reset"))
        }
        #expect(fork.talk.core.forkedReplicas.isEmpty)
    }

    /// A damaged disk sends the same at each session.
    @Test func `a peer that altered a history is asked for all of it once`() throws {
        var fork = Fork(2, by: 2)
        for isFirst in [true, false] {
            fork.show(1)
            fork.talk.hear(.received(fork.id, fork.forged(try #require(fork.want).id), bytes: 100))
            guard isFirst else { break }
            fork.talk.wait(milliseconds: 1_000)
            let walk = try #require(fork.want)
            fork.talk.hear(.received(fork.id, fork.first.push(wantID: walk.id), bytes: 100))
            fork.talk.hear(.received(fork.id, fork.forged(walk.id), bytes: 100))
            #expect(fork.talk.closed(fork.id) == .badSegment)
        }
        #expect(fork.talk.closed(fork.id) == .badSegment && fork.want == nil)
        #expect(fork.talk.core.forkedReplicas.isEmpty)
    }
}
