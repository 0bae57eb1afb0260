import LawHistories
import SyncModel
import Testing

/// What deletions that win list of the edits they dropped, on nodes that take states.
@Suite struct DroppedEditTests {
    @Test func `an edit that no deletion knew is listed with the one that met it`() throws {
        var world = ObjectWorld(nodes: 3)
        let birth = world.write(.edit(.birth, []), by: 0)
        world.syncAll()
        let met = world.write(.delete(.deleteWins), by: 0)
        let other = world.write(.delete(.deleteWins), by: 2)
        let life = Operation.LifeReference(to: birth, by: world.nodes[1].replica)
        world.write(.edit(life, [.update("a", .counter(.increment(by: 1)))]), by: 1)
        world.sync(1, to: 0)
        try world.join(0, to: 2)
        #expect(world.listed(at: 2, by: met) == [world.nodes[1].replica])
        #expect(world.listed(at: 2, by: other) == [])
        #expect(world.unlisted(at: 2) == [])
    }

    @Test func `an edit of a life that is here is listed with the deletion that comes as state`() throws {
        var world = ObjectWorld(nodes: 3)
        let birth = world.write(.edit(.birth, []), by: 0)
        world.syncAll()
        let deletion = world.write(.delete(.deleteWins), by: 0)
        let life = Operation.LifeReference(to: birth, by: world.nodes[1].replica)
        world.write(.edit(life, [.update("a", .counter(.increment(by: 1)))]), by: 1)
        // The one who takes the deletion knows of the edit from a state alone.
        try world.join(1, to: 2)
        try world.join(0, to: 2)
        #expect(world.listed(at: 2, by: deletion) == [world.nodes[1].replica])
    }

    /// Both made the object and deleted it again. What the other had deleted knowingly, its state does not say any more: nobody
    /// misses it, so that the operations list it is all the same.
    @Test func `an edit that a deletion knew is not listed with another where it came as state`() throws {
        var world = ObjectWorld(nodes: 2)
        let birth = world.write(.edit(.birth, []), by: 0)
        world.write(.delete(.deleteWins), by: 0)
        world.write(.edit(.birth, []), by: 1)
        let deletion = world.write(.delete(.deleteWins), by: 1)
        var heard = world
        heard.sync(0, to: 1)
        try world.join(0, to: 1)
        #expect(heard.listed(at: 1, by: deletion) == [world.nodes[0].replica])
        #expect(world.listed(at: 1, by: deletion) == [])
        let rules = world.rules(at: 1)
        let entry = try #require(rules.deletions.first { $0.entry.dot == deletion }).entry
        #expect(rules.dropped(by: entry).map(\.dot) == [birth])
        #expect(rules.droppedUnseen(by: entry).isEmpty)
    }

    @Test func `what deletions dropped unseen is listed, whether operations came or states`() throws {
        for seed in 0..<UInt64(1_500) {
            var random = SeededGenerator(seed: seed)
            var world = ObjectWorld.random(&random)
            for _ in 0..<8 {
                let (from, to) = (random.index(of: world.nodes), random.index(of: world.nodes))
                try world.join(from, to: to)
                world.extend(&random, steps: 6)
                for node in world.nodes.indices { #expect(world.unlisted(at: node) == [], "seed \(seed)") }
            }
        }
    }
}

extension ObjectWorld {
    /// Whose edits a deletion lists at a node.
    fileprivate func listed(at node: Int, by deletion: Dot) -> [ReplicaID]? {
        nodes[node].state.lives.deletions.first { $0.dot == deletion }?.edited.map(\.replica)
    }

    /// Edits that deletions dropped unseen, and none that dropped them lists one of their replica.
    fileprivate func unlisted(at node: Int) -> Set<Dot> {
        let rules = rules(at: node)
        var unseen: Set<Dot> = []
        var known: Set<Dot> = []
        for record in nodes[node].state.lives.deletions where record.policy == .deleteWins {
            guard let deletion = rules.deletions.first(where: { $0.entry.dot == record.dot })?.entry else { continue }
            let dots = rules.droppedUnseen(by: deletion).map(\.dot)
            unseen.formUnion(dots)
            known.formUnion(dots.filter { dot in record.edited.contains { $0.replica == dot.replica } })
        }
        return unseen.subtracting(known)
    }
}
