import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// What a member that turned bad can do to a core: it costs little, and others go on.
@Suite struct HostileMemberTests {
    private static let features = SessionProtocol.features

    private func reports(_ talk: Conversation) -> [Report] {
        talk.effects.compactMap { if case .report(let report) = $0 { report } else { nil } }
    }

    // MARK: Claims

    @Test(arguments: [1, 7])
    func `16,000 claimed replicas that nobody has cost nothing on later frames`(device: Int) throws {
        // Of a member, and of a device that is none.
        var talk = Conversation(members: 3)
        var hostile = HostileMember(1, dialling: &talk)
        let author = SimulatedDevice.all[device].id
        try hostile.claim(HostileMember.invented(16_000, of: author), to: &talk)
        #expect(talk.closed(hostile.connection) == nil)
        let wants = talk.core.counters.wantsSent
        let visited = talk.core.counters.claimsVisited
        #expect(wants <= talk.core.configuration.bounds.wantsPerSession)
        for _ in 0..<1_000 { try hostile.ping(&talk) }
        #expect(talk.core.counters.claimsVisited - visited <= 32)
        #expect(talk.core.counters.wantsSent == wants)
    }

    @Test func `what a peer says unasked that it does not have is not kept`() throws {
        var talk = Conversation(members: 3)
        let hostile = HostileMember(1, dialling: &talk)
        let replicas = HostileMember.invented(100, of: Conversation.devices[1].id)
        for replica in replicas {
            try hostile.send(
                .changes(
                    Frame.Changes(
                        space: .home, replica: replica, wantID: 77, segments: [], last: true, firstHeld: 9)), to: &talk)
        }
        // It is asked for them all the same, once it claims them.
        try hostile.claim(replicas, next: 5, to: &talk)
        #expect(talk.core.counters.wantsSent > 0)
    }

    // MARK: Wrong heads

    private func wants(_ talk: Conversation, _ id: ConnectionID) -> [Frame.Want] {
        talk.sent(id).compactMap { if case .want(let want) = $0 { want } else { nil } }
    }

    private func isForked(_ talk: Conversation) -> Bool {
        reports(talk).contains { if case .forked = $0 { true } else { false } } || !talk.core.forkedReplicas.isEmpty
    }

    /// A member says that it holds what device 2 wrote, with another head where ours ends.
    private func wrongHead(_ faults: CoreFaults = []) throws -> (
        talk: Conversation, author: Author, relay: ConnectionID, hostile: HostileMember
    ) {
        var talk = Conversation(members: 4, faults: faults)
        var author = Author(2)
        let relay = talk.accept(3, features: Self.features)
        push([author.write()], relay, &talk)
        let hostile = HostileMember(1, dialling: &talk)
        try hostile.claim([author.replica], next: 1, to: &talk)
        return (talk, author, relay, hostile)
    }

    @Test func `a claimed head that nobody signed holds up nothing`() throws {
        var (talk, author, relay, hostile) = try wrongHead()
        let question = try #require(wants(talk, hostile.connection).first)
        #expect(question.from == 0 && question.to == 1 && !isForked(talk))
        push([author.write()], relay, &talk)
        #expect(talk.core.held.next(of: author.replica) == 2, "while the signature is asked for")
        let nothing = Frame.Changes(
            space: .home, replica: author.replica, wantID: question.id, segments: [], last: true)
        try hostile.send(.changes(nothing), to: &talk)
        for next in UInt64(2)...4 {
            try hostile.claim([author.replica], next: next, to: &talk)
            #expect(!isForked(talk))
            push([author.write()], relay, &talk)
            #expect(talk.core.held.next(of: author.replica) == next + 1)
        }
        #expect(talk.core.upConnections.contains(relay))
        #expect(isForked(try wrongHead(.believeClaimedHeads).talk), "the planted bug")
    }

    @Test func `a signature that does not come is asked for once`() throws {
        var (talk, author, _, hostile) = try wrongHead()
        let asked = talk.core.counters.wantsSent
        for _ in 0..<30 {
            talk.wait(milliseconds: 1_000)
            try hostile.claim([author.replica], next: 1, to: &talk)
            try hostile.ping(&talk)
        }
        #expect(talk.core.counters.wantsSent == asked && !isForked(talk))
    }

    /// Another author's signature, or that of another place, is none.
    /// A peer that took the place as state has no signature to show: the two say that they differ, and nothing is held up.
    @Test func `a claim of a peer that holds the place as state alone is reported, and holds up nothing`() throws {
        var (talk, author, relay, hostile) = try wrongHead()
        let want = try #require(wants(talk, hostile.connection).first)
        let answer = Frame.Changes(
            space: .home, replica: author.replica, wantID: want.id, segments: [], last: true, firstHeld: 1)
        try hostile.send(.changes(answer), to: &talk)
        #expect(reports(talk).contains(.diverged(Conversation.devices[1].id)) && !isForked(talk))
        let next = author.write()
        push([next], relay, &talk)
        #expect(talk.core.held.next(of: author.replica) == next.segment.end)
    }

