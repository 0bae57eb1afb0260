import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// When a core asks for state, from whom, and what it does with what comes.
struct StateTransferTests {
    private static let state = SessionProtocol.state

    private func states(_ talk: Conversation) -> [StateEffect] {
        talk.effects.compactMap { effect in
            if case .state(let effect) = effect { effect } else { nil }
        }
    }

    private func begun(_ talk: Conversation) -> StateID? {
        states(talk).lazy.compactMap { effect in
            if case .begin(let id, _) = effect { id } else { nil }
        }.first
    }

    /// A peer said that it holds a segment of its own.
    private func meeting(
        _ author: inout Author, device: Int = 1
    ) -> (talk: Conversation, id: ConnectionID, segment: VerifiedSegment) {
        var talk = Conversation()
        let id = talk.accept(device, features: Self.state)
        let segment = author.write(5)
        talk.hear(.received(id, segment.have, bytes: 100))
        return (talk, id, segment)
    }

    private func wanted(_ talk: Conversation, _ id: ConnectionID) -> Frame.Want? {
        talk.sent(id).lazy.compactMap { frame in
            if case .want(let want) = frame { want } else { nil }
        }.first
    }

    private func gone(_ want: Frame.Want, firstHeld: UInt64) -> Frame {
        .changes(
            Frame.Changes(
                space: .home, replica: want.replica, wantID: want.id, segments: [], last: true, firstHeld: firstHeld))
    }

    @Test func `what nobody holds as changes is asked for as state`() throws {
        var author = Author(1)
        var (talk, id, segment) = meeting(&author)
        let want = try #require(wanted(talk, id))
        talk.hear(.received(id, gone(want, firstHeld: segment.tip.next), bytes: 20))
        let state = try #require(begun(talk))
        let since = VersionVector()
        talk.hear(.state(.begun(state, since: since, stagedEvents: since, hasObjects: false)))
        guard case .stateRequest(let request)? = talk.sent(id).first else { throw Missing() }
        #expect(request.since == since && !request.asks && request.creditBytes > 0)
        // Not twice, and nothing is pulled of what comes.
        talk.wait(milliseconds: 600)
        #expect(begun(talk) == nil && wanted(talk, id) == nil)
    }

    private struct Missing: Error {}

    @Test func `whoever still has the changes is asked first`() throws {
        var author = Author(1)
        var (talk, id, segment) = meeting(&author)
        let first = try #require(wanted(talk, id))
        let other = talk.accept(2, features: Self.state)
        talk.hear(.received(other, segment.have, bytes: 100))
        talk.hear(.received(id, gone(first, firstHeld: segment.tip.next), bytes: 20))
        let second = try #require(wanted(talk, other))
        #expect(begun(talk) == nil)
        talk.hear(.received(other, gone(second, firstHeld: segment.tip.next), bytes: 20))
        #expect(begun(talk) != nil)
    }

    @Test func `an offer is taken, a reader's is not`() {
        var author = Author(1)
        var (talk, id, _) = meeting(&author)
        talk.hear(.received(id, .stateOffer(Frame.StateOffer(space: .home)), bytes: 20))
        #expect(begun(talk) != nil)

        var membership = Membership(own: Conversation.devices[0].fact, sinceMilliseconds: 0)
        let fact = Conversation.devices[1].fact
        let reader = MemberFact(
            subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: fact.binding,
            discoveryKey: fact.discoveryKey, role: .reader, name: fact.name)
        for fact in [reader, Conversation.devices[2].fact] {
            _ = membership.add(.init(author: Conversation.devices[0].id, fact: fact, wallMilliseconds: 0))
        }
        var writer = Author(2)
        var relayed = Conversation()
        relayed.core = AgentCore(
            configuration: relayed.core.configuration, space: .home, membership: membership, tips: [],
            stateDigest: .zero, at: relayed.now)
        let from = relayed.accept(1, features: Self.state)
        relayed.hear(.received(from, writer.write(5).have, bytes: 100))
        #expect(wanted(relayed, from) != nil)
        relayed.hear(.received(from, .stateOffer(Frame.StateOffer(space: .home)), bytes: 20))
        #expect(begun(relayed) == nil)
    }

