import LawHistories
import SyncModel
import Testing

/// Random histories: any order, the same lives; and what nobody may do to a dead life.
@Suite struct DeletionLawTests {
    static let seeds = 0..<UInt64(3_000)

    @Test func `every causal order gives the same state, and the rules agree`() {
        for seed in Self.seeds {
            var random = SeededGenerator(seed: seed)
            let history = ObjectHistory.random(&random, isHonest: random.chance(50))
            let expected = history.lives
            for _ in 0..<3 {
                let lives = history.lives(using: &random)
                #expect(lives == expected, "seed \(seed)")
                #expect(lives.judgement == expected.judgement, "seed \(seed)")
            }
            check(expected, against: DeletionRules(entries: history.entries), seed: seed)
        }
    }

    private func check(_ lives: ObjectLives, against rules: DeletionRules, seed: UInt64) {
        let verdicts = Dictionary(uniqueKeysWithValues: zip(lives.lives.map(\.birth), lives.verdicts))
        #expect(verdicts == rules.verdicts, "seed \(seed)")
        for record in lives.deletions where record.policy == .deleteWins {
            guard let entry = rules.entries.first(where: { $0.dot == record.dot }) else { continue }
            for replica in Set(rules.entries.map(\.dot.replica)) {
                let count = record.edited.first { $0.replica == replica }?.count ?? 0
                #expect(Int(count) == rules.droppedCount(by: entry, of: replica), "seed \(seed) \(replica)")
            }
        }
    }

    @Test func `an edit never deletes and a deletion never raises`() {
        for seed in Self.seeds {
            var random = SeededGenerator(seed: seed)
            let history = ObjectHistory.random(&random, isHonest: false)
            var player = ObjectPlayer()
            for entry in history.shuffled(&random) {
                let before = Dictionary(
                    uniqueKeysWithValues: zip(player.lives.lives.map(\.birth), player.lives.verdicts))
                player.apply(entry)
                let after = Dictionary(
                    uniqueKeysWithValues: zip(player.lives.lives.map(\.birth), player.lives.verdicts))
                for (birth, verdict) in before {
                    switch entry.step {
                    case .delete:
                        #expect(verdict != .deleted || after[birth, default: .deleted] == .deleted, "seed \(seed)")
                    case .birth, .edit, .keep, .member:
                        #expect(after[birth].map { $0 <= verdict } == true, "seed \(seed)")
                    }
                }
            }
        }
    }

    @Test func `what is dead when all know of it stays dead for ever`() {
        for seed in Self.seeds {
            var random = SeededGenerator(seed: seed)
            let isHonest = random.chance(50)
            var history = ObjectHistory.random(&random, isHonest: isHonest)
            history.syncAll()
            let synced = history.lives
            let dead = Set(zip(synced.lives, synced.verdicts).filter { $0.1 == .deleted }.map(\.0.birth))
                .union(synced.deletions.flatMap(\.ended))
            history.extend(&random, steps: 20, isHonest: isHonest)
            let lives = history.lives
            for (life, verdict) in zip(lives.lives, lives.verdicts) where dead.contains(life.birth) {
                #expect(verdict == .deleted, "seed \(seed)")
            }
        }
    }

    @Test func `nodes that hold the same agree, whatever they heard first`() {
        for seed in Self.seeds {
            var random = SeededGenerator(seed: seed)
            var history = ObjectHistory.random(&random, isHonest: true)
            history.syncAll()
            let judgements = Set(history.held.indices.map { history.lives(at: $0).judgement })
            #expect(judgements.count == 1, "seed \(seed)")
        }
    }
}

extension ObjectHistory {
    static func random(_ random: inout SeededGenerator, isHonest: Bool) -> ObjectHistory {
        let nodes = Int.random(in: 2...5, using: &random)
        let devices = random.chance(70) ? nodes : Int.random(in: 1...nodes, using: &random)
        var history = random.chance(60) ? among(nodes, devices: devices) : ObjectHistory(nodes: nodes, devices: devices)
        history.extend(&random, steps: Int.random(in: 3...24, using: &random), isHonest: isHonest)
        return history
    }

    /// Honest nodes write what an agent would let them; others write anything.
    mutating func extend(_ random: inout SeededGenerator, steps: Int, isHonest: Bool) {
        let births = { (entries: [Entry]) in entries.filter { $0.step == .birth }.map(\.dot) }
        for _ in 0..<steps {
            let node = Int.random(in: 0..<held.count, using: &random)
            let other = Int.random(in: 0..<held.count, using: &random)
            let milliseconds = Int64.random(in: 0..<60, using: &random)
            let policy = DeletePolicy.allCases[Int.random(in: 0..<4, using: &random)]
            let number = Int.random(in: 0..<12, using: &random)
            switch number {
            case 0..<4: sync(node, to: other)
            case 4: write(.member(replicas[other].device), by: node, at: milliseconds)
            default:
                let known = births(isHonest ? entries(at: node) : entries)
                let wish: Step =
                    switch number {
                    case 5: .birth
                    case 6, 7, 8: known.isEmpty ? .birth : .edit(known[Int.random(in: 0..<known.count, using: &random)])
                    case 9, 10: .delete(policy)
                    default: .keep
                    }
                if !isHonest || allows(wish, at: node) { write(wish, by: node, at: milliseconds) }
            }
        }
    }

    private func allows(_ step: Step, at node: Int) -> Bool {
        let lives = lives(at: node)
        switch (step, lives.judgement) {
        case (.member, _), (.birth, .absent), (.keep, .undecided), (.delete, .live), (.delete, .undecided): return true
        case (.birth, .deleted): return !lives.isBarred
        case (.edit(let life), .live(let shown)): return shown.contains(life)
        case (.birth, _), (.edit, _), (.delete, _), (.keep, _): return false
        }
    }
}