    @Test func `a signature under something else proves nothing`() throws {
        var (talk, author, _, hostile) = try wrongHead()
        let question = try #require(wants(talk, hostile.connection).first)
        var other = Author(2)
        try hostile.send(other.write(2).push(wantID: question.id), to: &talk)
        try hostile.send(author.write().push(wantID: question.id, last: true), to: &talk)
        #expect(!isForked(talk) && talk.closed(hostile.connection) == nil)
    }

    /// A walk of a history that can only be judged goes on beside everything else.
    @Test func `a member that alters what it relays, and then drags on, holds up nobody`() throws {
        var talk = Conversation(members: 4)
        var author = Author(2)
        let first = author.write()
        let relay = talk.accept(3, features: Self.features)
        push([first], relay, &talk)
        let second = author.write()
        let hostile = HostileMember(1, dialling: &talk)
        try hostile.send(second.have, to: &talk)
        var altered = Author(2)
        _ = altered.write()
        let wrong = altered.write(1, holding: VersionVector([.init(replica: Author(3).replica, next: 1)]))
        let part = Frame.SegmentPart(
            start: 1, end: 2, bytes: wrong.segment.bytes, signature: second.segment.signature)
        let want = try #require(wants(talk, hostile.connection).first)
        try hostile.send(
            .changes(
                Frame.Changes(
                    space: .home, replica: author.replica, wantID: want.id, segments: [part], last: false)), to: &talk)
        #expect(wants(talk, hostile.connection).contains { $0.from == 0 }, "it is asked for the whole history")
        talk.hear(.received(relay, second.have, bytes: 100))
        let honest = try #require(wants(talk, relay).first)
        talk.hear(.received(relay, second.push(wantID: honest.id, last: true), bytes: 300))
        persist(&talk)
        #expect(talk.core.held.next(of: author.replica) == 2)
    }

    // MARK: Floods of histories

    private func bounds(atOnce: Int, perDevice: Int) -> CoreConfiguration.Bounds {
        var bounds = CoreConfiguration.Bounds()
        (bounds.newReplicasAtOnce, bounds.replicasPerDevice) = (atOnce, perDevice)
        return bounds
    }

    /// One change under each of so many incarnations of a device, as different stores would sign them.
    private func flood(_ device: Int, _ count: Int) -> [VerifiedSegment] {
        (1...UInt64(count)).map { incarnation in
            var author = Author(device, incarnation: incarnation)
            return author.write()
        }
    }

    private func push(_ segments: [VerifiedSegment], _ id: ConnectionID, _ talk: inout Conversation) {
        for segment in segments {
            talk.hear(.received(id, segment.push(), bytes: 300))
            persist(&talk)
        }
    }

    private func persist(_ talk: inout Conversation) {
        while talk.persisted != nil { talk.persist() }
    }

    @Test func `histories of one device begin as fast as bounds allow, and no session ends`() {
        var talk = Conversation(bounds: bounds(atOnce: 16, perDevice: 40))
        let id = talk.accept(2, features: Self.features)
        let segments = flood(1, 100)
        push(segments, id, &talk)
        #expect(talk.core.held.entries.count == 16)
        #expect(talk.closed(id) == nil)
        // More with time, up to the bound.
        for _ in 0..<20 {
            talk.wait(milliseconds: 1_000)
            push(segments, id, &talk)
        }
        #expect(talk.core.held.entries.count == 40)
        // Those that are held go on, and others are not concerned.
        var author = Author(1, incarnation: 1)
        _ = author.write()
        push([author.write()] + flood(2, 3), id, &talk)
        #expect(talk.core.held.entries.count == 43)
        #expect(talk.core.held.next(of: author.replica) == 2)
        #expect(talk.core.upConnections == [id])
    }

    @Test func `a history that is not taken in is asked for when it may begin, and not before`() {
        var talk = Conversation(bounds: bounds(atOnce: 2, perDevice: 40))
        let id = talk.accept(2, features: Self.features)
        let segments = flood(1, 3)
        push(Array(segments[..<2]), id, &talk)
        #expect(!reports(talk).contains(.tooManyHistories(Conversation.devices[1].id)))
        var tips = TipTable()
        for segment in segments { tips.set(segment.segment.replica, segment.tip) }
        let have = Frame.Have(
            space: .home, vectorDigest: tips.digest,
            entries: tips.entries.map { Frame.HaveEntry(replica: $0.replica, next: $0.tip.next, head: $0.tip.head) },
            complete: true, stateDigest: .zero)
        talk.hear(.received(id, .have(have), bytes: 300))
        func wants() -> [Frame.Want] {
            talk.sent(id).compactMap { if case .want(let want) = $0 { want } else { nil } }
        }
        #expect(wants().isEmpty && reports(talk).contains(.tooManyHistories(Conversation.devices[1].id)))
        talk.wait(milliseconds: 1_000)
        #expect(wants().map(\.replica) == [segments[2].segment.replica])
    }

