import SyncCore
import SyncModel
import SyncStore
import Testing

/// Whole histories of deletions that are collected, or must not be. Each breaks without the rule it is about.
@Suite struct CollectionHistoryTests {
    /// Everybody knows everybody, through node 0.
    private func paired(_ count: Int, faults: CoreFaults = [], readers: Set<Int> = []) throws -> Mesh {
        var mesh = try Mesh(count, faults: faults, readers: readers)
        for other in 1..<count { try mesh.pair(0, other) }
        return mesh
    }

    @Test func `a deletion goes once every member has acknowledged it`() throws {
        var mesh = try paired(3)
        try mesh.put(0, "milk")
        try mesh.delete(1)
        #expect(try (0..<3).map { try mesh.kept($0) } == [1, 1, 1])
        mesh.pass(seconds: 200)
        #expect(try (0..<3).map { try mesh.kept($0) } == [0, 0, 0])
        #expect(try (0..<3).map { try mesh.standing($0) } == [.nothing, .nothing, .nothing])
        #expect(try mesh.digests().count == 1)
        for node in mesh.nodes { #expect(try node.store.state().floor == node.core.stable) }
    }

    @Test func `nothing goes while one member is away, and everything once it is back`() throws {
        var mesh = try paired(3)
        for number in 0..<20 { try mesh.put(0, Mesh.key("\(number)"), "note") }
        mesh.pass(seconds: 200)
        mesh.disconnect(2)
        for number in 0..<20 { try mesh.delete(1, Mesh.key("\(number)")) }
        mesh.pass(seconds: 1_000)
        #expect(try mesh.kept(0) == 20)
        #expect(mesh.nodes[0].core.stabilityView.heldBackBy.map(\.name) == ["node2"])
        mesh.connect(0, 2)
        mesh.pass(seconds: 300)
        // More objects than one step takes.
        #expect(try (0..<3).map { try mesh.kept($0) } == [0, 0, 0])
        #expect(mesh.nodes[0].core.stabilityView.heldBackBy.isEmpty)
    }

    @Test func `a member that was away for a year raises nothing and loses none of its own`() throws {
        var mesh = try paired(3)
        for number in 0..<4 { try mesh.put(0, Mesh.key("old \(number)"), "note") }
        mesh.pass(seconds: 200)
        mesh.disconnect(2)
        for number in 0..<4 { try mesh.delete(0, Mesh.key("old \(number)")) }
        mesh.pass(seconds: 1_000)
        try mesh.put(2, Mesh.key("old 1"), "edited in vain")
        for number in 0..<3 { try mesh.put(2, Mesh.key("own \(number)"), "mine") }
        mesh.connect(1, 2)
        mesh.pass(seconds: 300)
        for node in 0..<3 {
            #expect(try mesh.nodes[node].store.state().counts.objects == 3)
            #expect(try mesh.kept(node) == 0)
            for number in 0..<4 { #expect(try mesh.standing(node, Mesh.key("old \(number)")) == .nothing) }
            // What was edited in vain is still there to be looked at, until somebody dismisses it.
            let conflicted = try mesh.nodes[node].store.objects(
                ObjectQuery(space: .home, collection: nil, selection: .conflicted, after: nil, limit: 10))
            #expect(conflicted.map(\.key) == [Mesh.key("old 1")])
            #expect(conflicted.first?.droppedEdits.map(\.count) == [1])
        }
        #expect(try mesh.digests().count == 1)
        try mesh.append(1, .planned([.resolve(Mesh.key("old 1"), .dismiss)]))
        #expect(try mesh.nodes[1].store.object(Mesh.key("old 1"), space: .home)?.summary.hasConflict == false)
    }

    @Test func `an edit that did not know the deletion finds it, however late it comes`() throws {
        var mesh = try paired(3)
        try mesh.setPolicy(0, "updateWins")
        try mesh.put(0, "milk")
        mesh.disconnect(2)
        try mesh.delete(0)
        mesh.pass(seconds: 1_000)
        try mesh.put(2, "oat milk")
        mesh.connect(1, 2)
        mesh.pass(seconds: 300)
        #expect(try (0..<3).map { try mesh.standing($0) } == [.live, .live, .live])
        #expect(try mesh.digests().count == 1)
        // Its deletion is forgotten all the same.
        #expect(try mesh.nodes[0].store.object(Mesh.note, space: .home)?.deletion == nil)
    }

    @Test func `collection before stability loses that edit, and this history shows it`() throws {
        var mesh = try paired(3, faults: .collectBeforeStability)
        try mesh.setPolicy(0, "updateWins")
        try mesh.put(0, "milk")
        mesh.disconnect(2)
        try mesh.delete(0)
        mesh.pass(seconds: 10)
        #expect(try mesh.kept(0) == 0)
        try mesh.put(2, "oat milk")
        mesh.connect(1, 2)
        mesh.pass(seconds: 300)
        #expect(try mesh.standing(0) == .nothing)
        #expect(try mesh.nodes[0].store.state().counts.lateOperations == 1)
    }

    @Test func `acknowledgements reach members that never meet, over two hops`() throws {
        var mesh = try paired(3)
        mesh.disconnect(2)
        mesh.connect(1, 2)
        try mesh.put(0, "milk")
        try mesh.delete(2)
        mesh.pass(seconds: 300)
        #expect(try (0..<3).map { try mesh.kept($0) } == [0, 0, 0])
    }

    @Test func `a reader counts too`() throws {
        var mesh = try paired(3, readers: [2])
        try mesh.put(0, "milk")
        mesh.pass(seconds: 200)
        mesh.disconnect(2)
        try mesh.delete(1)
        mesh.pass(seconds: 300)
        #expect(try mesh.kept(0) == 1)
        mesh.connect(0, 2)
        mesh.pass(seconds: 300)
        #expect(try (0..<3).map { try mesh.kept($0) } == [0, 0, 0])
    }

    @Test func `changes of a reader are verified and passed on like all others`() throws {
        var mesh = try paired(3, readers: [2])
        mesh.pass(seconds: 30)
        // Its only change is the fact that answers its pairing; node 1 has it through node 0.
        let reader = mesh.nodes[2].fact.device
        let written = try #require(try mesh.nodes[2].store.state().tips.first { $0.replica.device == reader })
        for node in 0..<2 { #expect(try mesh.nodes[node].store.state().tips.contains(written), "node \(node)") }
        #expect(mesh.isConnected(0, 2), "a reader's change ends no session")
    }

    @Test func `what one mesh has collected does not kill what another began under the same id`() throws {
        var mesh = try Mesh(4)
        try mesh.pair(0, 1)
        try mesh.pair(2, 3)
        try mesh.put(0, "ours")
        try mesh.put(2, "theirs")
        try mesh.delete(1)
        mesh.pass(seconds: 300)
        #expect(try mesh.kept(0) == 0)
        try mesh.pair(1, 2)
        mesh.pass(seconds: 300)
        #expect(try (0..<4).map { try mesh.standing($0) } == [.live, .live, .live, .live])
        #expect(try mesh.digests().count == 1)
        // From now on all four have a say.
        mesh.disconnect(3)
        try mesh.delete(0)
        mesh.pass(seconds: 300)
        #expect(try mesh.kept(0) == 1)
        mesh.connect(3, 2)
        mesh.pass(seconds: 300)
        #expect(try (0..<4).map { try mesh.kept($0) } == [0, 0, 0, 0])
        #expect(try mesh.digests().count == 1)
    }

    @Test func `an object that asks is not collected before the decision is stable`() throws {
        var mesh = try paired(2)
        try mesh.setPolicy(0, "ask")
        try mesh.put(0, "milk")
        mesh.disconnect(1)
        try mesh.delete(0)
        try mesh.put(1, "oat milk")
        mesh.connect(0, 1)
        mesh.pass(seconds: 300)
        #expect(try (0..<2).map { try mesh.standing($0) } == [.undecided, .undecided])
        try mesh.append(1, .planned([.resolve(Mesh.note, .keep)]))
        #expect(try mesh.nodes[0].store.object(Mesh.note, space: .home)?.deletion != nil)
        mesh.pass(seconds: 300)
        #expect(try (0..<2).map { try mesh.standing($0) } == [.live, .live])
        for node in mesh.nodes { #expect(try node.store.object(Mesh.note, space: .home)?.deletion == nil) }
        #expect(try mesh.digests().count == 1)
    }

    @Test func `what was stable is stable again after a start`() throws {
        var mesh = try paired(3)
        try mesh.put(0, "milk")
        mesh.pass(seconds: 200)
        let stable = mesh.nodes[0].core.stable
        #expect(!stable.isEmpty)
        try mesh.restart(0)
        mesh.connect(0, 1)
        mesh.connect(0, 2)
        #expect(mesh.nodes[0].core.stable.covers(stable))
        try mesh.delete(0)
        mesh.pass(seconds: 300)
        #expect(try (0..<3).map { try mesh.kept($0) } == [0, 0, 0])
    }

    @Test func `a space at rest exchanges no acknowledgements, and a busy one sends each member's once a minute`()
        throws
    {
        var mesh = try paired(3)
        try mesh.put(0, "milk")
        mesh.pass(seconds: 300)
        let atRest = mesh.nodes.map(\.rowsSent)
        mesh.pass(seconds: 3_600)
        #expect(mesh.nodes.map(\.rowsSent) == atRest)
        for number in 0..<300 {
            try mesh.put(number % 3, "\(number)")
            mesh.pass(seconds: 1)
        }
        mesh.pass(seconds: 120)
        // Node 0 has two links; on each, three members' rows, once a minute for seven minutes.
        let sent = zip(mesh.nodes, atRest).map { $0.rowsSent - $1 }
        #expect(sent.allSatisfy { $0 <= 2 * 3 * 8 })
        #expect(mesh.nodes[0].rowBytesSent / mesh.nodes[0].rowsSent < 600)
        #expect(mesh.nodes[0].core.stabilityView.heldBackBy.isEmpty)
    }
}
