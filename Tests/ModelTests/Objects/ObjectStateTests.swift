import SyncModel
import Testing

@Suite struct ObjectStateTests {
    private let key = ObjectKey(collection: "note", id: "1")

    @Test func `any causal order gives the same state, digest and bytes, also through bytes in between`() throws {
        for seed in 0..<UInt64(1_500) {
            var random = SeededGenerator(seed: seed)
            var world = ObjectWorld.random(&random)
            world.syncAll()
            let expected = world.nodes[0].state
            let states = world.nodes.map(\.state) + [world.replayed(&random), world.replayed(&random)]
            for state in states {
                #expect(state == expected, "seed \(seed)")
                #expect(state.digestTerm(of: key) == expected.digestTerm(of: key), "seed \(seed)")
                #expect(state.canonicalBytes == expected.canonicalBytes, "seed \(seed)")
            }
            #expect(try ObjectState(canonicalBytes: expected.canonicalBytes) == expected, "seed \(seed)")
        }
    }

    @Test func `what is not live has no digest, and forgetting stable deletions changes none`() {
        for seed in 0..<UInt64(1_500) {
            var random = SeededGenerator(seed: seed)
            var world = ObjectWorld.random(&random)
            world.syncAll()
            var state = world.nodes[0].state
            switch state.judgement {
            case .absent, .deleted: #expect(state.digestTerm(of: key) == nil)
            case .live, .undecided: #expect(state.digestTerm(of: key) != nil)
            }
            let (term, fields) = (state.digestTerm(of: key), state.mergedFields)
            let isUndecided = state.judgement == .undecided
            let hadDeletions = !state.lives.deletions.isEmpty
            #expect(state.collect { _ in true } == (hadDeletions && !isUndecided), "seed \(seed)")
            #expect(state.digestTerm(of: key) == term, "seed \(seed)")
            #expect(state.mergedFields == fields, "seed \(seed)")
        }
    }

    @Test func `a node that has forgotten deletions shows what the others show, whatever is written afterwards`() {
        for seed in 0..<UInt64(1_500) {
            var random = SeededGenerator(seed: seed)
            var world = ObjectWorld.random(&random)
            world.syncAll()
            // All hold everything, so everything is stable; only node 0 has noticed.
            _ = world.nodes[0].state.collect { _ in true }
            world.extend(&random, steps: 20)
            world.syncAll()
            let terms = Set(world.nodes.map { $0.state.digestTerm(of: key) })
            #expect(terms.count == 1, "seed \(seed)")
        }
    }

    @Test func `lives born apart are shown as one`() throws {
        var world = ObjectWorld(nodes: 2)
        let mine: [ObjectFields.Operation] = [
            .update("title", .register(.set("mine"))), .update("plays", .counter(.increment(by: 2))),
            .update("tags", .set(.add("a"))), .update("body", try #require(text("first ", by: world.nodes[0]))),
            .update("made", .constant(.set(1))), .update("steps", try #require(list([1, 2], by: world.nodes[0]))),
            .update("more", .dictionary(.update("x", .counter(.increment(by: 1))))),
        ]
        let theirs: [ObjectFields.Operation] = [
            .update("title", .register(.set("theirs"))), .update("plays", .counter(.increment(by: 3))),
            .update("tags", .set(.add("b"))), .update("body", try #require(text("second", by: world.nodes[1]))),
            .update("made", .constant(.set(2))), .update("steps", try #require(list([3], by: world.nodes[1]))),
            .update("more", .dictionary(.update("x", .counter(.increment(by: 5))))),
        ]
        world.write(.edit(.birth, mine), by: 0, at: 10)
        world.write(.edit(.birth, theirs), by: 1, at: 20)
        world.syncAll()
        let reading = ObjectReading(world.nodes[0].state, schema: nil) { _ in true }
        let expected = """
            {"body":"first second","made":1,"more":{"x":6},"plays":5,"steps":[1,2,3],"tags":["a","b"],"title":"theirs"}
            """
        #expect(reading.json.text == expected)
        #expect(reading.conflicts.map(\.path) == ["made", "title"])
        #expect(reading.conflicts.map(\.values) == [[1, 2], ["theirs", "mine"]])
    }

    @Test func `one replica that counted in two lives counts twice`() {
        // Node 1 makes a second life when it sees the first deleted; node 0's concurrent edit keeps that.
        var world = ObjectWorld(nodes: 2)
        let plays: [ObjectFields.Operation] = [.update("plays", .counter(.increment(by: 1)))]
        let first = world.write(.edit(.birth, plays), by: 1)
        world.syncAll()
        world.write(.delete(.updateWins), by: 1)
        world.write(.edit(.birth, plays), by: 1)
        world.write(.edit(.other(first), [.update("title", .register(.set("kept")))]), by: 0)
        world.syncAll()
        let reading = ObjectReading(world.nodes[0].state, schema: nil) { _ in true }
        #expect(reading.json.text == #"{"plays":2,"title":"kept"}"#)
    }

    private func text(_ text: String, by node: ObjectWorld.Node) -> ReplicatedValue.Operation? {
        ReplicatedText().operation(inserting: text, at: 0, by: node.replica).map { .text($0) }
    }

    private func list(_ values: [JSONValue], by node: ObjectWorld.Node) -> ReplicatedValue.Operation? {
        ReplicatedList<ReplicatedValue>().operation(
            inserting: values.map { .register(.set($0)) }, at: 0, by: node.replica
        ).map { .list($0) }
    }

    @Test func `bytes changed anywhere never trap, and what is read is written the same`() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<400 {
            let world = ObjectWorld.random(&random)
            let whole = world.nodes[0].state.canonicalBytes
            for _ in 0..<40 {
                var bytes = whole
                for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                    case 1: bytes.remove(at: index)
                    default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
                    }
                }
                guard let state = try? ObjectState(canonicalBytes: bytes) else { continue }
                #expect(state.canonicalBytes == bytes)
                _ = (state.judgement, state.mergedFields, state.digestTerm(of: key))
            }
        }
    }
}
