import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// Statements that make a device delete what it holds, and those that do not. Device 0 is the core's own; device 1
/// founded the space.
@Suite struct WipeTests {
    private static let devices = SimulatedDevice.all

    private func dot(_ device: Int, _ counter: UInt64) -> Dot {
        Dot(replica: ReplicaID(device: Self.devices[device].id, incarnation: 1), counter: counter)
    }

    private func placed(_ content: TrustStatement.Content, by device: Int, _ counter: UInt64) -> PlacedStatement {
        let dot = dot(device, counter)
        return PlacedStatement(
            dot: dot,
            statement: TrustStatement(
                content, by: .author, knows: VersionVector([.init(replica: dot.replica, next: counter)]), at: dot,
                in: .home, sign: Self.devices[device].sign))
    }

    private func revocation(by device: Int, _ counter: UInt64 = 5) -> PlacedStatement {
        placed(.revocation(Self.devices[0].id, ends: [], wipes: true), by: device, counter)
    }

    /// Says goodbye to the core with the statement.
    /// - Parameters:
    ///   - admin: a device that is called an admin.
    ///   - host: the device that calls it one; 2 is a writer.
    ///   - known: statements that the core knows, each with all before it.
    /// - Returns: what the core is to be wiped for.
    private func wipes(_ statement: PlacedStatement, admin: Int? = nil, by host: Int = 2, known: [PlacedStatement] = [])
        -> [PlacedStatement]
    {
        var members = MemberFacts()
        members.add(Self.devices[1].id, role: .writer, at: dot(0, 0))
        members.add(Self.devices[0].id, role: .writer, at: dot(1, 0))
        members.add(Self.devices[2].id, role: .writer, at: dot(1, 1))
        if let admin { members.add(Self.devices[admin].id, role: .admin, at: dot(host, 3)) }
        var cuts = CutTable()
        cuts.follow(Self.devices[1].id, recoveryKey: nil, in: .home, members: members)
        for placed in known {
            _ = cuts.record(
                placed.dot, context: VersionVector(), [(dot: placed.dot, says: .trust(placed.statement))],
                members: members)
        }
        var talk = Conversation(members: 4)
        var membership = Membership(own: Self.devices[0].fact, sinceMilliseconds: 0)
        for device in 1...3 {
            let fact = Self.devices[device].fact
            let added = MemberFact(
                subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: fact.binding,
                discoveryKey: fact.discoveryKey, role: device == admin ? .admin : .writer, name: fact.name)
            let author = Self.devices[device == admin ? host : 0].id
            _ = membership.add(.init(author: author, fact: added, wallMilliseconds: 0))
        }
        talk.core = AgentCore(
            configuration: talk.core.configuration, space: .home, membership: membership, tips: [],
            stateDigest: .zero, cuts: cuts, at: talk.now)
        let id = talk.accept(2)
        let goodbye = Frame.Goodbye(code: CloseReason.revoked.rawValue, message: "", statements: [statement])
        talk.hear(.received(id, .goodbye(goodbye), bytes: 300))
        return talk.effects.compactMap { if case .wipe(let placed) = $0 { placed } else { nil } }
    }

    @Test func `a device is wiped by an admin's word, whichever member hands it on`() {
        #expect(wipes(revocation(by: 1)) == [revocation(by: 1)])
    }

    @Test func `nothing is wiped by the word of a writer, or of the admin that a writer made`() {
        #expect(wipes(revocation(by: 2)).isEmpty)
        #expect(wipes(revocation(by: 3)).isEmpty)
        #expect(wipes(revocation(by: 3), admin: 3).isEmpty)
        #expect(wipes(revocation(by: 3), admin: 3, by: 1) == [revocation(by: 3)], "the founder made it one")
    }

    @Test func `a revocation with another signature wipes nothing`() {
        let dot = dot(1, 5)
        let forged = TrustStatement(
            .revocation(Self.devices[0].id, ends: [], wipes: true), by: .author, knows: VersionVector(), at: dot,
            in: .home,
            sign: Self.devices[2].sign)
        #expect(wipes(PlacedStatement(dot: dot, statement: forged)).isEmpty)
    }

    @Test func `a revocation that was undone is not obeyed again`() {
        let back = placed(.readmission(Self.devices[0].id, .writer, ends: []), by: 1, 6)
        #expect(wipes(revocation(by: 1), known: [revocation(by: 1), back]).isEmpty)
        #expect(wipes(revocation(by: 1, 7), known: [revocation(by: 1), back]) == [revocation(by: 1, 7)], "a later one")
    }
}
