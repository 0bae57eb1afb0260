import LawHistories
import SyncModel
import Testing

/// Histories that would have raised a dead life under simpler rules. Each is here because it broke one.
@Suite struct ResurrectionTests {
    @Test func `a new life that survives its own deletion does not raise the old one`() {
        // Broke: "a deletion is superseded by a later one that knows it, and the later one alone judges".
        var history = ObjectHistory.among(2)
        history.write(.birth, by: 0)
        history.write(.delete(.updateWins), by: 0)
        let second = history.write(.birth, by: 0)
        history.sync(0, to: 1)
        history.write(.delete(.updateWins), by: 0)
        history.write(.edit(second), by: 1)
        #expect(history.lives.judgement == .live([second]))
    }

    @Test func `an edit that came too late for the old life does not save the new one`() {
        // Broke: "an operation on any life that the deletion ends". One node may have collected the old life, another
        // not: they would disagree about the new one.
        var history = ObjectHistory.among(3)
        let first = history.write(.birth, by: 0, at: 1)
        history.syncAll()
        history.write(.edit(first), by: 1, at: 5)
        history.write(.delete(.lastWriterWins), by: 0, at: 10)
        history.write(.birth, by: 0, at: 11)
        history.write(.delete(.updateWins), by: 0, at: 12)
        #expect(history.lives.judgement == .deleted)
    }

    @Test func `keeping cancels only what was asked, not a deletion that had decided`() {
        // Broke: "keep cancels the deletions in its context".
        var history = ObjectHistory.among(3)
        let life = history.write(.birth, by: 0, at: 1)
        history.syncAll()
        history.write(.edit(life), by: 1, at: 2)
        history.write(.delete(.lastWriterWins), by: 0, at: 10)
        history.syncAll()
        #expect(history.lives.judgement == .deleted)
        history.write(.keep, by: 2, at: 20)
        #expect(history.lives.judgement == .deleted)
    }

    @Test func `a deletion that was survived does not forget what it ended before`() {
        var history = ObjectHistory.among(3)
        let first = history.write(.birth, by: 0)
        history.syncAll()
        history.write(.delete(.updateWins), by: 0)
        history.write(.edit(first), by: 1)
        history.syncAll()
        #expect(history.lives.judgement == .live([first]))
        history.write(.delete(.updateWins), by: 2)
        history.syncAll()
        #expect(history.lives.judgement == .deleted)
        history.write(.edit(first), by: 1)
        #expect(history.lives.judgement == .deleted)
    }

    @Test func `edits dropped by deleteWins do not speak for a life it does not end`() {
        // Node 2's device joined after the deletion: its life is not ended by it, but by a later one.
        var history = ObjectHistory(nodes: 3)
        for node in 0..<2 { history.write(.member(history.replicas[node].device), by: 1 - node) }
        history.sync(0, to: 1)
        history.sync(1, to: 0)
        let first = history.write(.birth, by: 0, at: 1)
        history.sync(0, to: 1)
        history.write(.edit(first), by: 1, at: 3)
        history.write(.delete(.deleteWins), by: 0, at: 2)
        history.write(.birth, by: 2, at: 1)
        history.write(.member(history.replicas[2].device), by: 0)
        history.write(.member(history.replicas[0].device), by: 2)
        history.sync(2, to: 0)
        history.write(.delete(.updateWins), by: 0, at: 4)
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20 { #expect(history.lives(using: &random).judgement == .deleted) }
    }
}
