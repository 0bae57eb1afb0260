import EndsModel
import Glibc

/// Ends the program with the exit code of a failed check.
func stop() -> Never { exit(1) }

/// The verbs of `ends-model roles`.
struct RolesProbe {
    private let arguments: [String]
    private let rules: Roles.Rules
    private let clock = ContinuousClock()

    /// The first argument may be `agent`: the rules that the agent follows.
    init(_ arguments: [String]) {
        let isAgent = arguments.first == "agent"
        rules = isAgent ? .agent : .standing
        self.arguments = isAgent ? Array(arguments.dropFirst()) : arguments
    }

    private func number(_ index: Int, _ fallback: Int) -> Int {
        index < arguments.count ? Int(arguments[index]) ?? fallback : fallback
    }

    /// Returns false if a check failed.
    func run() -> Bool {
        switch arguments.first ?? "" {
        case "compare": return compare()
        case "random": return random(number(1, 100_000), UInt64(number(2, 1)))
        case "every": return every(number(1, 3), from: number(2, 0), isWide: arguments.last == "wide")
        case "founding": return founding(number(1, 20_000))
        case "finality": return finality()
        case "plants": return plants(number(1, 20_000))
        case "":
            // All of them, each for less than a minute.
            let results = [
                random(100_000, 1), every(2, from: 0, isWide: true), finality(), founding(20_000), plants(20_000),
            ]
            return results.allSatisfy(\.self)
        case let verb:
            print("no verb is called '\(verb)'. The verbs are compare, random, every, finality, founding and plants")
            return false
        }
    }

    private func compare() -> Bool {
        var (count, differing) = (0, 0)
        while let line = readLine() {
            count += 1
            guard let record = Roles.Record(line: line) else {
                print("line \(count) is no record")
                return false
            }
            if let difference = record.difference(.beforeMends) {
                differing += 1
                if differing < 5 { print("line \(count): \(difference)") }
            }
        }
        print("\(count) histories with verdicts of another model: \(differing) differ")
        return differing == 0 && count > 0
    }

    private func random(_ count: Int, _ seed: UInt64) -> Bool {
        let start = clock.now
        let failures = Roles.search(.init(rules: rules), from: seed, count: count) { done in
            print("  \(done) after \(clock.now - start)")
            fflush(nil)
        }
        print("\(count) histories of up to 12 devices in \(clock.now - start): \(failures.count) checks broken")
        for failure in failures { print(failure) }
        return failures.isEmpty
    }

    private func every(_ depth: Int, from first: Int, isWide: Bool) -> Bool {
        let start = clock.now
        let letters: [Roles.EveryHistory.Letter] =
            if rules.isAgent { isWide ? Roles.EveryHistory.wideAgent : Roles.EveryHistory.agent } else {
                isWide ? Roles.EveryHistory.wide : Roles.EveryHistory.plain
            }
        let histories = Roles.EveryHistory(rules: rules, letters: letters)
        let (counts, orders, failures) = Roles.searchEvery(histories, depth: depth, from: first) { done in
            print("  \(done) after \(clock.now - start)")
            fflush(nil)
        }
        print("every history of up to \(depth) facts behind two adds, \(histories.letters.count) letters: \(counts)")
        print("in \(orders) orders of delivery and \(clock.now - start): \(failures.count) checks broken")
        for failure in failures { print(failure) }
        return failures.isEmpty
    }

    private func founding(_ count: Int) -> Bool {
        let start = clock.now
        let found = Roles.searchFoundings(from: 1, count: count, .standing)
        print("\(count) meetings of 3 to 5 foundings in \(clock.now - start): \(found?.fault ?? "no fault")")
        if let found { print(found.foundings) }
        var isSound = found == nil
        for bug in Roles.PlantedBug.allCases where bug.isOfFounding {
            let found = Roles.searchFoundings(from: 1, count: count, .planted(bug))
            print("\(bug): \(found?.fault ?? "NOT FOUND")")
            isSound = isSound && found != nil
        }
        return isSound
    }

    private func finality() -> Bool {
        var isSound = true
        for (name, setting) in Roles.FinalityWorld.Setting.all {
            let start = clock.now
            let (worlds, fault, trace) = Roles.FinalityWorld.explore(setting)
            let isPlanted = setting.intake != .firstAcknowledgements
            print("\(name): \(worlds) worlds in \(clock.now - start): \(fault ?? "no fault")")
            fflush(nil)
            if let fault, !isPlanted { trace.forEach { print("  \($0)") }; print(fault) }
            isSound = isSound && isPlanted == (fault != nil)
        }
        return isSound
    }

    private func plants(_ count: Int) -> Bool {
        var isSound = true
        for bug in Roles.PlantedBug.inHistories(of: rules) {
            let found = Roles.search(.init(rules: .planted(bug, in: rules)), from: 1, count: count, stopsAtFirst: true)
            print("\(bug): \(found.isEmpty ? "NOT FOUND" : "found by \(found.map(\.check)), seed \(found[0].seed)")")
            isSound = isSound && !found.isEmpty
        }
        return isSound
    }
}
