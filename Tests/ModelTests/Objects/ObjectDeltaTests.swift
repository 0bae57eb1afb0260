import SyncModel
import Testing

/// What an object's state says to a node that lacks some of it.
@Suite struct ObjectDeltaTests {
    private let key = ObjectKey(collection: "note", id: "1")

    /// The same operations reach one copy of each node one by one and the other by way of states.
    @Test func `joining states comes to the same as applying the operations`() throws {
        for seed in 0..<UInt64(2_000) {
            var random = SeededGenerator(seed: seed)
            var world = ObjectWorld.random(&random)
            for _ in 0..<8 {
                let (from, to) = (random.index(of: world.nodes), random.index(of: world.nodes))
                var joined = world.nodes[to]
                try joined.join(world.nodes[from])
                world.sync(from, to: to)
                let node = world.nodes[to]
                #expect(joined.held == node.held, "seed \(seed)")
                #expect(joined.state.isLike(node.state), "seed \(seed): \(joined.state.difference(from: node.state))")
                #expect(joined.state.digestTerm(of: key) == node.state.digestTerm(of: key), "seed \(seed)")
                world.nodes[to].state = joined.state
                world.extend(&random, steps: 6)
            }
            world.syncAll()
            let state = world.nodes[0].state
            for node in world.nodes { #expect(node.state.isLike(state), "seed \(seed)") }
            #expect(world.replayed(&random).isLike(state), "seed \(seed)")
        }
    }

    @Test func `a delta for an older state of the receiver joins the same, once or twice`() throws {
        for seed in 0..<UInt64(1_000) {
            var random = SeededGenerator(seed: seed)
            var world = ObjectWorld.random(&random)
            let start = world.nodes[1].held
            world.extend(&random, steps: 10)
            var node = world.nodes[1]
            let delta = world.nodes[0].state.delta(since: start)
            let read = try ObjectDelta(canonicalBytes: delta.canonicalBytes)
            let isSame = read == delta
            #expect(isSame, "seed \(seed)")
            node.state.join(delta, held: node.held, theirs: world.nodes[0].held) { [] }
            var again = node.state
            var held = node.held
            held.join(world.nodes[0].held)
            again.join(delta, held: held, theirs: world.nodes[0].held) { [] }
            #expect(again.isLike(node.state), "seed \(seed)")
            world.sync(0, to: 1)
            #expect(node.state.isLike(world.nodes[1].state), "seed \(seed)")
        }
    }

    @Test func `every delta that is cut short is refused`() throws {
        for seed in 0..<UInt64(60) {
            var random = SeededGenerator(seed: seed)
            let world = ObjectWorld.random(&random)
            let bytes = world.nodes[0].state.delta(since: world.nodes[1].held).canonicalBytes
            for count in 0..<bytes.count {
                #expect(throws: CodecError.self, "seed \(seed), \(count)") {
                    try ObjectDelta(canonicalBytes: Array(bytes[..<count]))
                }
            }
        }
    }

    @Test func `a delta that somebody has changed is refused, or joined without a trap`() throws {
        var taken = 0
        for seed in 0..<UInt64(150) {
            var random = SeededGenerator(seed: seed)
            var world = ObjectWorld.random(&random)
            world.extend(&random, steps: 30)
            let honest = world.nodes[0].state.delta(since: VersionVector()).canonicalBytes
            for _ in 0..<200 {
                var bytes = honest
                for _ in 0...Int.random(in: 0..<3, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8(
                        1 << Int.random(in: 0..<8, using: &random))
                }
                guard let delta = try? ObjectDelta(canonicalBytes: bytes) else { continue }
                taken += 1
                var node = world.nodes[1]
                node.state.join(delta, held: node.held, theirs: delta.lives.touched) { [] }
                _ = (node.state.digestTerm(of: key), node.state.canonicalBytes, node.state.mergedFields)
                _ = ObjectReading(node.state, schema: nil) { _ in true }.json.canonicalBytes
                _ = node.state.collect { _ in true }
            }
        }
        #expect(taken > 1_000)
    }

    @Test func `a node that has forgotten deletions and one that has not take each other's state`() throws {
        for seed in 0..<UInt64(1_000) {
            var random = SeededGenerator(seed: seed)
            var world = ObjectWorld.random(&random)
            world.syncAll()
            // All hold everything, so everything is stable; only node 0 has noticed.
            _ = world.nodes[0].state.collect { _ in true }
            world.extend(&random, steps: 12)
            var (forgot, kept) = (world.nodes[0], world.nodes[1])
            try forgot.join(world.nodes[1])
            try kept.join(world.nodes[0])
            world.sync(0, to: 1)
            world.sync(1, to: 0)
            let expected = world.nodes[1].state.digestTerm(of: key)
            #expect(world.nodes[0].state.digestTerm(of: key) == expected, "seed \(seed)")
            #expect(forgot.state.digestTerm(of: key) == expected, "seed \(seed)")
            #expect(kept.state.digestTerm(of: key) == expected, "seed \(seed)")
        }
    }
}

extension SeededGenerator {
    mutating func index(of nodes: [ObjectWorld.Node]) -> Int {
        Int.random(in: 0..<nodes.count, using: &self)
    }
}

extension ObjectState {
    /// But for how many edits deletions dropped, which a state that was joined says only at least.
    func isLike(_ other: ObjectState) -> Bool { difference(from: other).isEmpty }

    /// Which parts differ: a state with a text in it is too much to print.
    func difference(from other: ObjectState) -> [String] {
        func uncounted(_ record: DeletionRecord) -> DeletionRecord {
            var record = record
            record.edited = []
            return record
        }
        var parts: [String] = []
        if lives.lives != other.lives.lives { parts.append("lives \(lives.lives) \(other.lives.lives)") }
        let (mine, theirs) = (lives.deletions.map(uncounted), other.lives.deletions.map(uncounted))
        if mine != theirs { parts.append("deletions \(mine) \(theirs)") }
        if lives.touched != other.lives.touched { parts.append("touched") }
        for life in lives.lives {
            if fields(of: life.birth) != other.fields(of: life.birth) { parts.append("fields of \(life.birth)") }
            if attachments(of: life.birth) != other.attachments(of: life.birth) { parts.append("attachments") }
        }
        return parts
    }
}
