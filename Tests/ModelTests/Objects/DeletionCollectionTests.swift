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
