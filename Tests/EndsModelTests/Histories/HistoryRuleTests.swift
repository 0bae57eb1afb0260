import EndsModel
import Testing

/// The rules of Decision 37 that the first draft lacked, and the kinds of histories that break what stands.
@Suite struct HistoryRuleTests {
    private func checks(_ history: Histories.History, _ rules: Histories.Rules = .standing) -> [String] {
        history.run(rules).breaks.map(\.check.rawValue)
    }

    private func expectNeeded(_ rule: Histories.Rule, _ broken: Histories.Break.Check) throws {
        let history = try #require(Histories.needs[rule])
        #expect(checks(history).isEmpty)
        #expect(checks(history, .init(without: [rule])).contains(broken.rawValue))
    }

    @Test func `acknowledgements name heads: by counters two branches would both be protected`() throws {
        try expectNeeded(.headsInAcknowledgements, .heldDiffers)
    }

    @Test func `a release counts though its author was let go since`() throws {
        try expectNeeded(.releasesOfTheGone, .boundLoses)
    }

    @Test func `of one work one writing counts`() throws {
        try expectNeeded(.oneWriting, .workTwice)
    }

    @Test func `own work that hangs from a branch that goes is written again`() throws {
        try expectNeeded(.hangingWorkAgain, .workLost)
    }

    @Test func `a state is taken whole only from a node that has all of ours`() throws {
        try expectNeeded(.wholeFromCovering, .notOnOwnScreen)
    }

    @Test func `a node that forgot that it is bound acts as a device that returns`() throws {
        try expectNeeded(.forgottenBounds, .boundLoses)
    }

    @Test func `devices that only those let go had admitted are not waited for`() throws {
        try expectNeeded(.guestsGoToo, .boundLoses)
    }

    @Test func `a member with changes beyond the ends releases`() throws {
        try expectNeeded(.boundChecks, .boundLoses)
    }

    @Test func `a bound member may let go those that keep it waiting`() throws {
        try expectNeeded(.boundPromises, .neverLetGo)
    }

    @Test func `a device that came back counts in a majority once those to let go know that it did`() throws {
        try expectNeeded(.returnsAreNewcomers, .twoHalves)
    }

    @Test func `each rule has a history`() {
        #expect(Set(Histories.needs.keys) == Set(Histories.Rule.allCases))
    }

    // MARK: Known breaks. If one of these fails, the rules got better: say so in Decision 37.

    private func expectKnown(_ kind: Histories.Break.Kind, _ broken: Histories.Break.Check) throws {
        let breaks = try #require(Histories.known[kind]).run().breaks
        #expect(breaks.contains { $0.check == broken && $0.kind == kind }, "\(breaks)")
    }

    @Test func `known: by a release that a disk forgot, what a bound member holds becomes void`() throws {
        try expectKnown(.releaseForgotten, .boundLoses)
    }

    @Test func `known: an incomplete node with the only copy as state finds no state, for good`() throws {
        try expectKnown(.onlyCopyIsState, .staysIncomplete)
    }

    @Test func `known: with proofs on two branches what all acknowledged is undone`() throws {
        try expectKnown(.proofsOnTwoBranches, .acknowledgedUndone)
    }

    @Test func `known: a device comes back, and the dead one that is waited for never acknowledges that`() throws {
        try expectKnown(.returnWithoutMajority, .workLost)
    }

    @Test func `known: a deletion ends what its author had not seen, on another branch`() throws {
        try expectKnown(.contextOfOtherBranch, .deletedUnseen)
    }
}