    /// They tell whether they continue ours: this machine may have been put back, and a state says nothing of that.
    @Test func `what is our own is asked for as changes first, whatever is offered`() throws {
        var own = Author(0)
        var talk = Conversation()
        talk.hear(.appended(StoreChange(segments: [own.write(2)], stateDigest: .zero, additions: [])))
        let returned = own.write(3)
        let id = talk.accept(1, features: Self.state)
        talk.hear(.sealed(StoreChange(segments: [], stateDigest: .zero, additions: [])))
        talk.hear(.received(id, returned.have, bytes: 100))
        let want = try #require(wanted(talk, id))
        talk.hear(.received(id, .stateOffer(Frame.StateOffer(space: .home)), bytes: 20))
        #expect(begun(talk) == nil && want.from == 2)
        talk.hear(.received(id, gone(want, firstHeld: returned.tip.next), bytes: 20))
        #expect(begun(talk) != nil)
    }

    /// Changes that came say that it does, though they wait for what they build on. Otherwise what is here may not be a part of it.
    @Test(arguments: [true, false])
    func `a state in which our own history goes on is joined if it goes on from ours`(isShown: Bool) throws {
        var (own, author) = (Author(0), Author(1))
        var talk = Conversation()
        talk.hear(.appended(StoreChange(segments: [own.write(2)], stateDigest: .zero, additions: [])))
        let missing = author.write()
        let returned = own.write(
            3, holding: VersionVector([.init(replica: author.replica, next: missing.tip.next)]))
        let id = talk.accept(1, features: Self.state)
        talk.hear(.sealed(StoreChange(segments: [], stateDigest: .zero, additions: [])))
        talk.hear(.received(id, returned.have, bytes: 100))
        let want = try #require(wanted(talk, id))
        let shown = Frame.changes(
            Frame.Changes(
                space: .home, replica: own.replica, wantID: want.id, segments: [Frame.SegmentPart(returned.segment)],
                last: true))
        talk.hear(.received(id, isShown ? shown : gone(want, firstHeld: returned.tip.next), bytes: 500))
        if isShown { talk.hear(.received(id, .stateOffer(Frame.StateOffer(space: .home)), bytes: 20)) }
        let taken = try #require(begun(talk))
        talk.hear(.state(.begun(taken, since: VersionVector(), stagedEvents: VersionVector(), hasObjects: false)))
        talk.hear(.state(.staged(taken, isComplete: true)))
        let tip = StateTip(
            replica: own.replica, tip: returned.tip, signature: returned.segment.signature, first: VersionVector(),
            named: VersionVector())
        talk.hear(.state(.reviewed(taken, facts: [], tips: [tip], trust: TrustTable())))
        #expect(states(talk).contains(.join(taken)) == isShown)
        #expect(talk.core.forkedReplicas == (isShown ? [] : [own.replica]))
    }

    @Test func `frames of states without the feature end the session`() {
        for frame in [
            Frame.stateOffer(Frame.StateOffer(space: .home)), .stateItems(.init(id: 1, bytes: [1], last: false)),
            .stateAnswer(.init(id: 1, staged: [true])),
            .stateRequest(
                .init(
                    id: 1, space: .home, since: VersionVector(), stagedEvents: VersionVector(), asks: false,
                    creditBytes: 1)),
        ] {
            var talk = Conversation()
            let id = talk.accept(1)
            talk.hear(.received(id, frame, bytes: 20))
            #expect(talk.closed(id) == .unexpectedFrame)
        }
    }

    /// A state is streaming from device 1.
    private func streaming(_ author: inout Author) throws -> (talk: Conversation, id: ConnectionID, state: StateID) {
        var (talk, id, _) = meeting(&author)
        talk.hear(.received(id, .stateOffer(Frame.StateOffer(space: .home)), bytes: 20))
        let state = try #require(begun(talk))
        talk.hear(.state(.begun(state, since: VersionVector(), stagedEvents: VersionVector(), hasObjects: false)))
        return (talk, id, state)
    }

    private func items(_ state: StateID, _ bytes: [UInt8], last: Bool = false) -> Frame {
        .stateItems(Frame.StateItems(id: state.rawValue, bytes: bytes, last: last))
    }

    private static let announcement = StateItem.announcement(
        StateAnnouncement(key: ObjectKey(collection: "notes", id: "1"), touched: VersionVector())
    ).canonicalBytes

