import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// A machine is put back while it runs, and nodes that hold its two histories exchange states: none is put together of both (Decisions/24).
@Suite struct MixedStateTests {
    /// Node 0 is put back, 1 holds its first history, and 2 its second. Node 3 is away from the beginning.
    ///
    /// - Parameter lengths: of the two histories behind what they share, in events.
    private func parted(_ lengths: (first: Int, second: Int)) throws -> Mesh {
        var mesh = try Mesh(4, bounds: Mesh.offeringSoon) { $0.exchangesState = true }
        for other in 1..<4 { try mesh.pair(0, other) }
        mesh.connect(1, 2)
        mesh.pass(seconds: 200)
        let image = try mesh.image(of: 0)
        mesh.disconnect(2)
        mesh.disconnect(3)
        for number in 0..<lengths.first { try mesh.say(0, "first \(number)") }
        mesh.pass(seconds: 5)
        mesh.disconnect(0)
        mesh.disconnect(1)
        try mesh.putBack(0, image)
        mesh.connect(0, 2)
        mesh.pass(seconds: 1)
        for number in 0..<lengths.second { try mesh.say(0, "second \(number)") }
        mesh.pass(seconds: 5)
        mesh.disconnect(0)
        return mesh
    }

    private func said(_ history: String, _ count: Int) -> [String] { (0..<count).map { "\(history) \($0)" } }

    /// Puts much into one object, which is light as state.
    private func putMuch(_ mesh: inout Mesh, _ node: Int) throws {
        for number in 0..<60 { try mesh.put(node, Mesh.key("since"), "since \(number)") }
    }

    @Test func `a state with the shorter history is not joined where the longer one is held`() throws {
        var mesh = try parted((first: 5, second: 2))
        mesh.connect(2, 3)
        mesh.pass(seconds: 1)
        try putMuch(&mesh, 2)
        mesh.pass(seconds: 1)
        mesh.connect(1, 2)
        mesh.pass(seconds: 60)
        #expect(try mesh.said(1) == said("first", 5))
        #expect(mesh.nodes[1].core.counters.statesTaken == 0)
        #expect(!mesh.nodes[1].core.forkedReplicas.isEmpty || !mesh.nodes[2].core.forkedReplicas.isEmpty)
    }

    /// Node 3 took the second history as state, so it cannot tell that node 1 holds another one.
    @Test func `no state goes behind a history that is known to be one of two`() throws {
        var mesh = try parted((first: 3, second: 3))
        mesh.connect(1, 2)
        mesh.pass(seconds: 5)
        #expect(!mesh.nodes[1].core.forkedReplicas.isEmpty)
        mesh.disconnect(1)
        mesh.connect(0, 2)
        mesh.pass(seconds: 1)
        for number in 3..<60 { try mesh.say(0, "second \(number)") }
        mesh.pass(seconds: 1)
        mesh.disconnect(0)
        mesh.connect(2, 3)
        mesh.pass(seconds: 5)
        #expect(mesh.nodes[3].core.counters.statesTaken == 1)
        #expect(try mesh.said(3).count == 60)
        mesh.connect(1, 3)
        mesh.pass(seconds: 60)
        #expect(mesh.nodes[1].core.counters.statesTaken == 0)
        #expect(try mesh.said(1) == said("first", 3))
        #expect(!mesh.nodes[1].core.forkedReplicas.isEmpty)
    }
}
