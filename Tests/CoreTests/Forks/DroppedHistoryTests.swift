import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// A machine is put back while it runs, to before what all have acknowledged since and dropped from their logs. No device can show it
/// that history any more, and what it writes on under the same replica is another one (Decisions/24).
@Suite struct DroppedHistoryTests {
    /// Whether the cores exchange state yet.
    private final class Exchange {
        var isOn = true
    }

    private func mesh(_ exchange: Exchange = Exchange()) throws -> Mesh {
        var mesh = try Mesh(3) { $0.exchangesState = exchange.isOn }
        for other in 1..<3 { try mesh.pair(0, other) }
        mesh.connect(1, 2)
        mesh.pass(seconds: 200)
        return mesh
    }

    /// Node 0 writes before its image is made and after; the others drop all of it. Then it is put back, and meets nobody yet.
    ///
    /// - Parameters:
    ///   - isAcknowledged: the others had acknowledged what is in the image.
    ///   - isWhole: node 0 had dropped nothing itself.
    ///   - with: nodes that are put back with it.
    ///   - keeping: nodes that drop nothing.
    private func putBack(
        _ mesh: inout Mesh, isAcknowledged: Bool = true, isWhole: Bool = true, with others: [Int] = [],
        keeping: [Int] = []
    ) throws {
        if !isWhole { try mesh.compact(0, upTo: mesh.common()) }
        try mesh.say(0, "before")
        try mesh.count(0, "before")
        if isAcknowledged { mesh.pass(seconds: 40) }
        let images = try ([0] + others).map { ($0, try mesh.image(of: $0)) }
        for number in 0..<3 { try mesh.say(0, "lost \(number)") }
        try mesh.count(0, "lost")
        try mesh.put(0, Mesh.key("lost"), "lost")
        mesh.pass(seconds: 40)
        let common = try mesh.common()
        for node in 1..<3 where !keeping.contains(node) { try mesh.compact(node, upTo: common) }
        for (node, image) in images { try mesh.putBack(node, image) }
        mesh.pass(seconds: 5)
    }

    private func meet(_ mesh: inout Mesh) {
        for _ in 0..<6 {
            for other in 1..<3 where !mesh.isConnected(0, other) { mesh.connect(0, other) }
            mesh.pass(seconds: 12)
        }
    }

    private func expectSettled(_ mesh: Mesh, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try mesh.digests().count == 1, sourceLocation: sourceLocation)
        for node in mesh.nodes {
            #expect(node.core.forkedReplicas.isEmpty, sourceLocation: sourceLocation)
            #expect(try !node.store.state().hasTakenBack, sourceLocation: sourceLocation)
        }
    }

    private static let kept = ["before", "lost 0", "lost 1", "lost 2"]

    /// Less than the others have dropped, as much, and more.
    @Test(arguments: [1, 3, 12])
    func `what was written since is there beside what was dropped, each event once`(events: Int) throws {
        var mesh = try mesh()
        try putBack(&mesh)
        let since = (10..<10 + events).map { "since \($0)" }
        for body in since { try mesh.say(0, body) }
        try mesh.count(0, "since")
        try mesh.put(0, Mesh.key("since"), "since")
        meet(&mesh)
        try expectSettled(mesh)
        for node in 0..<3 {
            #expect(try mesh.said(node) == Self.kept + since)
            #expect(try mesh.counts(node) == ["before": 1, "lost": 1, "since": 1])
            #expect(try mesh.titles(node, Mesh.key("lost")) == ["lost"])
            #expect(try mesh.titles(node, Mesh.key("since")) == ["since"])
        }
    }

    @Test func `where nothing was written since nothing is taken back`() throws {
        var mesh = try mesh()
        try putBack(&mesh)
        meet(&mesh)
        try expectSettled(mesh)
        #expect(try mesh.nodes[0].store.state().settled.isEmpty)
        for node in 0..<3 { #expect(try mesh.said(node) == Self.kept) }
    }

    /// Nothing tells it apart from what was written since, and nothing is lost.
    @Test func `what nobody had acknowledged is written a second time`() throws {
        var mesh = try mesh()
        try putBack(&mesh, isAcknowledged: false)
        meet(&mesh)
        try expectSettled(mesh)
        for node in 0..<3 { #expect(try mesh.said(node) == (Self.kept + ["before"]).sorted()) }
    }

    /// What it has sent to the other one would else stand twice, or be hidden there.
    @Test func `where two machines were put back together it is reported`() throws {
        var mesh = try mesh()
        try putBack(&mesh, with: [2])
        mesh.connect(0, 2)
        try mesh.say(0, "since")
        mesh.pass(seconds: 100)
        mesh.disconnect(2)
        mesh.connect(0, 1)
        mesh.pass(seconds: 30)
        #expect(mesh.nodes[0].core.forkedReplicas.count == 1)
        #expect(try mesh.said(0) == ["before", "since"])
    }

    /// No state in which that history is longer is taken then: all that was written since would be hidden by it.
    @Test func `what cannot be taken back is reported, and stays`() throws {
        var mesh = try mesh()
        try putBack(&mesh, isWhole: false)
        try mesh.say(0, "since")
        // What held before is kept nowhere.
        try mesh.setPolicy(0, "updateWins")
        meet(&mesh)
        #expect(mesh.nodes[0].core.forkedReplicas.count == 1)
        #expect(try mesh.said(0) == ["before", "since"])
    }

    /// It has the others' newest acknowledgements, which say nothing of what is here, and no older ones any more.
    @Test func `a device that was started again in the middle reports it`() throws {
        let exchange = Exchange()
        var mesh = try mesh(exchange)
        exchange.isOn = false
        try putBack(&mesh)
        try mesh.say(0, "since")
        meet(&mesh)
        exchange.isOn = true
        mesh.disconnect(0)
        try mesh.putBack(0, mesh.image(of: 0))
        meet(&mesh)
        #expect(mesh.nodes[0].core.forkedReplicas.count == 1)
        #expect(try mesh.said(0) == ["before", "since"])
    }

    /// As `status` says.
    @Test func `the report ends once a device is connected that has dropped nothing`() throws {
        let exchange = Exchange()
        var mesh = try mesh(exchange)
        exchange.isOn = false
        try putBack(&mesh, keeping: [2])
        try mesh.say(0, "since")
        mesh.connect(0, 1)
        mesh.pass(seconds: 30)
        exchange.isOn = true
        mesh.disconnect(0)
        try mesh.putBack(0, mesh.image(of: 0))
        mesh.connect(0, 1)
        mesh.pass(seconds: 30)
        #expect(mesh.nodes[0].core.forkedReplicas.count == 1)
        meet(&mesh)
        try expectSettled(mesh)
        for node in 0..<3 { #expect(try mesh.said(node) == Self.kept + ["since"]) }
    }
}