    @Test func `items are staged as they get whole, one write at a time, and credit follows`() throws {
        var author = Author(1)
        var (talk, id, state) = try streaming(&author)
        let item = Self.announcement
        talk.hear(.received(id, items(state, Array(item.dropLast())), bytes: 20))
        #expect(states(talk).isEmpty)
        talk.hear(.received(id, items(state, item.suffix(1) + item), bytes: 20))
        #expect(states(talk) == [.stage(state, [item, item])])
        talk.hear(.received(id, items(state, item), bytes: 20))
        #expect(states(talk).isEmpty)
        talk.hear(.state(.staged(state, isComplete: false)))
        #expect(states(talk) == [.stage(state, [item])])
    }

    @Test func `a sender that sends beyond its credit, or no items, is refused`() throws {
        var author = Author(1)
        var (talk, id, state) = try streaming(&author)
        talk.hear(.received(id, items(state, [0]), bytes: 20))
        #expect(talk.closed(id) == .badState)
        #expect(states(talk).contains(.discard))

        var again = Author(1)
        (talk, id, state) = try streaming(&again)
        let window = talk.core.configuration.bounds.stateWindowBytes
        // The beginning of one long object.
        let header: [UInt8] = [7, 0x80, 0x80, 0x80, 0x10]
        let part = header + [UInt8](repeating: 1, count: window - header.count)
        talk.hear(.received(id, items(state, part), bytes: 20))
        #expect(talk.closed(id) == nil)
        // What is not whole yet is its receiver's to hold: credit went out again.
        talk.hear(.received(id, items(state, [UInt8](repeating: 1, count: window)), bytes: 20))
        #expect(talk.closed(id) == nil)
        talk.hear(.received(id, items(state, [UInt8](repeating: 1, count: window + 1)), bytes: 20))
        #expect(talk.closed(id) == .overLimit)
    }

    @Test func `a stream of which nothing comes is given up, and another peer is asked`() throws {
        var author = Author(1)
        var (talk, id, state) = try streaming(&author)
        let other = talk.accept(2, features: Self.state)
        let segment = author.write()
        talk.hear(.received(other, segment.have, bytes: 100))
        talk.now = talk.now + talk.core.configuration.timing.stateProgress
        talk.hear(.received(other, .pong(Frame.Pong(nonce: 0)), bytes: 10))
        #expect(talk.sent(id).contains(.credit(Frame.Credit(wantID: state.rawValue, bytes: 0, cancel: true))))
        let next = try #require(begun(talk))
        talk.hear(.state(.begun(next, since: VersionVector(), stagedEvents: VersionVector(), hasObjects: true)))
        guard case .stateRequest(let request)? = talk.sent(other).first else { throw Missing() }
        #expect(request.asks)
        // What still comes of the first is dropped.
        talk.hear(.received(id, items(state, Self.announcement), bytes: 20))
        #expect(states(talk).isEmpty)
    }

    @Test func `a stream is given up once its changes came from another peer`() throws {
        var author = Author(1)
        var (talk, id, segment) = meeting(&author)
        talk.hear(.received(id, .stateOffer(Frame.StateOffer(space: .home)), bytes: 20))
        let state = try #require(begun(talk))
        talk.hear(.state(.begun(state, since: VersionVector(), stagedEvents: VersionVector(), hasObjects: false)))
        let other = talk.accept(2, features: Self.state)
        talk.hear(.received(other, segment.have, bytes: 100))
        talk.hear(.received(other, segment.push(), bytes: 500))
        #expect(states(talk).isEmpty, "not before they are durable")
        talk.persist()
        #expect(talk.sent(id).contains(.credit(Frame.Credit(wantID: state.rawValue, bytes: 0, cancel: true))))
        #expect(states(talk) == [.discard])
        #expect(talk.core.load.stateBytes == 0)
    }

    @Test func `a session that ends takes its stream along, and what was refused is forgotten`() throws {
        var author = Author(1)
        var (talk, id, state) = try streaming(&author)
        talk.hear(.closed(id, code: "lost"))
        talk.hear(.state(.staged(state, isComplete: true)))
        #expect(states(talk).isEmpty)

        var again = Author(1)
        (talk, id, state) = try streaming(&again)
        talk.hear(.state(.refused(state, .wrongDigest)))
        #expect(talk.closed(id) == .badState)
        #expect(states(talk) == [.discard])
    }

