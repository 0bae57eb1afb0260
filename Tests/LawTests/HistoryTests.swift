import Foundation
import LawHistories
import Testing

/// The laws of replicated types over random histories: at least 10,000 for each type.
///
/// More, or others: `LANYARD_LAW_HISTORIES=200000 LANYARD_LAW_SEED=1000000 deploy/test --only unit --filter HistoryTests`.
@Suite struct HistoryTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let first = environment["LANYARD_LAW_SEED"].flatMap { UInt64($0) } ?? 1
    private static let histories = environment["LANYARD_LAW_HISTORIES"].flatMap { Int($0) }

    @Test(arguments: LawSubject.all) func `replicas that hold the same writes show the same`(subject: LawSubject) {
        let failure = subject.search(from: Self.first, count: Self.histories ?? subject.histories)
        #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
    }

    @Test func `every type gets ten thousand histories`() {
        var counts: [String: Int] = [:]
        for subject in LawSubject.all { counts[subject.type, default: 0] += subject.histories }
        for type in [
            "register", "constant", "counter", "set", "addOnlySet", "list", "orderedSet", "text", "dictionary", "value",
        ] { #expect(counts[type, default: 0] >= 10_000, "\(type)") }
    }

    @Test(arguments: LawSubject.all) func `a seed is one history for ever`(subject: LawSubject) throws {
        let history = subject.history(seed: 7)
        #expect(history.description == subject.history(seed: 7).description)
        #expect(history.description != subject.history(seed: 8).description)
        #expect(try subject.digest(from: 7, count: 3) == subject.digest(from: 7, count: 3))
    }
}
