extension Histories {
    /// What a search found, each check and kind with its first seed.
    package struct Found: Sendable, CustomStringConvertible {
        package struct Row: Sendable {
            package var count = 0
            package let seed: UInt64
            package let broken: Break
        }

        package private(set) var rows: [Row] = []
        /// How many histories have each of these.
        package private(set) var seen: [(name: String, count: Int)] = []
        private var runs = 0

        /// True if each break is of a known kind.
        package var isKnown: Bool { rows.allSatisfy { $0.broken.kind != nil } }

        mutating func record(_ run: Run) {
            runs += 1
            for broken in run.world.breaks {
                let isSame = { (row: Row) in row.broken.check == broken.check && row.broken.kind == broken.kind }
                if !rows.contains(where: isSame) { rows.append(Row(seed: run.seed, broken: broken)) }
                for index in rows.indices where isSame(rows[index]) { rows[index].count += 1 }
            }
            var world = run.world
            for (index, trait) in world.traits().enumerated() {
                if seen.count <= index { seen.append((trait.name, 0)) }
                seen[index].count += trait.holds ? 1 : 0
            }
        }

        package var description: String {
            let traits = seen.map { "\($0.name) \($0.count * 1000 / max(1, runs))‰" }.joined(separator: ", ")
            let breaks = rows.map { row in
                let kind = row.broken.kind.map { "known kind \($0.rawValue), \($0)" } ?? "UNKNOWN"
                return "\(row.count) × \(row.broken) (\(kind); seed \(row.seed))"
            }
            return ([traits] + (breaks.isEmpty ? ["nothing broken"] : breaks)).joined(separator: "\n")
        }
    }

    /// Finds a planted bug, by its plot or one of `count` random histories. Nil if none breaks that does not break the
    /// rules that stand. Seed 0 is the plot.
    package static func find(_ bug: PlantedBug, count: Int) -> (seed: UInt64, broken: Break)? {
        let rules = Rules(bug: bug)
        let plot = plots[bug].map { Run(history: $0, world: $0.run(rules), seed: 0) }
        for seed in 0...UInt64(count) {
            guard let run = seed == 0 ? plot : run(seed: seed, rules: rules) else { continue }
            if run.world.isBroken, let broken = run.world.breaks.last, !run.history.run().isBroken {
                return (seed, broken)
            }
        }
        return nil
    }

    /// Runs random histories.
    package static func search(
        from first: UInt64, count: Int, rules: Rules, progress: (Int) -> Void = { _ in }
    ) -> Found {
        var found = Found()
        for index in 0..<count {
            found.record(run(seed: first + UInt64(index), rules: rules))
            if (index + 1).isMultiple(of: 10_000) { progress(index + 1) }
        }
        return found
    }
}

extension Histories.World {
    /// What a history has, to see that a search reaches it.
    mutating func traits() -> [(name: String, holds: Bool)] {
        let all = verdict(Bits(facts.indices))
        return [
            ("final", all.proposals.values.contains(where: \.isFinal)),
            ("released", all.proposals.values.contains(where: \.isDead)),
            ("return", !all.returns.isEmpty),
            ("disk put back", !restored.isEmpty),
            ("fork", !all.forks.isEmpty),
            ("several branches", all.forks.values.contains { $0.end != nil }),
            ("deletion", changes.contains { $0.operation == .delete }),
        ]
    }
}