    @Test func `a state with a statement that its author did not sign is not joined`() throws {
        func closing(_ signer: Int, at place: Int) throws -> CloseReason? {
            var author = Author(1)
            var (talk, id, state) = try streaming(&author)
            talk.hear(.state(.staged(state, isComplete: true)))
            let dot = Dot(replica: ReplicaID(device: Conversation.devices[place].id, incarnation: 1), counter: 3)
            let statement = TrustStatement(
                .revocation(Conversation.devices[2].id, ends: [], wipes: false), by: .author, knows: VersionVector(),
                at: dot, in: .home,
                sign: Conversation.devices[signer].sign)
            var trust = TrustTable()
            trust.record(statement, at: dot, context: VersionVector())
            talk.hear(.state(.reviewed(state, facts: [], tips: [], trust: trust)))
            if talk.closed(id) == nil { #expect(states(talk) == [.join(state)]) }
            return talk.closed(id)
        }
        #expect(try closing(1, at: 1) == nil)
        #expect(try closing(1, at: 2) == .badState)
        #expect(try closing(7, at: 7) == .badState, "a device that is no member")
    }

    @Test func `a history that its author did not sign is not joined`() throws {
        var author = Author(1)
        var (talk, id, state) = try streaming(&author)
        talk.hear(.state(.staged(state, isComplete: true)))
        #expect(states(talk) == [.review(state)])
        let segment = author.write()
        func tip(_ signature: [UInt8]) -> StateTip {
            StateTip(
                replica: author.replica, tip: segment.tip, signature: signature, first: VersionVector(),
                named: VersionVector())
        }
        var forged = talk
        forged.hear(
            .state(.reviewed(state, facts: [], tips: [tip([UInt8](repeating: 7, count: 64))], trust: TrustTable())))
        #expect(forged.closed(id) == .badState)
        talk.hear(.state(.reviewed(state, facts: [], tips: [tip(segment.segment.signature)], trust: TrustTable())))
        #expect(states(talk) == [.join(state)])
        // It is durable: now it is held, and said.
        let joined = JoinedState(
            tips: [TipTable.Entry(replica: author.replica, tip: segment.tip)],
            firstHeld: VersionVector([.init(replica: author.replica, next: segment.tip.next)]), floor: VersionVector(),
            change: StoreChange(segments: [], stateDigest: .zero, additions: []))
        talk.hear(.state(.joined(state, joined)))
        #expect(talk.core.held.next(of: author.replica) == segment.tip.next)
        talk.wait(milliseconds: 100)
        #expect(talk.sent(id).contains { if case .have = $0 { true } else { false } })
        // And what came as state is served as state.
        let want = Frame.Want(
            id: 9, space: .home, replica: author.replica, from: 0, to: segment.tip.next, creditBytes: 1_000)
        talk.hear(.received(id, .want(want), bytes: 40))
        #expect(talk.sent(id) == [gone(want, firstHeld: segment.tip.next)])
    }

    // MARK: Handing over

    /// A core that holds much, and a peer that holds nothing.
    private func holding(_ author: inout Author, floor: VersionVector = VersionVector()) -> Conversation {
        var talk = Conversation()
        let segment = author.write(5)
        talk.core = AgentCore(
            configuration: talk.core.configuration, space: .home, membership: talk.core.membership,
            tips: [(author.replica, segment.tip)], stateDigest: .zero, floor: floor, at: talk.now)
        return talk
    }

    private static let nothing = Frame.have(
        Frame.Have(space: .home, vectorDigest: .zero, entries: [], complete: true, stateDigest: .zero))

    @Test func `who lacks some of our floor is offered state, once`() throws {
        var author = Author(1)
        let other = Author(2)
        var talk = holding(&author, floor: VersionVector([.init(replica: other.replica, next: 3)]))
        let id = talk.accept(2, features: Self.state)
        talk.hear(.received(id, Self.nothing, bytes: 60))
        #expect(talk.sent(id).contains(.stateOffer(Frame.StateOffer(space: .home))))
        talk.hear(.received(id, Self.nothing, bytes: 60))
        #expect(!talk.sent(id).contains(.stateOffer(Frame.StateOffer(space: .home))))
    }

    @Test(arguments: [true, false])
    func `who lacks what was forgotten since the start is offered state, too`(hasForgotten: Bool) throws {
        var author = Author(0)
        let segment = author.write()
        var talk = Conversation(members: 2, tips: [(author.replica, segment.tip)])
        let tips = [(segment.segment.replica, segment.tip)]
        let id = talk.accept(1, features: Self.state | 0b1001)
        talk.hear(.received(id, frame(signed(1, tips)), bytes: 300))
        talk.hear(.acknowledged(signed(0, tips)))
        #expect(talk.core.stable.next(of: author.replica) == segment.tip.next)
        talk.hear(.collected(next: nil, hasForgotten: hasForgotten))
        // Its disk was put back.
        talk.hear(.closed(id, code: "peer_closed"))
        let again = talk.accept(1, runID: 9, features: Self.state | 0b1001)
        talk.hear(.received(again, Self.nothing, bytes: 60))
        #expect(talk.sent(again).contains(.stateOffer(Frame.StateOffer(space: .home))) == hasForgotten)
    }

    @Test func `a state goes out within its credit, with what is asked, to its end`() throws {
        var author = Author(1)
        var talk = holding(&author)
        let id = talk.accept(2, features: Self.state)
        let request = Frame.StateRequest(
            id: 7, space: .home, since: VersionVector(), stagedEvents: VersionVector(), asks: true, creditBytes: 10)
        talk.hear(.received(id, .stateRequest(request), bytes: 60))
        guard case .open(let state, let since, _, let asks, _)? = states(talk).first else { throw Missing() }
        #expect(since.isEmpty && asks)
        let vector = VersionVector([.init(replica: author.replica, next: 5)])
        talk.hear(.state(.opened(state, vector: vector)))
        #expect(talk.sent(id) == [.stateItems(Frame.StateItems(id: 7, vector: vector, bytes: [], last: false))])
        #expect(states(talk) == [.read(state, bytes: 10, staged: [])])
        let asked = [StateAnnouncement(key: ObjectKey(collection: "notes", id: "1"), touched: vector)]
        talk.hear(.state(.chunkRead(state, StateChunk(bytes: Array(0..<25), question: asked, isLast: false))))
        #expect(talk.sent(id) == [.stateItems(Frame.StateItems(id: 7, bytes: Array(0..<10), last: false))])
        talk.hear(.received(id, .credit(Frame.Credit(wantID: 7, bytes: 100, cancel: false)), bytes: 10))
        #expect(
            talk.sent(id) == [
                .stateItems(Frame.StateItems(id: 7, bytes: Array(10..<25), last: false)),
                .stateQuestion(Frame.StateQuestion(id: 7, announcements: asked)),
            ])
        #expect(states(talk).isEmpty)
        talk.hear(.received(id, .stateAnswer(Frame.StateAnswer(id: 7, staged: [true])), bytes: 10))
        #expect(states(talk) == [.read(state, bytes: 85, staged: [true])])
        talk.hear(.state(.chunkRead(state, StateChunk(bytes: [1, 2], question: [], isLast: true))))
        #expect(talk.sent(id) == [.stateItems(Frame.StateItems(id: 7, bytes: [1, 2], last: true))])
        #expect(states(talk) == [.close(state)])
    }

