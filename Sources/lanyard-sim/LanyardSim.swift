import ArgumentParser
import SyncSimulator

@main
struct LanyardSim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanyard-sim", abstract: "Runs agents in a simulated world: seed in, digest out.")

    @Option(help: "Replay one seed and print its digest.")
    var seed: UInt64?

    @Option(help: "Run this many seeds.")
    var seeds: Int?

    @Option(help: "The first of --seeds.")
    var from: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "Switch a planted bug on.", valueName: PlantedBug.allCases.map(\.rawValue).joined(separator: "|")))
    var fault: String?

    @Flag(
        help: """
            Look for every planted bug, or that of --fault, within --seeds (default 500), and run what found it without \
            the bug.
            """)
    var canaries = false

    @Flag(help: "Nodes of two versions, with upgrades; what a seed decides otherwise is as without.")
    var mixed = false

    @Flag(
        help: """
            Members with roles, admins that change them, and often a thief, who goes on with a machine that is revoked; \
            what a seed decides otherwise is as without, as far as there is room for it.
            """)
    var thieves = false

    @Flag(
        help: """
            Machines that are put back to an earlier moment while they run, and write on; what a seed decides otherwise is \
            as without, as far as there is room for it.
            """)
    var reverted = false

    @Flag(help: "Run each seed twice and compare.")
    var verifyDeterminism = false

    @Flag(help: "Print what happens, a line each.")
    var trace = false

    func validate() throws {
        if [mixed, thieves, reverted].count(where: \.self) > 1 {
            throw ValidationError("--mixed, --thieves and --reverted are kinds of worlds; choose one")
        }
    }

    private var kind: WorldKind { mixed ? .mixed : thieves ? .thieves : reverted ? .reverted : .plain }

    func run() async throws {
        let bug = try plantedBug()
        if let seed { return try replay(seed, bug) }
        if canaries { return try await runCanaries(bug.map { [$0] } ?? PlantedBug.allCases, within: seeds ?? 500) }
        try await runSeeds(bug)
    }

    private func plantedBug() throws -> PlantedBug? {
        guard let fault else { return nil }
        guard let bug = PlantedBug(rawValue: fault) else {
            throw ValidationError(
                "unknown fault \"\(fault)\"; known: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return bug
    }

    private func replay(_ seed: UInt64, _ bug: PlantedBug?) throws {
        let run = Simulation(seed: seed, bug: bug, kind: bug?.kind(in: kind) ?? kind, tracing: trace)
        for line in run.trace { print(line) }
        if let failure = run.failure {
            report(failure, seed, bug)
            throw ExitCode.failure
        }
        if let words = run.standstill { report(words, seed) }
        print("seed \(seed): ok, digest \(run.digest)")
    }

    private func report(_ failure: CheckFailure, _ seed: UInt64, _ bug: PlantedBug?, in kind: WorldKind? = nil) {
        let suffix = (kind ?? self.kind).option + (bug.map { " --fault \($0.rawValue)" } ?? "")
        print("seed \(seed): \(failure.checker), after \(failure.atNanoseconds / 1_000_000) ms: \(failure.message)")
        print("repeat it: lanyard-sim --seed \(seed)\(suffix) --trace")
    }

    private func report(_ words: String, _ seed: UInt64) {
        print("seed \(seed) does not come to rest, and members say so: \(words)")
    }

    private func runSeeds(_ bug: PlantedBug?) async throws {
        let count = seeds ?? 500
        let clock = ContinuousClock()
        let start = clock.now
        let worlds = SeedRange(from: from, count: count, kind: kind)
        let runs = await worlds.run(bug: bug, repeating: verifyDeterminism)
        let seconds = Double((clock.now - start) / .milliseconds(1)) / 1_000
        for (seed, words) in runs.standstills { report(words, seed) }
        for run in runs.failed { report(run.failure, run.seed, bug) }
        guard runs.failed.isEmpty else {
            print("\(runs.failed.count) of \(count) seeds failed")
            throw ExitCode.failure
        }
        let besideStates = runs.standstillsBesideStates
        for (found, percent) in [
            (runs.standstills.count - besideStates, kind.standstillsPercent),
            (besideStates, kind.standstillsBesideStatesPercent),
        ] where found > (count < 200 ? 0 : count * percent / 100) {
            print(
                "\(found) of \(count) worlds do not come to rest; \(percent) in a hundred may, and none of fewer than 200"
            )
            throw ExitCode.failure
        }
        let copies = runs.copies
        print(
            "\(copies.sum) disks were not what their machines had left: \(copies.restores) older ones put back, "
                + "\(copies.lostTails) that lost their tails, \(copies.clones) copies run beside their originals "
                + "(noticed \(copies.noticedTwins) times), \(copies.reverts) machines put back while they ran; "
                + "\(copies.besideStates) of them where state is exchanged")
        let beside = besideStates > 0 ? " (\(besideStates) beside states)" : ""
        let still = runs.standstills.isEmpty ? "" : ", \(runs.standstills.count) of them without agreement\(beside),"
        let simulated = Double(runs.simulatedNanoseconds) / 1e9
        print(
            "\(count) seeds clean\(still) in \(seconds) s (\(Int(Double(count) / seconds)) a second, "
                + "\(Int(simulated / seconds)) times real time); slowest heal \(runs.slowestHealNanoseconds / 1_000_000) ms; "
                + "digest over all \(runs.digest)")
        if count >= SeedRange.firstCount {
            print("digest over the first \(SeedRange.firstCount) \(runs.digestOfFirst)")
        }
    }

    /// A check that cannot fail is none: each planted bug must be found by the checker that is there for it, and its seed be
    /// clean without it.
    private func runCanaries(_ bugs: [PlantedBug], within limit: Int) async throws {
        let seeds = SeedRange(from: from, count: limit, kind: kind)
        var isFine = true
        for (bug, finding) in zip(bugs, await seeds.findings(of: bugs)) {
            switch finding {
            case .found(let found):
                if let expected = bug.expectedCheckers, !expected.contains(found.failure.checker) {
                    isFine = false
                    report(found.failure, found.seed, bug)
                    print("that is not for \(found.failure.checker) to find, but for \(expected.sorted())")
                }
                let outdated = bug.knownSeed.flatMap { $0 == found.seed ? nil : "; not any more with \($0)" } ?? ""
                print(
                    "\(bug.rawValue): found by \(found.failure.checker) with seed \(found.seed), which is clean without "
                        + "it\(outdated)")
            case .notFound:
                print("\(bug.rawValue): NOT FOUND in \(limit) seeds")
                isFine = false
            case .foundWithout(let failed):
                report(failed.failure, failed.seed, nil, in: bug.kind(in: kind))
                isFine = false
            }
        }
        if !isFine { throw ExitCode.failure }
    }
}

extension WorldKind {
    /// The option that runs such worlds, with a space before it.
    fileprivate var option: String {
        switch self {
        case .plain: ""
        case .mixed: " --mixed"
        case .thieves: " --thieves"
        case .reverted: " --reverted"
        }
    }
}
