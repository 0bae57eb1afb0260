import EndsModel
import Testing

/// The quick form of `ends-model histories`.
@Suite struct HistorySearchTests {
    @Test func `random histories of up to 12 devices break in known ways only`() {
        let found = Histories.search(from: 1, count: 400, rules: .standing)
        #expect(found.isKnown, "\(found)")
        // The search reaches what it is about.
        for trait in found.seen { #expect(trait.count > 4, "\(trait.name)") }
    }

    @Test func `few moves in every order break in known ways only`() {
        for set in Histories.EveryOrder.all {
            let reach = set.search(limit: 300)
            #expect(reach.found.isKnown, "\(set.name): \(reach.found)")
            #expect(reach.states > 200, "\(set.name)")
        }
    }

    @Test(arguments: Histories.PlantedBug.allCases)
    func `a check finds the planted bug`(bug: Histories.PlantedBug) {
        #expect(Histories.find(bug, count: 1_200) != nil, "not found: ends-model histories plants")
    }

    @Test func `a history is shrunk to the moves that matter`() throws {
        let rules = Histories.Rules(bug: .hidesTail)
        let seed = try #require(Histories.find(.hidesTail, count: 100)).seed
        let history = Histories.run(seed: seed, rules: rules).history
        let least = history.shrunk { $0.run(rules).isBroken }
        #expect(least.run(rules).isBroken)
        #expect(least.moves.count < 12, "\(least)")
    }
}
