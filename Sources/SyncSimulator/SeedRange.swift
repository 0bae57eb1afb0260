import Crypto

/// Many seeds at once, on all cores. Each world is one thread's own, so the result does not depend on how they are dealt.
package struct SeedRange: Sendable {
    /// The number of cores of the smallest machine that runs this.
    private static let workers = 2

    private let seeds: [UInt64]

    package init(from first: UInt64, count: Int) { seeds = (0..<UInt64(count)).map { first + $0 } }

    package struct Failed: Sendable {
        package let seed: UInt64
        package let failure: CheckFailure
    }

    package struct Outcome: Sendable {
        /// Sorted by seed.
        package var failed: [Failed] = []
        package var simulatedNanoseconds: Int64 = 0
        package var slowestHealNanoseconds: Int64 = 0
        package var copies = CopyCounts()
        /// Over the digests of all seeds in their order.
        package var digest = ""
    }

    /// - Parameter repeating: each seed twice; a difference is a failure.
    package func run(bug: PlantedBug? = nil, repeating: Bool = false) async -> Outcome {
        let workers = Self.workers
        let parts = await withTaskGroup(of: [(Int, Simulation, Bool)].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    stride(from: worker, to: seeds.count, by: workers).map { index in
                        let run = Simulation(seed: seeds[index], bug: bug)
                        let isSame = !repeating || Simulation(seed: seeds[index], bug: bug).digest == run.digest
                        return (index, run, isSame)
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        var outcome = Outcome()
        var hasher = SHA256()
        for (_, run, isSame) in parts.sorted(by: { $0.0 < $1.0 }) {
            if let failure = run.failure { outcome.failed.append(Failed(seed: run.seed, failure: failure)) }
            if !isSame {
                let failure = CheckFailure(
                    checker: "determinism", message: "two runs of one seed differ", atNanoseconds: 0)
                outcome.failed.append(Failed(seed: run.seed, failure: failure))
            }
            outcome.simulatedNanoseconds += run.simulatedNanoseconds
            outcome.copies += run.copies
            outcome.slowestHealNanoseconds = max(outcome.slowestHealNanoseconds, run.healNanoseconds ?? 0)
            hasher.update(data: Array(run.digest.utf8))
        }
        outcome.digest = hasher.finalize().prefix(8).map { String($0, radix: 16) }.joined()
        return outcome
    }

    /// The result of the search for a planted bug.
    package enum Finding: Sendable {
        /// Found by the first seed tried whose run fails with the bug; it is clean without.
        case found(Failed)
        case notFound
        /// Found, but that seed fails without the bug, too.
        case foundWithout(Failed)
    }

    /// Returns one finding for each bug, in their order.
    package func findings(of bugs: [PlantedBug]) async -> [Finding] {
        await withTaskGroup(of: (Int, Finding).self) { group in
            var findings = [Finding](repeating: .notFound, count: bugs.count)
            for index in bugs.indices {
                if index >= Self.workers, let (place, finding) = await group.next() { findings[place] = finding }
                group.addTask { (index, finding(of: bugs[index])) }
            }
            for await (place, finding) in group { findings[place] = finding }
            return findings
        }
    }

    private func finding(of bug: PlantedBug) -> Finding {
        guard let found = first(with: bug) else { return .notFound }
        let clean = Simulation(seed: found.seed)
        return clean.failure.map { .foundWithout(Failed(seed: found.seed, failure: $0)) } ?? .found(found)
    }

    /// The bug's known seed, if it is among them, or else the first one, in order, whose run fails with the bug planted.
    package func first(with bug: PlantedBug) -> Failed? {
        for seed in seeds.filter({ $0 == bug.knownSeed }) + seeds.filter({ $0 != bug.knownSeed }) {
            if let failure = Simulation(seed: seed, bug: bug).failure { return Failed(seed: seed, failure: failure) }
        }
        return nil
    }
}
