import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// Devices that a thief admits and retires. A member that has not heard of the thief's revocation meets them, and says by itself that
/// they are back. 0 is the founder, 1 that member, 2 the thief and 3 its accomplice.
@Suite struct RevokedReturnTests {
    /// The founder is away and revokes the thief, or does not. The thief admits the accomplice and retires it, and the accomplice
    /// comes back to 1.
    private func returned(isRevoked: Bool) throws -> Mesh {
        var mesh = try Mesh(4)
        for guest in 1...2 { try mesh.join(guest, through: 0) }
        mesh.connect(1, 2)
        mesh.pass(seconds: 200)
        mesh.disconnect(0)
        if isRevoked { try mesh.revoke(0, 2) }
        try mesh.join(3, through: 2)
        mesh.connect(1, 3)
        try mesh.put(3, Mesh.key("before"), "before")
        mesh.pass(seconds: 10)
        try mesh.retire(2, 3)
        mesh.pass(seconds: 30)
        try mesh.put(3, Mesh.key("after"), "after")
        mesh.pass(seconds: 1)
        let (own, accomplice) = (mesh.nodes[1].device.id, mesh.nodes[3].device.id)
        let cuts = mesh.nodes[1].core.cuts
        let isBack = cuts.returns.contains { $0.device == accomplice && $0.addition.replica.device == own }
        #expect(isBack && !cuts.isAway(accomplice), "the member was deceived")
        #expect(try mesh.titles(1, Mesh.key("after")) == ["after"])
        return mesh
    }

    private func expect(
        _ mesh: Mesh, accomplice isIn: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let device = mesh.nodes[3].device.id
        for node in 0...1 {
            let cuts = mesh.nodes[node].core.cuts
            #expect(cuts.isBarred(device) == !isIn, "on \(node)", sourceLocation: sourceLocation)
            #expect(cuts.role(of: device, in: mesh.nodes[node].core.membership) == (isIn ? .writer : nil), "on \(node)")
            #expect(try mesh.titles(node, Mesh.key("after")) == (isIn ? ["after"] : []), "on \(node)")
            #expect(mesh.isConnected(1, 3) == isIn, sourceLocation: sourceLocation)
        }
        #expect(
            Set(try (0...1).map { try mesh.nodes[$0].store.state().digest }).count == 1, sourceLocation: sourceLocation)
    }

    @Test func `who is in only by what a thief said beyond its end is out, though a member let it return`() throws {
        var mesh = try returned(isRevoked: true)
        mesh.connect(0, 1)
        mesh.pass(seconds: 30)
        try expect(mesh, accomplice: false)
        #expect(try effect(mesh) == .void(.revoked))
    }

    /// What the founder's log of trust says of the member's word.
    private func effect(_ mesh: Mesh) throws -> TrustEffect {
        let records = try mesh.nodes[0].store.trust(after: 0, limit: 100)
        let judgement = TrustRecord.Judgement(
            of: records, membership: mesh.nodes[0].core.membership, cuts: mesh.nodes[0].core.cuts, blocked: [])
        let record = records.first {
            $0.fact.kind == .admission && $0.fact.author == mesh.nodes[1].device.id
                && $0.fact.device == mesh.nodes[3].device.id
        }
        return try #require(record).effect(judgement)
    }

    /// 2 says the same by itself, of an accomplice that no other fact admits: beyond its end, or as a reader.
    @Test(arguments: [MemberFact.Role.writer, .reader])
    func `a return alone admits no device, and lets none pass for a newcomer`(role: MemberFact.Role) throws {
        var mesh = try Mesh(4)
        try mesh.join(1, through: 0)
        try mesh.join(2, through: 0, as: role)
        mesh.connect(1, 2)
        mesh.pass(seconds: 200)
        mesh.disconnect(0)
        if role == .writer { try mesh.revoke(0, 2) }
        try mesh.append(2, .operations([.addMember(mesh.nodes[3].fact.asReturn)]))
        try mesh.append(3, .operations([.addMember(mesh.nodes[2].fact)]))
        mesh.connect(2, 3)
        mesh.connect(1, 3)
        try mesh.put(3, Mesh.key("after"), "after")
        mesh.pass(seconds: 30)
        mesh.connect(0, 1)
        mesh.pass(seconds: 30)
        try expect(mesh, accomplice: false)
    }

    @Test func `who was let in by a device that nobody revoked returns for good`() throws {
        var mesh = try returned(isRevoked: false)
        mesh.connect(0, 1)
        mesh.pass(seconds: 30)
        try expect(mesh, accomplice: true)
        #expect(try effect(mesh) == .holds)
    }

    /// Also one by an admin: a re-admission is what undoes a revocation.
    @Test(arguments: [MemberFact.Role.writer, .admin])
    func `an add-fact that knows a revocation undoes it as little as one that does not`(role: MemberFact.Role) throws {
        var mesh = try Mesh(4)
        try mesh.join(1, through: 0, as: role)
        for guest in 2...3 { try mesh.join(guest, through: 0) }
        mesh.connect(1, 2)
        mesh.connect(1, 3)
        mesh.pass(seconds: 200)
        mesh.disconnect(1)
        try mesh.append(1, .operations([.addMember(mesh.nodes[3].fact)]))
        for device in 2...3 { try mesh.revoke(0, device) }
        mesh.connect(0, 1)
        mesh.pass(seconds: 30)
        try mesh.append(1, .operations([.addMember(mesh.nodes[2].fact)]))
        mesh.pass(seconds: 30)
        for node in 0...1 {
            for device in 2...3 { #expect(mesh.isBarred(device, by: node), "\(device) on \(node)") }
            let members = mesh.nodes[node].core.membership
            #expect(mesh.nodes[node].core.cuts.role(of: mesh.nodes[1].device.id, in: members) == role)
        }
    }

    @Test func `what a person at the member says makes it one`() throws {
        var mesh = try returned(isRevoked: true)
        try mesh.join(3, through: 1)
        mesh.pass(seconds: 1)
        mesh.connect(0, 1)
        mesh.pass(seconds: 30)
        let device = mesh.nodes[3].device.id
        for node in 0...1 { #expect(!mesh.nodes[node].core.cuts.isBarred(device), "on \(node)") }
    }
}
