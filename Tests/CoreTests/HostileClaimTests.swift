import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// Claims of a member that sends nothing of them delay little of what another peer has.
@Suite struct HostileClaimTests {
    private static let features = SessionProtocol.features
    private static let author = Conversation.devices[2].id

    private func wants(_ talk: Conversation, _ id: ConnectionID) -> [Frame.Want] {
        talk.sent(id).compactMap { if case .want(let want) = $0 { want } else { nil } }
    }

    private func claim(_ segments: [VerifiedSegment]) -> Frame {
        var tips = TipTable()
        for segment in segments { tips.set(segment.segment.replica, segment.tip) }
        return .have(
            Frame.Have(
                space: .home, vectorDigest: tips.digest,
                entries: tips.entries.map {
                    Frame.HaveEntry(replica: $0.replica, next: $0.tip.next, head: $0.tip.head)
                }, complete: true, stateDigest: .zero))
    }

    /// The relay answers what it is asked, at once, until nothing more is asked of it.
    private func answer(
        _ first: [Frame.Want], _ segments: [VerifiedSegment], _ id: ConnectionID, _ talk: inout Conversation
    ) {
        var wants = first
        while let want = wants.popLast() {
            guard let segment = segments.first(where: { $0.segment.replica == want.replica }) else { continue }
            talk.hear(.received(id, segment.push(wantID: want.id, last: true), bytes: 300))
            wants += self.wants(talk, id)
            while talk.persisted != nil {
                talk.persist()
                wants += self.wants(talk, id)
            }
        }
    }

    private func histories(_ range: ClosedRange<UInt64>) -> [VerifiedSegment] {
        range.map { incarnation in
            var author = Author(2, incarnation: incarnation)
            return author.write()
        }
    }

    @Test func `what others hold is pulled beside what one only claims`() throws {
        var talk = Conversation(members: 4)
        let hostile = HostileMember(1, dialling: &talk)
        try hostile.claim(HostileMember.invented(16_000, of: Self.author), to: &talk)
        #expect(!wants(talk, hostile.connection).isEmpty)
        let relay = talk.accept(3, features: Self.features)
        let segments = histories(100_000...100_099)
        talk.hear(.received(relay, claim(segments), bytes: 300))
        answer(wants(talk, relay), segments, relay, &talk)
        #expect(talk.core.held.entries.count == segments.count, "without a second of waiting")
        // And after its wants ran out.
        for _ in 0..<8 { talk.wait(milliseconds: 500) }
        let more = segments + histories(200_000...200_099)
        talk.hear(.received(relay, claim(more), bytes: 300))
        answer(wants(talk, relay), more, relay, &talk)
        #expect(talk.core.held.entries.count == more.count)
    }

    /// Both say that they have it; one keeps it back. The other is asked for more of that author first from then on.
    @Test func `a peer that keeps an author's changes back is asked last`() throws {
        var talk = Conversation(members: 4)
        let hostile = HostileMember(1, dialling: &talk)
        let relay = talk.accept(3, features: Self.features)
        let segments = histories(1...3)
        try hostile.send(claim(segments), to: &talk)
        #expect(wants(talk, hostile.connection).count == segments.count)
        talk.hear(.received(relay, claim(segments), bytes: 300))
        #expect(wants(talk, relay).isEmpty)
        talk.wait(milliseconds: 2_000)
        #expect(wants(talk, relay).count == segments.count)
        answer(wants(talk, relay), segments, relay, &talk)
        for round in UInt64(1)...5 {
            // Its pause is over.
            for _ in 0..<5 { talk.wait(milliseconds: 1_000) }
            let more = histories(round * 100...round * 100 + 2)
            try hostile.send(claim(segments + more), to: &talk)
            talk.hear(.received(relay, claim(segments + more), bytes: 300))
            talk.hear(.received(relay, .ping(Frame.Ping(nonce: 1)), bytes: 10))
            // What the hostile one alone had said was asked of it.
            talk.wait(milliseconds: 2_000)
            answer(wants(talk, relay), more, relay, &talk)
            let held = more.count { talk.core.held.next(of: $0.segment.replica) == 1 }
            #expect(held == more.count)
        }
        // Where both had said it, the relay is asked at once.
        for _ in 0..<5 { talk.wait(milliseconds: 1_000) }
        var author = Author(2, incarnation: 1)
        _ = author.write()
        let next = author.write()
        talk.hear(.received(relay, next.have, bytes: 300))
        #expect(wants(talk, relay).map(\.replica) == [author.replica])
    }

