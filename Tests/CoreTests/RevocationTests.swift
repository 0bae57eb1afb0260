import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// Whole histories of devices that were revoked, with real stores. 0 is the founder.
@Suite struct RevocationTests {
    private let key = RecoveryKey(bytes: [UInt8](repeating: 6, count: 32))!

    /// Everybody is connected with everybody, and nothing is on its way.
    private func joined(
        _ count: Int, faults: CoreFaults = [],
        configure: @escaping (inout CoreConfiguration) -> Void = { _ in }
    ) throws -> Mesh {
        var mesh = try Mesh(count, faults: faults, configure: configure)
        try mesh.joinAll()
        mesh.pass(seconds: 200)
        let founder = mesh.nodes[0].device.id
        for (number, node) in mesh.nodes.enumerated() {
            #expect(node.core.cuts.founder == founder, "node \(number)")
            #expect(node.core.membership.members.count == count, "node \(number)")
        }
        return mesh
    }

    private func placed(_ mesh: Mesh, _ node: Int, _ dot: Dot) throws -> PlacedStatement {
        PlacedStatement(try #require(mesh.nodes[node].core.cuts.trust.row(at: dot)))
    }

    // MARK: A revoked device

    @Test func `its sessions end at once, and each member tells it by whom`() throws {
        var mesh = try joined(3)
        let (stolen, history) = (mesh.nodes[2].device.id, try mesh.history(2))
        let log = MeshLog(&mesh)
        let dot = try mesh.revoke(0, 2)
        let said = try placed(mesh, 0, dot)
        for member in 0..<2 {
            #expect(!mesh.isConnected(member, 2))
            let goodbyes = log.goodbyes(from: member, to: 2)
            #expect(goodbyes.map(\.code) == ["revoked"] && goodbyes.first?.statements == [said], "node \(member)")
            // Neither for bulk connections: the transport lets in whom this names.
            let trusted = log.effects(of: member).compactMap { effect -> ([DeviceID], [DeviceID])? in
                if case .trust(let devices, let heard) = effect { (devices, heard) } else { nil }
            }
            #expect(trusted.last?.0 == [mesh.nodes[1 - member].device.id] && trusted.last?.1 == [stolen])
            #expect(log.effects(of: member).contains(.bulkPeerDown(stolen)))
        }
        #expect(mesh.isConnected(0, 1))
        // It was not given the statement as a change, and believes the founder's word.
        #expect(mesh.held(2, of: dot.replica) <= dot.counter)
        #expect(mesh.nodes[2].core.ownRevocation == said)
        #expect(log.ownRevocations(of: 2) == [said], "said by two, reported once")
        #expect(log.wipes(of: 2).isEmpty)

        // It dials again, with work that it has written since.
        try mesh.put(2, "in vain")
        let end = mesh.held(0, of: history)
        for member in 0..<2 {
            log.forget()
            mesh.connect(2, member)
            #expect(!mesh.isConnected(2, member))
            let goodbyes = log.goodbyes(from: member, to: 2)
            #expect(goodbyes.map(\.code) == ["revoked"] && goodbyes.first?.statements == [said])
            for frame in log.frames(from: member, to: 2) {
                switch frame {
                case .hello, .goodbye: break
                default: Issue.record("it is sent \(frame)")
                }
            }
            let isBulkPeer = log.effects(of: member).contains { if case .bulkPeerUp = $0 { true } else { false } }
            #expect(!isBulkPeer && !mesh.nodes[member].core.connectedDevices.contains(stolen))
            #expect(mesh.held(member, of: history) == end)
        }
        #expect(mesh.held(2, of: history) > end)
        // What is left of the mesh goes on.
        try mesh.put(1, "milk")
        for member in 0..<2 { #expect(try mesh.titles(member) == ["milk"]) }
        #expect(try mesh.titles(2) == ["in vain"])
    }

    @Test func `its presence ends at once, and what a member passes on of it later is not shown`() throws {
        var mesh = try joined(3)
        let stolen = mesh.nodes[2].device
        func presence(_ sequence: UInt64) -> SignedPresence {
            let entry = PresenceRecord.Entry(topic: "room", session: 1, value: Array("\"here\"".utf8))
            let mark = PresenceMark(run: 1, sequence: sequence)
            return SignedPresence(
                PresenceRecord(device: stolen.id, mark: mark, entries: [entry]), space: .home, sign: stolen.sign)
        }
        let log = MeshLog(&mesh)
        func shown(by node: Int) -> [[DeviceID]] {
            log.effects(of: node).compactMap { effect in
                if case .presence(let records) = effect { records.map(\.device) } else { nil }
            }
        }
        mesh.tell([(2, .presenceChanged(presence(1)))])
        for member in 0..<2 { #expect(shown(by: member).last == [stolen.id]) }
        log.forget()
        try mesh.revoke(0, 2)
        for member in 0..<2 { #expect(shown(by: member) == [[]]) }
        log.forget()
        mesh.send(.presence(Frame.Presence(space: .home, records: [presence(2)])), from: 1, to: 0)
        #expect(shown(by: 0).isEmpty)
        #expect(log.frames.allSatisfy { if case .presence = $0.frame { false } else { true } })
    }

    @Test func `it wipes for an admin and for the recovery key, and for nobody else`() throws {
        for byKey in [false, true] {
            var mesh = try joined(3)
            try mesh.order(0, .recoveryKey(key.publicKey))
            mesh.disconnect(2)
            let log = MeshLog(&mesh)
            // The key is used at a writer's, who may not say it himself.
            let dot = try mesh.revoke(byKey ? 1 : 0, 2, wipes: true, with: byKey ? key : nil)
            #expect(mesh.isBarred(2, by: 0) && mesh.isBarred(2, by: 1))
            #expect(log.wipes(of: 2).isEmpty)
            mesh.connect(1, 2)
            let said = try placed(mesh, 1, dot)
            #expect(Set(log.wipes(of: 2)) == [said], "byKey: \(byKey)")
            #expect(log.wipes(of: 0).isEmpty && log.wipes(of: 1).isEmpty)
        }
    }

    @Test func `a forged statement wipes nothing, whoever says it`() throws {
        var mesh = try joined(3)
        try mesh.order(0, .recoveryKey(key.publicKey))
        mesh.pass(seconds: 200)
        let devices = mesh.nodes.map(\.device)
        let own = devices[2].id
        let (founders, writers) = (try mesh.history(0), try mesh.history(1))
        let (at, byWriter) = (Dot(replica: founders, counter: 90), Dot(replica: writers, counter: 90))
        func wipe(_ device: DeviceID) -> TrustStatement.Content { .revocation(device, ends: [], wipes: true) }
        func signed(
            _ content: TrustStatement.Content, by signer: Int, at dot: Dot, in space: SpaceID = .home
        ) -> TrustStatement {
            TrustStatement(content, by: .author, knows: VersionVector(), at: dot, in: space, sign: devices[signer].sign)
        }
        let other = try #require(SpaceID(bytes: [UInt8](repeating: 9, count: SpaceID.home.bytes.count)))
        let stranger = Dot(replica: ReplicaID(device: SimulatedDevice.all[5].id, incarnation: 1), counter: 0)
        let genuine = signed(wipe(own), by: 0, at: at)
        let atOwn = Dot(replica: try mesh.history(2), counter: 90)
        let forged: [(String, PlacedStatement)] = [
            ("a writer", .init(dot: byWriter, statement: signed(wipe(own), by: 1, at: byWriter))),
            ("a writer under the founder's name", .init(dot: at, statement: signed(wipe(own), by: 1, at: at))),
            ("the device itself", .init(dot: atOwn, statement: signed(wipe(own), by: 2, at: atOwn))),
            (
                "no member",
                .init(
                    dot: stranger,
                    statement: TrustStatement(
                        wipe(own), by: .author, knows: VersionVector(), at: stranger, in: .home,
                        sign: SimulatedDevice.all[5].sign))
            ),
            ("another place", .init(dot: Dot(replica: founders, counter: 91), statement: genuine)),
            ("another space", .init(dot: at, statement: signed(wipe(own), by: 0, at: at, in: other))),
            ("another device", .init(dot: at, statement: signed(wipe(devices[1].id), by: 0, at: at))),
            (
                "another key",
                .init(
                    dot: at,
                    statement: TrustStatement(wipe(own), by: RecoveryKey(), knows: VersionVector(), at: at, in: .home))
            ),
            (
                "a signature of another content",
                .init(
                    dot: at,
                    statement: TrustStatement(wipe(own), by: .author, knows: VersionVector(), at: at, in: .home) { _ in
                        signed(.revocation(own, ends: [], wipes: false), by: 0, at: at).signature
                    })
            ),
        ]
        let log = MeshLog(&mesh)
        for (name, statement) in forged {
            mesh.send(.statements(Frame.Statements(space: .home, statements: [statement])), from: 1, to: 2)
            #expect(log.wipes(of: 2).isEmpty && mesh.nodes[2].core.ownRevocation == nil, "signed by \(name)")
            #expect(mesh.isConnected(1, 2))
        }
        // The same way a true one is believed.
        let said = PlacedStatement(dot: at, statement: genuine)
        mesh.send(.statements(Frame.Statements(space: .home, statements: [said])), from: 1, to: 2)
        #expect(log.wipes(of: 2) == [said])
    }

    @Test func `a device that only a revoked one had admitted is refused, too`() throws {
        var mesh = try joined(3)
        try mesh.add()
        mesh.disconnect(0)
        try mesh.join(3, through: 1)
        mesh.connect(2, 3)
        try mesh.put(3, "milk")
        #expect(try mesh.titles(2) == ["milk"])
        // 0 knows nothing of 3.
        try mesh.revoke(0, 1)
        let log = MeshLog(&mesh)
        mesh.connect(0, 2)
        mesh.pass(seconds: 5)
        for member in [0, 2] {
            #expect(mesh.isBarred(1, by: member) && mesh.isBarred(3, by: member), "node \(member)")
            #expect(try mesh.titles(member).isEmpty)
        }
        #expect(!mesh.isConnected(1, 2) && !mesh.isConnected(2, 3) && mesh.isConnected(0, 2))
        #expect(log.goodbyes(from: 2, to: 3).map(\.code) == ["revoked"])
        log.forget()
        mesh.connect(0, 3)
        #expect(!mesh.isConnected(0, 3))
        let goodbyes = log.goodbyes(from: 0, to: 3)
        #expect(goodbyes.map(\.code) == ["revoked"])
        // Nobody revoked it: there is nothing that it could be shown.
        #expect(goodbyes.first?.statements == [] && mesh.nodes[3].core.ownRevocation == nil)
        // Another member lets it in, and what it wrote counts.
        try mesh.append(2, .operations([.addMember(mesh.nodes[3].fact)]))
        mesh.connect(0, 3)
        mesh.pass(seconds: 5)
        #expect(mesh.isConnected(0, 3))
        for member in [0, 2, 3] { #expect(try mesh.titles(member) == ["milk"], "node \(member)") }
    }

    // MARK: Whom nobody waits for

    /// The moments at which the change that 3 has not acknowledged is stable at node 0: before the revocation, once 0 and 1 have
    /// acknowledged that, and once 2 has, too.
    private func stable(_ faults: CoreFaults = []) throws -> [Bool] {
        var mesh = try joined(4, faults: faults)
        mesh.disconnect(3)
        try mesh.put(0, "milk")
        let history = try mesh.history(0)
        let end = mesh.held(0, of: history)
        var moments: [Bool] = []
        func look(_ mesh: Mesh) { moments.append(mesh.nodes[0].core.stable.next(of: history) >= end) }
        mesh.pass(seconds: 300)
        look(mesh)
        mesh.disconnect(2)
        try mesh.revoke(0, 3)
        mesh.pass(seconds: 300)
        look(mesh)
        if faults.isEmpty {
            let departures = mesh.nodes[0].core.departures
            #expect(departures.map(\.device) == [mesh.nodes[3].device.id])
            #expect(departures.first?.waitingFor == [mesh.nodes[2].device.id])
        }
        mesh.connect(0, 2)
        mesh.pass(seconds: 300)
        look(mesh)
        if faults.isEmpty { #expect(mesh.nodes[0].core.departures.first?.waitingFor == []) }
        return moments
    }

    @Test func `nobody waits for it once every other member has acknowledged the revocation, and not before`() throws {
        #expect(try stable() == [false, false, true])
    }

    @Test func `letting it go before that is noticed`() throws {
        #expect(try stable(.releaseBeforeAcknowledged) == [false, true, true])
    }

    // MARK: Readers

    @Test func `what a reader wrote counts nowhere, and no state is asked of it`() throws {
        var mesh = try Mesh(3) { $0.exchangesState = true }
        try mesh.join(1, through: 0)
        mesh.pass(seconds: 200)
        // It has not heard what it is: a member that turned bad would write all the same.
        try mesh.put(2, "in vain")
        try mesh.join(2, through: 0, as: .reader)
        mesh.connect(1, 2)
        mesh.pass(seconds: 200)
        let (history, reader) = (try mesh.history(2), mesh.nodes[2].device.id)
        for node in 0..<3 {
            #expect(mesh.held(node, of: history) > 0, "node \(node) holds what it does not show")
            #expect(try mesh.titles(node).isEmpty, "node \(node)")
            #expect(mesh.nodes[node].core.cuts.verdicts?.roles[reader] == .reader)
        }
        #expect(try mesh.digests().count == 1)
        guard case .failure(let refusal) = try mesh.put(2, "more") else { throw Missing() }
        #expect(refusal == WriteRefusal(step: 0, .readOnly))
        try mesh.put(0, "milk")
        for node in 0..<3 { #expect(try mesh.titles(node) == ["milk"], "node \(node)") }

        // It passes on what others wrote, as changes only.
        mesh.disconnect(0)
        try mesh.put(1, "bread")
        let log = MeshLog(&mesh)
        mesh.connect(0, 2)
        #expect(try mesh.titles(0) == ["bread"])
        mesh.send(.stateOffer(Frame.StateOffer(space: .home)), from: 2, to: 0)
        mesh.pass(seconds: 60)
        let hasAsked = log.frames(from: 0, to: 2).contains { if case .stateRequest = $0 { true } else { false } }
        let hasOffered = log.frames(from: 2, to: 0).contains { if case .stateOffer = $0 { true } else { false } }
        #expect(!hasAsked && !hasOffered && mesh.isConnected(0, 2))
    }

    private struct Missing: Error {}

    // MARK: The recovery key

    /// A thief has made 1 an admin, and revokes all others, who are left alone with what they write: `put` by each.
    private func robbed() throws -> Mesh {
        var mesh = try joined(4)
        try mesh.order(0, .recoveryKey(key.publicKey))
        try mesh.order(0, .role(mesh.nodes[1].device.id, .admin))
        mesh.pass(seconds: 200)
        for victim in [0, 2, 3] { try mesh.revoke(1, victim) }
        for one in 0..<4 {
            for other in 0..<one { #expect(!mesh.isConnected(one, other), "\(one) and \(other)") }
        }
        #expect(mesh.nodes[0].core.ownRevocation != nil, "the thief is an admin: he is believed")
        for victim in [0, 2, 3] {
            try mesh.put(victim, Mesh.key("\(victim)"), "by \(victim)")
            #expect(mesh.isBarred(victim, by: 1))
        }
        #expect(mesh.isBarred(0, by: 2) && mesh.isBarred(0, by: 3) && mesh.isBarred(2, by: 3))
        return mesh
    }

    private func expectRecovered(_ mesh: Mesh, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let victims = [0, 2, 3]
        for node in victims {
            #expect(mesh.isBarred(1, by: node), "node \(node)", sourceLocation: sourceLocation)
            for other in victims {
                #expect(!mesh.isBarred(other, by: node), "\(other) by \(node)", sourceLocation: sourceLocation)
                #expect(
                    try mesh.titles(node, Mesh.key("\(other)")) == ["by \(other)"], "\(other) at \(node)",
                    sourceLocation: sourceLocation)
            }
            let store = mesh.nodes[node].store
            #expect(try store.recomputedDigest(of: .home) == store.state().digest, sourceLocation: sourceLocation)
        }
        #expect(
            Set(try victims.map { try mesh.nodes[$0].store.state().digest }).count == 1, sourceLocation: sourceLocation)
    }

    /// All who were robbed meet, twice: the first session of two may be only to be heard.
    private func meet(_ mesh: inout Mesh) {
        for _ in 0..<2 {
            for (one, other) in [(0, 2), (2, 3), (0, 3)] where !mesh.isConnected(one, other) {
                mesh.connect(one, other)
            }
        }
        mesh.pass(seconds: 30)
    }

    @Test func `where a thief revoked everybody, the recovery key on one device puts all right`() throws {
        var mesh = try robbed()
        let thief = mesh.nodes[1].device.id
        let dot = try mesh.revoke(0, 1, with: key)
        let said = try placed(mesh, 0, dot)
        #expect(mesh.isBarred(1, by: 0))
        let log = MeshLog(&mesh)

        // 2 refuses 0, as the thief had it. It hears it all the same.
        mesh.connect(0, 2)
        #expect(log.statements(from: 0, to: 2) == [said])
        #expect(log.goodbyes(from: 2, to: 0).map(\.code) == ["revoked"])
        #expect(!mesh.isConnected(0, 2))
        #expect(log.effects(of: 2).contains(.takeStatements([said])))
        #expect(mesh.held(2, of: dot.replica) <= dot.counter, "the statement came apart from its history")
        #expect(try mesh.nodes[2].store.state().cuts.trust.row(at: dot)?.statement == said.statement)
        #expect(mesh.isBarred(1, by: 2) && !mesh.isBarred(0, by: 2))

        // From then on they are members to each other, and 2 passes it on to 3, which refuses it.
        mesh.connect(0, 2)
        #expect(mesh.isConnected(0, 2))
        mesh.disconnect(0)
        log.forget()
        mesh.connect(2, 3)
        #expect(log.statements(from: 2, to: 3) == [said] && !mesh.isConnected(2, 3))
        mesh.connect(2, 3)
        #expect(mesh.isConnected(2, 3))
        meet(&mesh)
        try expectRecovered(mesh)

        // The thief is told by what.
        log.forget()
        mesh.connect(1, 3)
        #expect(!mesh.isConnected(1, 3))
        #expect(log.goodbyes(from: 3, to: 1).first?.statements.contains(said) ?? false)
        #expect(mesh.nodes[1].core.ownRevocation == said)
        for node in [0, 2, 3] { #expect(mesh.nodes[node].core.membership[thief] != nil) }
        // It holds over a restart, too.
        try mesh.restart(3)
        #expect(mesh.isBarred(1, by: 3) && !mesh.isBarred(0, by: 3))
        mesh.connect(0, 3)
        #expect(mesh.isConnected(0, 3))
    }

    @Test func `the key may be used on any device, also one that is refused everywhere`() throws {
        for node in [2, 3] {
            var mesh = try robbed()
            try mesh.revoke(node, 1, with: key)
            meet(&mesh)
            meet(&mesh)
            try expectRecovered(mesh)
        }
    }

    @Test func `two that refuse each other hear each other`() throws {
        var mesh = try joined(4)
        try mesh.order(0, .recoveryKey(key.publicKey))
        for thief in [1, 3] { try mesh.order(0, .role(mesh.nodes[thief].device.id, .admin)) }
        mesh.pass(seconds: 200)
        // One thief tells 0 of 2 only, the other one tells 2 of 0 only.
        mesh.disconnect(0)
        mesh.disconnect(2)
        mesh.disconnect(1)
        try mesh.revoke(1, 2)
        mesh.connect(1, 0)
        try mesh.revoke(3, 0)
        mesh.connect(3, 2)
        mesh.disconnect(1)
        mesh.disconnect(3)
        #expect(mesh.isBarred(2, by: 0) && mesh.isBarred(0, by: 2))
        // Each uses the key against the thief that it does not know of by its own tables.
        let first = try mesh.revoke(0, 3, with: key)
        let second = try mesh.revoke(2, 1, with: key)
        #expect(mesh.isBarred(2, by: 0) && mesh.isBarred(0, by: 2))
        let log = MeshLog(&mesh)
        mesh.connect(0, 2)
        #expect(log.statements(from: 0, to: 2).map(\.dot) == [first])
        #expect(log.statements(from: 2, to: 0).map(\.dot) == [second])
        #expect(!mesh.isBarred(2, by: 0) && !mesh.isBarred(0, by: 2))
        mesh.connect(0, 2)
        #expect(mesh.isConnected(0, 2))
        mesh.pass(seconds: 30)
        for node in [0, 2] { #expect(mesh.isBarred(1, by: node) && mesh.isBarred(3, by: node)) }
        #expect(try mesh.nodes[0].store.state().digest == mesh.nodes[2].store.state().digest)
    }

    @Test func `a statement of another key is taken by nobody`() throws {
        var mesh = try joined(3)
        try mesh.order(0, .recoveryKey(key.publicKey))
        mesh.pass(seconds: 200)
        let dot = Dot(replica: try mesh.history(1), counter: 90)
        let content = TrustStatement.Content.revocation(mesh.nodes[0].device.id, ends: [], wipes: false)
        let log = MeshLog(&mesh)
        for (signer, isTaken) in [(RecoveryKey(), false), (key, true)] {
            let statement = TrustStatement(content, by: signer, knows: VersionVector(), at: dot, in: .home)
            let said = PlacedStatement(dot: dot, statement: statement)
            mesh.send(.statements(Frame.Statements(space: .home, statements: [said, said])), from: 1, to: 2)
            #expect(log.effects(of: 2).contains(.takeStatements([said])) == isTaken)
            #expect(mesh.isBarred(0, by: 2) == isTaken)
        }
    }

    // MARK: Earlier versions

    /// Tells if 0 sent 1 statements, and if it offered it state, 1 being of a version with these features.
    private func told(_ features: UInt64, statements: Bool) throws -> (statements: Bool, state: Bool) {
        let device = SimulatedDevice.all[1].id
        var mesh = try Mesh(3) { configuration in
            configuration.exchangesState = true
            if configuration.own == device { configuration.features = features }
        }
        try mesh.joinAll()
        if statements {
            try mesh.order(0, .recoveryKey(key.publicKey))
            try mesh.order(0, .role(mesh.nodes[2].device.id, .admin), with: key)
        }
        mesh.pass(seconds: 200)
        // A deletion that was forgotten is a floor, which 1 then lacks something of.
        mesh.disconnect(1)
        try mesh.retire(0, 1)
        mesh.pass(seconds: 200)
        try mesh.put(0, "milk")
        try mesh.delete(0)
        mesh.pass(seconds: 300)
        #expect(try mesh.kept(0) == 0 && mesh.standing(0) == .nothing)
        let log = MeshLog(&mesh)
        mesh.connect(0, 1)
        mesh.pass(seconds: 60)
        #expect(mesh.isConnected(0, 1))
        let said = !log.statements(from: 0, to: 1).isEmpty
        let offered = [0, 1].contains { node in
            log.frames(from: node, to: 1 - node).contains { frame in
                switch frame {
                case .stateOffer, .stateRequest, .stateItems: true
                default: false
                }
            }
        }
        return (said, offered)
    }

    @Test func `a peer of a version before roles is sent no statements, and no state while there are any`() throws {
        let before = SessionProtocol.features & ~SessionProtocol.roles
        #expect(try told(SessionProtocol.features, statements: true) == (true, true))
        #expect(try told(before, statements: true) == (false, false))
        #expect(try told(before, statements: false) == (false, true))
    }
}
