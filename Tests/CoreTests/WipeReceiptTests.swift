import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// How a device that deleted what it held says so to members of the space that it left. Device 0 is the core's own.
@Suite struct WipeReceiptTests {
    private static let devices = SimulatedDevice.all
    private static let member = Endpoint(host: "h1", port: 21_817)

    private static func receipt(of device: Int) -> WipeReceipt {
        let statement = Dot(replica: ReplicaID(device: devices[1].id, incarnation: 1), counter: 5)
        return WipeReceipt(
            of: devices[device].id, statement: statement, milliseconds: 1_700_000_000_000, in: .home,
            sign: devices[device].sign)
    }

    /// A core in a home of its own that has a receipt to bring to device 1, and knows where that was met.
    private func wiped(endsAfter span: Tick.Span = .seconds(86_400)) -> Conversation {
        var talk = Conversation(members: 1)
        var configuration = talk.core.configuration
        configuration.receiptEnds = talk.now + span
        (configuration.wipeReceipt, configuration.receiptAddressees) = (Self.receipt(of: 0), [Self.devices[1].id])
        talk.core = AgentCore(
            configuration: configuration, space: .home,
            membership: Membership(own: Self.devices[0].fact, sinceMilliseconds: 0), tips: [], stateDigest: .zero,
            at: talk.now)
        talk.hear(.addressAdded(Self.member, device: Self.devices[1].id, isStatic: false))
        return talk
    }

    private func dials(_ talk: Conversation) -> [ConnectionID] {
        talk.effects.compactMap { if case .dial(let id, Self.member) = $0 { id } else { nil } }
    }

    private func takers(_ talk: Conversation) -> [DeviceID] {
        talk.effects.compactMap { if case .wipeReceiptTaken(let device) = $0 { device } else { nil } }
    }

    /// Dials device 1, which answers with a `Hello` and then says goodbye with this code.
    private func bring(_ talk: inout Conversation, features: UInt64, code: CloseReason) throws {
        let id = try #require(dials(talk).first)
        talk.hear(.opened(id, Self.devices[1].id, remote: Self.member))
        let said = talk.sent(id).compactMap { if case .hello(let hello) = $0 { hello.wipeReceipt } else { nil } }
        #expect(said == [Self.receipt(of: 0)])
        talk.hear(.received(id, .hello(Conversation.hello(features: features)), bytes: 60))
        #expect(talk.effects.contains(.establish(id)))
        // It takes the session for one that is up, until it ends it.
        talk.hear(.received(id, .ping(Frame.Ping(nonce: 1)), bytes: 10))
        #expect(talk.sent(id).isEmpty)
        talk.hear(.received(id, .goodbye(Frame.Goodbye(code: code.rawValue, message: "")), bytes: 20))
    }

    @Test func `a device that was wiped brings its receipt once, and then keeps to itself`() throws {
        var talk = wiped()
        try bring(&talk, features: SessionProtocol.features, code: .revoked)
        #expect(takers(talk) == [Self.devices[1].id])
        #expect(talk.effects.contains(.trust([], hearing: [])))
        for _ in 0..<10 {
            talk.wait(milliseconds: 60_000)
            #expect(dials(talk).isEmpty)
        }
        let stranger = talk.open(1)
        #expect(talk.goodbye(stranger)?.code == CloseReason.notMember.rawValue)
    }

    @Test(arguments: [
        (features: UInt64(0), code: CloseReason.revoked), (features: SessionProtocol.features, code: .shutdown),
    ])
    func `it tries again where the other side does not know receipts, or ends for another reason`(
        features: UInt64, code: CloseReason
    ) throws {
        var talk = wiped()
        try bring(&talk, features: features, code: code)
        #expect(takers(talk).isEmpty)
        talk.wait(milliseconds: 60_000)
        #expect(!dials(talk).isEmpty)
    }

