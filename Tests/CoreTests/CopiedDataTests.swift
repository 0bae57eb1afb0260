import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// A copied folder whose identity was removed: a device that is new, on data that is old.
@Suite struct CopiedDataTests {
    private static let event = LocalWrite.operations([
        .appendEvent(.init(stream: "s", type: nil, payload: Array("{}".utf8)))
    ])

    /// Nodes 0 and 1 are a mesh, 2 runs from a copy of 1's data under a new key and joins through 0, and 3 joins through 2.
    private func mesh(writesBeforeItJoins: Bool, _ faults: StoreFaults = []) throws -> Mesh {
        var mesh = try Mesh(2)
        try mesh.pair(0, 1)
        for node in [0, 1, 0] { try mesh.append(node, Self.event) }
        try mesh.addCopy(of: 1, faults)
        if writesBeforeItJoins { try mesh.append(2, Self.event) }
        try mesh.pair(0, 2)
        try mesh.append(2, Self.event)
        try mesh.add()
        try mesh.pair(2, 3)
        try mesh.append(2, Self.event)
        mesh.pass(seconds: 5)
        return mesh
    }

    @Test(arguments: [false, true])
    func `a device that joins through one with a new key on old data gets everything`(
        writesBeforeItJoins: Bool
    ) throws {
        let mesh = try mesh(writesBeforeItJoins: writesBeforeItJoins)
        let held = try mesh.nodes.map { try Set($0.store.state().tips) }
        #expect(held.allSatisfy { $0 == held[0] })
        #expect(Set(held[0].map(\.replica.device)) == Set(mesh.nodes.map(\.device.id)))
        #expect(mesh.nodes[3].core.membership.members.count == 4)
    }

    @Test(arguments: [false, true])
    func `a device that joins through the copy of a device without peers gets everything`(
        restartsBeforeItJoins: Bool
    ) throws {
        var mesh = try Mesh(1)
        try mesh.append(0, Self.event)
        try mesh.addCopy(of: 0)
        if restartsBeforeItJoins {
            try mesh.append(1, Self.event)
            try mesh.restart(1)
        }
        try mesh.pair(0, 1)
        try mesh.append(1, Self.event)
        try mesh.add()
        try mesh.pair(1, 2)
        mesh.pass(seconds: 5)
        let held = try mesh.nodes.map { try Set($0.store.state().tips) }
        #expect(held.allSatisfy { $0 == held[0] } && !held[2].isEmpty)
        #expect(mesh.nodes[2].core.membership.members.count == 3)
    }

    @Test(arguments: [false, true])
    func `a copy that names work of devices that it has not admitted is noticed`(writesBeforeItJoins: Bool) throws {
        let mesh = try mesh(writesBeforeItJoins: writesBeforeItJoins, .strangersNamed)
        #expect(try mesh.nodes[3].store.state().tips.map(\.replica.device) == [mesh.nodes[3].device.id])
    }
}