    /// The seconds until the relay is asked for something, 120 at most, while the hostile member answers a want with a byte a
    /// second.
    private func secondsUntilAsked(
        _ relay: ConnectionID, while hostile: HostileMember, dragsOnWith want: Frame.Want, _ talk: inout Conversation
    ) throws -> Int {
        let part = Frame.SegmentPart(start: 0, end: 1, bytes: [0], signature: [])
        let drop = Frame.Changes(
            space: .home, replica: want.replica, wantID: want.id, segments: [part], last: false)
        var seconds = 0
        while wants(talk, relay).isEmpty, seconds < 120 {
            seconds += 1
            talk.hear(.received(relay, .ping(Frame.Ping(nonce: 1)), bytes: 10))
            try hostile.send(.changes(drop), to: &talk)
            if wants(talk, relay).isEmpty { talk.wait(milliseconds: 1_000) }
        }
        return seconds
    }

    /// A short trouble of an honest peer must not leave an author to one that drags on for ever.
    @Test func `a peer that was late once is asked like others a minute later`() throws {
        var talk = Conversation(members: 4)
        let segments = histories(1...1)
        let relay = talk.accept(3, features: Self.features)
        talk.hear(.received(relay, claim(segments), bytes: 300))
        #expect(wants(talk, relay).count == 1)
        // It sends nothing for two seconds, and another member has the changes, too.
        let hostile = HostileMember(1, dialling: &talk)
        try hostile.send(claim(segments), to: &talk)
        talk.wait(milliseconds: 2_000)
        let want = try #require(wants(talk, hostile.connection).first)
        #expect(try secondsUntilAsked(relay, while: hostile, dragsOnWith: want, &talk) <= 75)
        answer(wants(talk, relay), segments, relay, &talk)
        #expect(talk.core.held.entries.count == 1)
    }

    /// A byte a second is progress, and no way to hold a history up.
    @Test func `a peer that drags on is left for another one`() throws {
        var talk = Conversation(members: 4)
        let hostile = HostileMember(1, dialling: &talk)
        let segments = histories(1...1)
        try hostile.send(claim(segments), to: &talk)
        let want = try #require(wants(talk, hostile.connection).first)
        let relay = talk.accept(3, features: Self.features)
        talk.hear(.received(relay, claim(segments), bytes: 300))
        #expect(try secondsUntilAsked(relay, while: hostile, dragsOnWith: want, &talk) <= 11)
        answer(wants(talk, relay), segments, relay, &talk)
        #expect(talk.core.held.entries.count == 1)
    }

