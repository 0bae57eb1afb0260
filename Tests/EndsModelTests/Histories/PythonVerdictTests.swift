import EndsModel
import FoundationEssentials
import Testing

/// Holds what the model judges of retirements against a Python model that shares no code with it.
///
/// `Fixtures/record-retirement.py` recorded the verdicts. Compared are on each set of facts: the retirements that are
/// final, the proposals that a release made dead, the ends that each names, the void changes, and the devices let go.
/// The rule `guestsGoToo` is off, since the Python model lacks it. The Python model has `releasesOfTheGone`. The other
/// added rules decide what a node does or holds, and not what a set of facts says. There are no forks, no floor proofs
/// and no restored disks.
///
/// A Python node keeps what it found final, though a newcomer is admitted or a device that came back releases later.
/// Here a verdict is of the facts alone. No walk of the fixture shows that; walks 607, 819 and 1113 would.
@Suite struct PythonVerdictTests {
    private static let rules = Histories.Rules(without: [.guestsGoToo])

    private let records: [Histories.VerdictRecord]

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/retirement.jsonl")
        records = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            try #require(Histories.VerdictRecord(line: $0), "\($0)")
        }
    }

    /// How many sets are judged otherwise by `rules`.
    private func differing(_ rules: Histories.Rules) -> Int {
        records.reduce(0) { $0 + $1.differences(rules).filter { !$0.isEmpty }.count }
    }

    @Test func `an independent model judges every retirement alike, five of them one look later`() {
        #expect(records.map(\.number) == Array(0..<200) + Array(1_000..<1_040))
        var early: [Int] = []
        for record in records {
            for (recorded, differences) in zip(record.verdicts, record.differences(Self.rules)) {
                guard !differences.isEmpty else { continue }
                if isEarly(recorded, in: record) {
                    early.append(record.number)
                } else {
                    Issue.record("walk \(record.number), \(Histories.names(recorded.nodes)): \(differences)")
                }
            }
        }
        // A Python node looks at each proposal once, in order of age, whenever it learns something. If an older one
        // waits for a device that a younger one lets go, it is found final only when the node looks again.
        #expect(early == [1, 46, 74, 96, 186])
    }

    /// True if the same nodes, with the same facts, found more final when they looked again, and that agrees.
    private func isEarly(_ recorded: Histories.VerdictRecord.Recorded, in record: Histories.VerdictRecord) -> Bool {
        zip(record.verdicts, record.differences(Self.rules)).contains { again, differences in
            again.facts == recorded.facts && recorded.nodes.isSubset(of: again.nodes) && differences.isEmpty
                && recorded.final.isSubset(of: again.final) && again.dead == recorded.dead
                && again.named == recorded.named && again.gone == recorded.gone
        }
    }

    @Test func `the recorded verdicts decide something`() {
        let verdicts = records.flatMap(\.verdicts)
        #expect(verdicts.count > 2_800)
        #expect(verdicts.filter { !$0.final.isEmpty }.count > 250)
        #expect(verdicts.filter { !$0.dead.isEmpty }.count > 1_000)
        #expect(verdicts.filter { !$0.void.isEmpty }.count > 150)
        #expect(verdicts.filter { !$0.gone.isEmpty }.count > 200)
    }

    @Test func `a planted bug or a missing rule is seen`() {
        #expect(differing(.init(without: [.guestsGoToo], bug: .ignoresReleases)) > 1_000)
        #expect(differing(.init(without: [.guestsGoToo], bug: .voidBeforeBound)) > 1_000)
        #expect(differing(.init(without: [.guestsGoToo, .releasesOfTheGone])) > 10)
    }

    /// A proposes B, promises, writes two retirements and is bound. B has a replica of 3 changes. The ends are 1 and 2.
    private func line(knows: [Int], _ verdict: String) -> String {
        let facts = "[1,0,0,[],[1]],[2,0,0,[0]],[3,0,0,[1],[0,1]],[3,0,0,\(knows),[0,2]],[4,0,0,[2,3]]"
        return "[0,2,[[1,3,[]]],[\(facts)],[\(verdict)]]"
    }

    @Test(arguments: [
        ("[[0],[4],[0],[],[[0,[0,2]]],[0,2],[1]]", [] as [String]),
        ("[[0],[4],[],[],[[0,[0,2]]],[0,2],[1]]", ["final: [0], recorded []"]),
        ("[[0],[4],[0],[0],[[0,[0,2]]],[0,2],[1]]", ["dead: [], recorded [0]"]),
        ("[[0],[4],[0],[],[[0,[0,1]]],[0,2],[1]]", ["ends of P0: [0, 1], recorded [0]"]),
        ("[[0],[4],[0],[],[[0,[0,2]]],[],[1]]", ["void: [2], recorded []"]),
        ("[[0],[4],[0],[],[[0,[0,2]]],[0,2],[]]", ["let go: [1], recorded []"]),
    ])
    func `a wrong verdict in a record is seen`(verdict: String, differences: [String]) throws {
        let record = try #require(Histories.VerdictRecord(line: line(knows: [1], verdict)))
        #expect(record.differences(.standing) == [differences])
    }

    @Test func `an end that knows another does not raise it, and a broken line is no record`() throws {
        let verdict = "[[0],[4],[0],[],[[0,[0,1]]],[0,1],[1]]"
        let aware = try #require(Histories.VerdictRecord(line: line(knows: [2], verdict)))
        #expect(aware.differences(.standing) == [[]])
        #expect(Histories.VerdictRecord(line: line(knows: [1], "[[0],[4],[0]]")) == nil)
        #expect(Histories.VerdictRecord(line: "[0,2,[[1,3,[]]],[[9,0,0,[]]],[]]") == nil)
    }
}
