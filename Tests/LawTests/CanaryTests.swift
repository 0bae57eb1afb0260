import LawHistories
import Testing

/// A check must be able to fail: types with one thing wrong are found within the histories that every type gets, and what
/// is printed is short enough to understand.
@Suite struct CanaryTests {
    private static let canaries: [LawSubject] = [
        LawSubject("a set that forgets its context", Travel<ForgetfulSet>.json()),
        LawSubject("a counter that adds twice", Travel<DoubleCounter>.json()),
        LawSubject("a dictionary that drops an edit made apart below a removed key", Travel<DroppingDictionary>.json()),
        LawSubject("a move that duplicates", Travel<DuplicatingList>.json()),
        LawSubject("a register that lets an old stamp beat causality", Travel<StampedRegister>.json()),
    ]

    @Test(arguments: canaries) func `a type that does it wrong is found`(canary: LawSubject) throws {
        let failure = try #require(canary.search(from: 1, count: 10_000))
        #expect(failure.history.steps.count <= 6, "\(failure)")
        #expect(failure.history.replicas <= 3, "\(failure)")
        // What is printed is the history that fails.
        #expect(throws: Fault.self) { try canary.check(failure.history) }
        #expect(failure.description.contains(".check("))
        #expect(failure.description.contains("History("))
    }
}