    /// Changes that a state covers are not asked for while it comes.
    @Test func `a state that drags on is left for the changes of another peer`() throws {
        var talk = Conversation(members: 4)
        let hostile = HostileMember(1, dialling: &talk)
        let segments = histories(1...3)
        try hostile.send(claim(segments), to: &talk)
        try hostile.send(.stateOffer(Frame.StateOffer(space: .home)), to: &talk)
        let state = try #require(
            talk.effects.lazy.compactMap { if case .state(.begin(let id, _)) = $0 { id } else { nil } }.first)
        talk.hear(.state(.begun(state, since: VersionVector(), stagedEvents: VersionVector(), hasObjects: false)))
        let relay = talk.accept(3, features: Self.features)
        talk.hear(.received(relay, claim(segments), bytes: 300))
        let vector = VersionVector(segments.map { .init(replica: $0.segment.replica, next: $0.tip.next) })
        let nothing = Frame.StateItems(id: state.rawValue, vector: vector, bytes: [], last: false)
        var seconds = 0
        while wants(talk, relay).isEmpty, seconds < 60 {
            seconds += 1
            try hostile.send(.stateItems(nothing), to: &talk)
            if wants(talk, relay).isEmpty { talk.wait(milliseconds: 1_000) }
        }
        #expect(seconds > 2 && seconds <= 11)
        answer(wants(talk, relay), segments, relay, &talk)
        #expect(talk.core.held.entries.count == segments.count)
    }

    /// A member's own changes wait for what nobody has: those of others are asked for all the same.
    @Test func `a room full of what can never be applied keeps nothing else out`() throws {
        var bounds = CoreConfiguration.Bounds()
        (bounds.waitingRoomBytes, bounds.wantWindowBytes) = (64 << 10, 16 << 10)
        var talk = Conversation(members: 4, bounds: bounds)
        let hostile = HostileMember(1, dialling: &talk)
        var author = Author(1)
        let nothing = VersionVector([.init(replica: ReplicaID(device: Self.author, incarnation: 77), next: 1)])
        let payload = [UInt8](#"{"pad":""#.utf8) + [UInt8](repeating: 0x78, count: 3_000) + [UInt8](#""}"#.utf8)
        let event = SyncModel.Operation.appendEvent(.init(stream: "s", type: nil, payload: payload))
        for number in 0..<60 {
            let segment = author.write([[event]], holding: number == 0 ? nothing : VersionVector())
            try hostile.send(segment.push(), to: &talk)
        }
        #expect(talk.core.load.waitingRoomBytes > bounds.waitingRoomBytes)
        let relay = talk.accept(3, features: Self.features)
        let segments = histories(1...20)
        talk.hear(.received(relay, claim(segments), bytes: 300))
        answer(wants(talk, relay), segments, relay, &talk)
        #expect(talk.core.held.entries.count == segments.count)
    }

    @Test func `all that is held is said no more often than news`() throws {
        var talk = Conversation(members: 4)
        let hostile = HostileMember(1, dialling: &talk)
        var answers = 0
        for _ in 0..<100 {
            try hostile.send(.haveRequest(Frame.HaveRequest(space: .home)), to: &talk)
            answers += talk.sent(hostile.connection).count
        }
        #expect(answers == 1)
        talk.wait(milliseconds: 100)
        #expect(
            talk.sent(hostile.connection).contains { if case .have(let have) = $0 { have.complete } else { false } })
        talk.wait(milliseconds: 100)
        #expect(talk.sent(hostile.connection).isEmpty)
    }

    @Test func `the only one that has something may be slow`() throws {
        var talk = Conversation(members: 4)
        let slow = HostileMember(1, dialling: &talk)
        let segments = histories(1...1)
        try slow.send(claim(segments), to: &talk)
        let want = try #require(wants(talk, slow.connection).first)
        let bytes = segments[0].segment.bytes
        for byte in bytes.dropLast() {
            talk.wait(milliseconds: 1_000)
            let part = Frame.SegmentPart(start: 0, end: 1, bytes: [byte], signature: [])
            try slow.send(
                .changes(
                    Frame.Changes(
                        space: .home, replica: want.replica, wantID: want.id, segments: [part], last: false)),
                to: &talk)
            #expect(wants(talk, slow.connection).isEmpty)
        }
        let last = Frame.SegmentPart(
            start: 0, end: 1, bytes: bytes.suffix(1), signature: segments[0].segment.signature)
        try slow.send(
            .changes(
                Frame.Changes(space: .home, replica: want.replica, wantID: want.id, segments: [last], last: true)),
            to: &talk)
        while talk.persisted != nil { talk.persist() }
        #expect(talk.core.held.entries.count == 1)
    }
}