    @Test func `when its time is over it is told no more`() {
        var talk = wiped(endsAfter: .seconds(120))
        #expect(!dials(talk).isEmpty)
        if let id = dials(talk).first { talk.hear(.dialFailed(id, code: "no_answer")) }
        talk.wait(milliseconds: 60_000)
        #expect(!dials(talk).isEmpty)
        if let id = dials(talk).first { talk.hear(.dialFailed(id, code: "no_answer")) }
        talk.wait(milliseconds: 60_000)
        #expect(dials(talk).isEmpty && talk.effects.contains(.trust([], hearing: [])))
        talk.wait(milliseconds: 60_000)
        #expect(dials(talk).isEmpty)
    }

    @Test func `a device that is revoked again, to be wiped, is told of that`() {
        var members = MemberFacts()
        members.add(Self.devices[2].id, role: .writer, at: Dot(replica: Self.own, counter: 1))
        var cuts = CutTable()
        cuts.follow(Self.devices[0].id, recoveryKey: nil, in: .home, members: members)
        for (counter, wipes) in [(UInt64(5), false), (7, true), (9, false)] {
            let dot = Dot(replica: Self.own, counter: counter)
            let statement = TrustStatement(
                .revocation(Self.devices[2].id, ends: [], wipes: wipes), by: .author,
                knows: VersionVector([.init(replica: dot.replica, next: counter)]), at: dot, in: .home,
                sign: Self.devices[0].sign)
            _ = cuts.record(dot, context: VersionVector(), [(dot: dot, says: .trust(statement))], members: members)
        }
        #expect(cuts.revocation(of: Self.devices[2].id)?.dot.counter == 7)
        #expect(cuts.hasWiped(Self.devices[2].id, by: Dot(replica: Self.own, counter: 7)))
        #expect(!cuts.hasWiped(Self.devices[2].id, by: Dot(replica: Self.own, counter: 5)))
    }

    /// - Parameter from: the device that brings it: 1 is a member, 2 was revoked, 3 is a stranger.
    private func taken(from device: Int) -> [WipeReceipt] {
        var members = MemberFacts()
        members.add(Self.devices[1].id, role: .writer, at: Dot(replica: Self.own, counter: 0))
        members.add(Self.devices[2].id, role: .writer, at: Dot(replica: Self.own, counter: 1))
        var cuts = CutTable()
        cuts.follow(Self.devices[0].id, recoveryKey: nil, in: .home, members: members)
        let dot = Dot(replica: Self.own, counter: 5)
        let revocation = TrustStatement(
            .revocation(Self.devices[2].id, ends: [], wipes: true), by: .author,
            knows: VersionVector([.init(replica: dot.replica, next: 5)]), at: dot, in: .home,
            sign: Self.devices[0].sign)
        _ = cuts.record(dot, context: VersionVector(), [(dot: dot, says: .trust(revocation))], members: members)
        var talk = Conversation(members: 3)
        var membership = Membership(own: Self.devices[0].fact, sinceMilliseconds: 0)
        for other in 1...2 {
            _ = membership.add(
                .init(author: Self.devices[0].id, fact: Self.devices[other].fact, wallMilliseconds: 0))
        }
        talk.core = AgentCore(
            configuration: talk.core.configuration, space: .home, membership: membership, tips: [],
            stateDigest: .zero, cuts: cuts, at: talk.now)
        let id = talk.open(device)
        var hello = Conversation.hello(features: SessionProtocol.features)
        hello.wipeReceipt = Self.receipt(of: device)
        talk.hear(.received(id, .hello(hello), bytes: 200))
        if device == 2 { #expect(talk.goodbye(id)?.code == CloseReason.revoked.rawValue) }
        return talk.effects.compactMap { effect in
            guard case .takeWipeReceipt(let receipt, Self.devices[device].id) = effect else { return nil }
            return receipt
        }
    }

    private static let own = ReplicaID(device: devices[0].id, incarnation: 1)

    @Test func `a member takes the receipt of a device that it refuses, and of one that it does not refuse yet`() {
        #expect(taken(from: 2) == [Self.receipt(of: 2)])
        #expect(taken(from: 1) == [Self.receipt(of: 1)])
    }

    @Test func `a stranger's receipt is not taken`() { #expect(taken(from: 3).isEmpty) }
}