    /// Two nodes that hear of different halves of a flood, then of each other's writes: what was taken in on the word of the
    /// flood alone may differ, what somebody's work builds on may not.
    @Test func `what another device's change builds on is taken in beyond the bound`() {
        let bounds = bounds(atOnce: 1_000, perDevice: 10)
        let segments = flood(1, 20)
        var nodes = [0, 1].map { _ in Conversation(bounds: bounds) }
        let ids = nodes.indices.map { nodes[$0].accept(2, features: Self.features) }
        push(Array(segments[..<10]), ids[0], &nodes[0])
        push(Array(segments[10...]), ids[1], &nodes[1])
        push(segments, ids[0], &nodes[0])
        push(segments.reversed(), ids[1], &nodes[1])
        #expect(nodes[0].core.held.entries.count == 10 && nodes[1].core.held.entries.count == 10)
        #expect(nodes[0].core.held.digest != nodes[1].core.held.digest)
        // Each has written since, knowing its half.
        let halves = [Array(segments[..<10]), Array(segments[10...])]
        let works = [0, 1].map { half in
            var author = Author(2, incarnation: UInt64(100 + half))
            let known = halves[half].map {
                VersionVector.Entry(replica: $0.segment.replica, next: $0.tip.next)
            }
            return author.write(holding: VersionVector(known))
        }
        for (number, order) in [works, works.reversed()].enumerated() {
            push(order, ids[number], &nodes[number])
            push(number == 0 ? segments.reversed() : segments, ids[number], &nodes[number])
        }
        #expect(nodes[0].core.held.entries.count == 22)
        #expect(nodes[0].core.held.digest == nodes[1].core.held.digest)
    }

    // MARK: Invented members

    /// Facts that name devices nobody has; a binding that does not hold is for the store to see.
    private func inventedFacts(_ range: Range<Int>) -> [Operation] {
        range.map { number in
            let key = withUnsafeBytes(of: number.bigEndian) { Array($0) }
            return .addMember(
                MemberFact(
                    subjectPublicKeyInfo: key, signingKey: [UInt8](repeating: 1, count: 32), binding: key,
                    discoveryKey: [UInt8](repeating: 2, count: 32), role: .writer, name: "invented"))
        }
    }

    @Test func `an author lets in as many devices at once as it may, and the rest with time`() {
        var bounds = CoreConfiguration.Bounds()
        bounds.admissionsAtOnce = 100
        var talk = Conversation(bounds: bounds)
        let id = talk.accept(1, features: Self.features)
        var author = Author(1)
        let segments = (0..<4).map { author.write([inventedFacts($0 * 60..<$0 * 60 + 60)]) }
        push(segments, id, &talk)
        #expect(talk.core.held.next(of: author.replica) == 120, "with the second change the credit is used up")
        talk.wait(milliseconds: 100_000)
        persist(&talk)
        #expect(talk.core.held.next(of: author.replica) == 120)
        for _ in 0..<12 {
            talk.wait(milliseconds: 10_000)
            persist(&talk)
        }
        #expect(talk.core.held.next(of: author.replica) == 180)
        // What another one builds on comes at once.
        var other = Author(2)
        let built = other.write(
            holding: VersionVector([VersionVector.Entry(replica: author.replica, next: 240)]))
        push([built], talk.accept(2, features: Self.features), &talk)
        talk.hear(.deadlinePassed)
        persist(&talk)
        #expect(talk.core.held.next(of: author.replica) == 240)
        #expect(talk.core.held.next(of: other.replica) == 1)
    }

    // MARK: Histories of several nodes

    private func replicas(_ mesh: Mesh, _ node: Int) -> Int {
        mesh.nodes[node].core.held.entries(of: SimulatedDevice.all[2].id).count
    }

    /// A flood of which two nodes took in what they heard of first: they come to hold the same, whether or not anybody writes.
    @Test(arguments: [false, true])
    func `two nodes that took in different parts of a flood come to hold the same`(writes: Bool) throws {
        var mesh = try Mesh(3, bounds: bounds(atOnce: 1_000, perDevice: 20))
        try mesh.pair(0, 1)
        try mesh.pair(1, 2)
        mesh.disconnect(1)
        try mesh.pair(0, 2)
        let segments = flood(2, 60)
        for segment in segments { mesh.send(segment.push(), from: 2, to: 0) }
        mesh.disconnect(2)
        mesh.connect(1, 2)
        for segment in segments.reversed() { mesh.send(segment.push(), from: 2, to: 1) }
        mesh.disconnect(2)
        #expect(replicas(mesh, 0) >= 20 && replicas(mesh, 0) < 60 && replicas(mesh, 1) < 60)
        mesh.connect(0, 1)
        #expect(mesh.nodes[0].core.held.digest != mesh.nodes[1].core.held.digest)
        if writes {
            for node in [0, 1] {
                try mesh.append(node, .operations([.appendEvent(.init(stream: "s", type: nil, payload: [0x31]))]))
            }
        }
        mesh.pass(seconds: 300)
        #expect(mesh.nodes[0].core.held.digest == mesh.nodes[1].core.held.digest)
        #expect(mesh.isConnected(0, 1))
        #expect(try mesh.nodes[0].store.state().digest == mesh.nodes[1].store.state().digest)
    }
}
