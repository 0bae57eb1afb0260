import Crypto

/// Many seeds at once, on all cores. Each world is one thread's own, so the result does not depend on how they are dealt.
package struct SeedRange: Sendable {
    /// The number of cores of the smallest machine that runs this.
    private static let workers = 2

    private let seeds: [UInt64]
    private let kind: WorldKind

    package init(from first: UInt64, count: Int, kind: WorldKind = .plain) {
        seeds = (0..<UInt64(count)).map { first + $0 }
        self.kind = kind
    }

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
        /// The seeds whose worlds do not come to rest, with what members say there.
        package var standstills: [(seed: UInt64, words: String)] = []
        /// The number of those that `WorldKind.standstillsBesideStatesPercent` is about.
        package var standstillsBesideStates = 0
        /// Over the digests of all seeds in their order.
        package var digest = ""
        /// Over those of the first `firstCount`, for another process to compare with.
        package var digestOfFirst = ""
    }

    package static let firstCount = 100

    /// - Parameter repeating: each seed twice; a difference is a failure.
    package func run(bug: PlantedBug? = nil, repeating: Bool = false) async -> Outcome {
        let workers = Self.workers
        let parts = await withTaskGroup(of: [(Int, Simulation, Bool)].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    stride(from: worker, to: seeds.count, by: workers).map { index in
                        let run = simulation(seeds[index], bug)
                        let isSame = !repeating || simulation(seeds[index], bug).digest == run.digest
                        return (index, run, isSame)
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        var outcome = Outcome()
        var hasher = SHA256()
        func digest(_ hasher: SHA256) -> String {
            hasher.finalize().prefix(8).map { String($0, radix: 16) }.joined()
        }
        for (index, run, isSame) in parts.sorted(by: { $0.0 < $1.0 }) {
            if let failure = run.failure { outcome.failed.append(Failed(seed: run.seed, failure: failure)) }
            if !isSame {
                let failure = CheckFailure(
                    checker: "determinism", message: "two runs of one seed differ", atNanoseconds: 0)
                outcome.failed.append(Failed(seed: run.seed, failure: failure))
            }
            outcome.simulatedNanoseconds += run.simulatedNanoseconds
            outcome.copies += run.copies
            if let words = run.standstill {
                outcome.standstills.append((run.seed, words))
                let exchangesState = WorldOptions(seed: run.seed, kind: kind).states != nil
                if kind.standstillsBesideStatesPercent > 0, exchangesState { outcome.standstillsBesideStates += 1 }
            }
            outcome.slowestHealNanoseconds = max(outcome.slowestHealNanoseconds, run.healNanoseconds ?? 0)
            hasher.update(data: Array(run.digest.utf8))
            if index + 1 == Self.firstCount { outcome.digestOfFirst = digest(hasher) }
        }
        outcome.digest = digest(hasher)
        return outcome
    }

    private func simulation(_ seed: UInt64, _ bug: PlantedBug?) -> Simulation {
        Simulation(seed: seed, bug: bug, kind: bug?.kind(in: kind) ?? kind)
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
        let found = await Self.map(bugs) { first(with: $0) }
        // Many bugs are found in one world: that is run once without any.
        let worlds = zip(bugs, found).map { bug, found in
            found.map { WorldName(seed: $0.seed, kind: bug.kind(in: kind)) }
        }
        let tried = Array(Set(worlds.compactMap(\.self)))
        let failures = await Self.map(tried) { Simulation(seed: $0.seed, kind: $0.kind).failure }
        let clean = Dictionary(uniqueKeysWithValues: zip(tried, failures))
        return zip(found, worlds).map { found, world in
            guard let found, let world else { return .notFound }
            guard let failure = clean[world] ?? nil else { return .found(found) }
            return .foundWithout(Failed(seed: found.seed, failure: failure))
        }
    }

    private struct WorldName: Hashable {
        let seed: UInt64
        let kind: WorldKind
    }

    /// Returns what `body` gives for each, in their order. Each core takes the next that is left.
    private static func map<Value: Sendable, Result: Sendable>(
        _ values: [Value], _ body: @escaping @Sendable (Value) -> Result
    ) async -> [Result] {
        await withTaskGroup(of: (Int, Result).self) { group in
            var results: [(Int, Result)] = []
            for index in values.indices {
                if index >= workers, let result = await group.next() { results.append(result) }
                group.addTask { (index, body(values[index])) }
            }
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// The bug's known seed, if it is among them, or else the first one, in order, whose run fails with the bug planted.
    package func first(with bug: PlantedBug) -> Failed? {
        for seed in seeds.filter({ $0 == bug.knownSeed }) + seeds.filter({ $0 != bug.knownSeed }) {
            if let failure = simulation(seed, bug).failure { return Failed(seed: seed, failure: failure) }
        }
        return nil
    }
}