    @Test func `requests that outrun their answers open one state at a time`() throws {
        var author = Author(1)
        var talk = holding(&author)
        let id = talk.accept(2, features: Self.state)
        func request(_ number: UInt64) -> Input {
            let since = VersionVector()
            return .received(
                id,
                .stateRequest(
                    .init(id: number, space: .home, since: since, stagedEvents: since, asks: false, creditBytes: 10)),
                bytes: 60)
        }
        var opened: [StateID] = []
        for number in 0..<1_000 as Range<UInt64> {
            talk.hear(request(number))
            opened += states(talk).compactMap { if case .open(let id, _, _, _, _) = $0 { id } else { nil } }
            talk.hear(.received(id, .credit(Frame.Credit(wantID: number, bytes: 0, cancel: true)), bytes: 10))
        }
        #expect(opened.count == 1 && talk.core.load.outlets == 1)
        talk.hear(.state(.opened(try #require(opened.first), vector: VersionVector())))
        #expect(talk.core.load.outlets == 0)
        // Who takes back what it asked for may ask again; who does not, may not.
        talk.hear(request(2_000))
        guard case .open(let state, _, _, _, _)? = states(talk).first else { throw Missing() }
        talk.hear(request(2_001))
        #expect(talk.closed(id) == .overLimit && states(talk) == [.close(state)])
        talk.hear(.state(.failed(state, code: "x")))
        #expect(talk.core.load.outlets == 0)
    }

    @Test func `a state that ends before it was opened counts until the store has answered`() throws {
        var author = Author(1)
        var talk = holding(&author)
        let nothing = VersionVector()
        var opened: [StateID] = []
        for number in 0..<20 as Range<UInt64> {
            let id = talk.accept(2, runID: 100 + number, features: Self.state)
            let request = Frame.StateRequest(
                id: number, space: .home, since: nothing, stagedEvents: nothing, asks: false, creditBytes: 10)
            talk.hear(.received(id, .stateRequest(request), bytes: 60))
            opened += states(talk).compactMap { if case .open(let id, _, _, _, _) = $0 { id } else { nil } }
            talk.hear(.closed(id, code: "lost"))
        }
        #expect(opened.count == talk.core.configuration.bounds.statesServed)
        for state in opened { talk.hear(.state(.opened(state, vector: nothing))) }
        #expect(talk.core.load.outlets == 0)
    }

    @Test func `what was wanted before waits until it is known what the state covers, and not for ever`() throws {
        var author = Author(1)
        var talk = holding(&author)
        let id = talk.accept(2, features: Self.state)
        talk.hear(.received(id, Self.nothing, bytes: 60))
        let request = Frame.StateRequest(
            id: 7, space: .home, since: VersionVector(), stagedEvents: VersionVector(), asks: true, creditBytes: 10)
        talk.hear(.received(id, .stateRequest(request), bytes: 60))
        guard case .open(let state, _, _, _, _)? = states(talk).first else { throw Missing() }
        let want = Frame.Want(id: 9, space: .home, replica: author.replica, from: 0, to: 5, creditBytes: 1_000)
        talk.hear(.received(id, .want(want), bytes: 40))
        #expect(!talk.effects.contains { if case .read = $0 { true } else { false } })
        talk.hear(.state(.opened(state, vector: VersionVector([.init(replica: author.replica, next: 5)]))))
        #expect(!talk.effects.contains { if case .read(_, author.replica, _, _) = $0 { true } else { false } })
        talk.wait(milliseconds: 1_100)
        #expect(talk.effects.contains { if case .read = $0 { true } else { false } })
    }

    @Test func `what is weighed and light is offered; wants wait for that`() throws {
        var author = Author(1)
        var talk = holding(&author)
        var configuration = talk.core.configuration
        configuration.bounds.stateOfferOperations = 3
        talk.core = AgentCore(
            configuration: configuration, space: .home, membership: talk.core.membership,
            tips: talk.core.held.entries.map { ($0.replica, $0.tip) }, stateDigest: .zero, at: talk.now)
        let id = talk.accept(2, features: Self.state)
        talk.hear(.received(id, Self.nothing, bytes: 60))
        guard case .weigh(let state, _)? = states(talk).first else { throw Missing() }
        let want = Frame.Want(id: 9, space: .home, replica: author.replica, from: 0, to: 5, creditBytes: 1_000)
        talk.hear(.received(id, .want(want), bytes: 40))
        #expect(!talk.effects.contains { if case .read = $0 { true } else { false } })
        var heavy = talk
        heavy.hear(.state(.weighed(state, StateWeight(changeBytes: 2 << 20, stateBytes: 1 << 20))))
        #expect(heavy.effects.contains { if case .read = $0 { true } else { false } })
        #expect(heavy.sent(id).isEmpty)
        talk.hear(.state(.weighed(state, StateWeight(changeBytes: 2 << 20, stateBytes: 1 << 10))))
        #expect(talk.sent(id).contains(.stateOffer(Frame.StateOffer(space: .home))))
        #expect(!talk.effects.contains { if case .read = $0 { true } else { false } })
        // Whoever does not want state is served all the same.
        talk.wait(milliseconds: 1_100)
        #expect(talk.effects.contains { if case .read = $0 { true } else { false } })
    }
}
