import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// A machine is put back while it runs. One node holds what it had written before, and lacks so much of what was written since that it is
/// offered a state in which the other history of that machine is longer (Decisions/24).
@Suite struct HeldAloneTests {
    /// Node 0 is put back, 1 holds its first history alone, and 2 its second.
    private func parted() throws -> Mesh {
        var mesh = try Mesh(3, bounds: Mesh.offeringSoon) { $0.exchangesState = true }
        for other in 1..<3 { try mesh.pair(0, other) }
        mesh.connect(1, 2)
        mesh.pass(seconds: 200)
        let image = try mesh.image(of: 0)
        mesh.disconnect(2)
        try mesh.say(0, "held alone")
        try mesh.count(0, "held alone")
        try mesh.put(0, Mesh.key("held alone"), "held alone")
        mesh.pass(seconds: 5)
        #expect(try mesh.said(1) == ["held alone"])
        mesh.disconnect(0)
        mesh.disconnect(1)
        try mesh.putBack(0, image)
        mesh.connect(0, 2)
        for number in 0..<40 { try mesh.put(0, Mesh.key("since"), "since \(number)") }
        mesh.pass(seconds: 5)
        mesh.disconnect(0)
        return mesh
    }

    @Test func `it takes no such state, and says that there are two histories`() throws {
        var mesh = try parted()
        mesh.connect(1, 2)
        mesh.pass(seconds: 60)
        let node = mesh.nodes[1]
        #expect(node.core.counters.statesTaken == 0)
        #expect(!node.core.forkedReplicas.isEmpty || !mesh.nodes[2].core.forkedReplicas.isEmpty)
        #expect(try mesh.said(1) == ["held alone"])
        #expect(try mesh.titles(1, Mesh.key("held alone")) == ["held alone"])
    }

    @Test func `nothing of either is lost once the machine is there`() throws {
        var mesh = try parted()
        mesh.connect(1, 2)
        mesh.pass(seconds: 20)
        for _ in 0..<8 {
            for other in 1..<3 where !mesh.isConnected(0, other) { mesh.connect(0, other) }
            mesh.pass(seconds: 12)
        }
        #expect(try mesh.digests().count == 1)
        for node in 0..<3 {
            #expect(mesh.nodes[node].core.forkedReplicas.isEmpty, "on node \(node)")
            #expect(try mesh.said(node) == ["held alone"], "on node \(node)")
            #expect(try mesh.counts(node) == ["held alone": 1], "on node \(node)")
            #expect(try mesh.titles(node, Mesh.key("held alone")) == ["held alone"], "on node \(node)")
            #expect(try mesh.titles(node, Mesh.key("since")) == ["since 39"], "on node \(node)")
        }
    }

    /// Node 2 takes the second history as state from node 0 itself, which takes it back once it meets node 1.
    @Test func `a node that took a history as state says so once it was taken back`() throws {
        var mesh = try Mesh(4, bounds: Mesh.offeringSoon) { $0.exchangesState = true }
        for other in 1..<4 { try mesh.pair(0, other) }
        mesh.connect(1, 2)
        mesh.pass(seconds: 200)
        let image = try mesh.image(of: 0)
        for node in 2..<4 { mesh.disconnect(node) }
        for number in 0..<60 { try mesh.say(0, "first \(number)") }
        mesh.pass(seconds: 5)
        mesh.disconnect(0)
        mesh.disconnect(1)
        try mesh.putBack(0, image)
        // What it writes while it is alone would be one change.
        mesh.connect(0, 3)
        mesh.pass(seconds: 1)
        for number in 0..<40 { try mesh.put(0, Mesh.key("since"), "since \(number)") }
        mesh.pass(seconds: 1)
        mesh.disconnect(3)
        mesh.connect(0, 2)
        mesh.pass(seconds: 5)
        #expect(mesh.nodes[2].core.counters.statesTaken == 1)
        mesh.disconnect(2)
        for _ in 0..<4 {
            if !mesh.isConnected(0, 1) { mesh.connect(0, 1) }
            mesh.pass(seconds: 12)
        }
        mesh.connect(0, 2)
        mesh.pass(seconds: 60)
        #expect(!mesh.nodes[2].core.forkedReplicas.isEmpty)
        // Nothing of either is lost where changes are.
        for node in 0..<2 {
            #expect(try mesh.said(node).count == 60)
            let titles = try mesh.titles(node, Mesh.key("since"))
            #expect(titles == ["since 39"], "on node \(node)")
        }
    }
}
