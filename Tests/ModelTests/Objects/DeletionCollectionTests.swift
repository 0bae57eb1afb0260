import LawHistories
import SyncModel
import Testing

/// When deletions and what they ended may be forgotten.
@Suite struct DeletionCollectionTests {
    @Test func `nothing goes while one deletion of the object is not stable`() {
        var history = ObjectHistory.among(3)
        let life = history.write(.birth, by: 0, at: 1)
        history.syncAll()
        let first = history.write(.delete(.updateWins), by: 0, at: 10)
        let second = history.write(.delete(.lastWriterWins), by: 1, at: 10)
        history.write(.edit(life), by: 2, at: 20)
        history.syncAll()
        var lives = history.lives
        #expect(!lives.collect { $0 == first })
        #expect(!lives.collect { $0 == second })
        #expect(lives == history.lives)
        #expect(lives.collect { $0 == first || $0 == second })
        #expect(lives.judgement == .live([life]))
        #expect(lives.deletions.isEmpty)
    }

    @Test func `a deletion that asks stays until the decision is stable`() {
        var history = ObjectHistory.among(3)
        let life = history.write(.birth, by: 0)
        history.syncAll()
        let deletion = history.write(.delete(.ask), by: 0)
        history.write(.edit(life), by: 1)
        history.syncAll()
        var lives = history.lives
        #expect(!lives.collect { _ in true })
        let keep = history.write(.keep, by: 2)
        lives = history.lives
        #expect(!lives.collect { $0 == deletion })
        #expect(lives.collect { $0 == deletion || $0 == keep })
        #expect(lives.judgement == .live([life]))
    }

    @Test func `what was ended goes with its deletion, and its late edits are known as late`() {
        var history = ObjectHistory.among(2)
        let life = history.write(.birth, by: 0)
        history.sync(0, to: 1)
        history.write(.delete(.updateWins), by: 0)
        history.sync(0, to: 1)
        var player = ObjectPlayer()
        for entry in history.entries { player.apply(entry) }
        player.collect()
        #expect(player.lives.isEmpty)
        #expect(player.lives.judgement == .absent)
        history.write(.edit(life), by: 1)
        player.apply(history.entries[history.entries.count - 1])
        #expect(player.lives.isEmpty)
        #expect(player.admissions.values.contains(.unknownLife))
    }

    /// What let the author in is a fact of its own mesh, which says nothing of what the work's mesh has deleted and forgotten.
    @Test func `an edit out of another mesh, by one who has not yet caught up, means the same everywhere`() {
        var history = ObjectHistory(nodes: 4)
        for (one, other) in [(0, 1), (1, 0), (2, 3), (3, 2)] {
            history.write(.member(history.replicas[other].device), by: one)
        }
        history.sync(1, to: 0)
        history.sync(3, to: 2)
        let life = history.write(.birth, by: 0)
        history.sync(0, to: 1)
        history.write(.delete(.updateWins), by: 1)
        history.sync(1, to: 0)
        var collected = ObjectPlayer()
        for entry in history.entries { collected.apply(entry) }
        collected.collect()
        // The meshes meet; of the first the second has so far heard no more than the birth.
        history.write(.member(history.replicas[2].device), by: 0)
        history.write(.member(history.replicas[0].device), by: 2)
        history.held(life, by: 2)
        history.write(.edit(life), by: 2)
        for entry in history.entries.suffix(3) { collected.apply(entry) }
        #expect(collected.lives.judgement == .absent)
        #expect(history.lives.judgement == .deleted)
    }

    @Test func `a deletion by one who has not yet caught up means the same where its rivals were forgotten`() {
        var history = ObjectHistory(nodes: 3)
        for (one, other) in [(0, 1), (1, 0)] { history.write(.member(history.replicas[other].device), by: one) }
        history.sync(1, to: 0)
        let life = history.write(.birth, by: 0)
        history.write(.edit(life), by: 0)
        history.write(.delete(.updateWins), by: 0)
        history.sync(0, to: 1)
        var collected = ObjectPlayer()
        for entry in history.entries { collected.apply(entry) }
        collected.collect()
        // Node 2 has let node 0 in, and has heard nothing of it yet: its deletion is about its own life.
        let start = history.entries.count
        history.write(.birth, by: 2)
        history.write(.member(history.replicas[2].device), by: 0)
        history.write(.member(history.replicas[0].device), by: 2)
        history.write(.delete(.updateWins), by: 2)
        for entry in history.entries[start...] { collected.apply(entry) }
        #expect(collected.lives.judgement == .deleted)
        #expect(history.lives.judgement == .deleted)
    }

    @Test func `an object deleted and begun anew time and again, while a member is away, grows in proportion`() {
        func bytes(afterTimes count: Int) -> Int {
            var world = ObjectWorld(nodes: 3)
            for _ in 0..<count {
                world.write(.edit(.birth, []), by: 0)
                world.sync(0, to: 1)
                world.write(.delete(.updateWins), by: 1)
                world.sync(1, to: 0)
            }
            #expect(world.nodes[1].state.judgement == .deleted)
            return world.nodes[1].state.canonicalBytes.count
        }
        #expect(bytes(afterTimes: 200) < bytes(afterTimes: 100) * 5 / 2)
    }
}
