import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// The founder's device, 0, is stolen. 1 is an admin, 2 and 3 are writers, and all know the recovery key.
@Suite struct StolenFounderTests {
    private static let others = 1...3
    private let key: RecoveryKey
    private var mesh: Mesh

    init() throws {
        key = try #require(RecoveryKey(bytes: (0..<RecoveryKey.byteCount).map { UInt8($0) }))
        mesh = try Mesh(4)
        try mesh.joinAll()
        try mesh.order(0, .recoveryKey(key.publicKey))
        try mesh.order(0, .role(mesh.nodes[1].device.id, .admin))
        for node in 0...3 { try mesh.put(node, Mesh.key("early\(node)"), "by \(node)") }
        mesh.pass(seconds: 200)
        // Its agent passes over what is stated about it.
        try mesh.putBack(0, try mesh.image(of: 0), .ignoreOwnStatements)
    }

    /// All dial each other, as machines on one network do.
    private mutating func meet() {
        for _ in 0..<6 {
            for left in 0...3 {
                for right in 0...3 where left < right && !mesh.isConnected(left, right) { mesh.connect(left, right) }
            }
            mesh.pass(seconds: 40)
        }
    }

    private func roles(_ node: Int) throws -> [DeviceID: MemberFact.Role]? {
        try mesh.nodes[node].store.state().cuts.verdicts?.roles
    }

    @Test(arguments: others)
    mutating func `the key, on any other device, puts it out and brings back all that it revoked`(helper: Int) throws {
        meet()
        for node in Self.others { try mesh.revoke(0, node) }
        try mesh.put(0, Mesh.key("late"), "by the thief")
        mesh.pass(seconds: 10)
        for node in Self.others {
            #expect(!mesh.isConnected(0, node) && mesh.nodes[node].core.ownRevocation != nil, "it was told")
        }
        let devices = mesh.nodes.map(\.device.id)
        try mesh.revoke(helper, 0, with: key)
        for node in Self.others {
            try mesh.order(helper, .readmission(devices[node], node == 1 ? .admin : .writer), with: key)
        }
        meet()
        for node in Self.others { try mesh.put(node, Mesh.key("after\(node)"), "by \(node)") }
        try mesh.put(0, Mesh.key("after0"), "by the thief")
        meet()
        for node in Self.others {
            #expect(
                try roles(node) == [devices[1]: .admin, devices[2]: .writer, devices[3]: .writer], "on \(node)")
            #expect(mesh.isBarred(0, by: node) && !mesh.isConnected(0, node), "on \(node)")
            for author in Self.others {
                #expect(try mesh.titles(node, Mesh.key("early\(author)")) == ["by \(author)"], "on \(node)")
                #expect(try mesh.titles(node, Mesh.key("after\(author)")) == ["by \(author)"], "on \(node)")
            }
            #expect(try mesh.titles(node, Mesh.key("after0")) == [], "on \(node)")
        }
        #expect(Set(try Self.others.map { try mesh.nodes[$0].store.state().digest }).count == 1)
    }

    @Test
    mutating func `a second recovery key does nothing on devices that know the first, and they say that there are two`()
        throws
    {
        meet()
        let second = try #require(RecoveryKey(bytes: [UInt8](repeating: 7, count: RecoveryKey.byteCount)))
        try mesh.order(0, .recoveryKey(second.publicKey))
        try mesh.revoke(0, 1, with: second)
        meet()
        for node in Self.others {
            let cuts = try mesh.nodes[node].store.state().cuts
            #expect(cuts.recoveryKey == key.publicKey && cuts.hasOtherRecoveryKeys, "on \(node)")
            #expect(!cuts.isRevoked(mesh.nodes[1].device.id), "on \(node)")
        }
    }
}
