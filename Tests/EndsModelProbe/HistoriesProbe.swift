import EndsModel
import Glibc

/// The verbs of `ends-model histories`.
struct HistoriesProbe {
    let arguments: [String]
    private let clock = ContinuousClock()

    init(_ arguments: [String]) { self.arguments = arguments }

    private func number(_ index: Int, _ fallback: Int) -> Int {
        index < arguments.count ? Int(arguments[index]) ?? fallback : fallback
    }

    /// Returns false if a history breaks in a way that is not known.
    func run() -> Bool {
        switch arguments.first ?? "" {
        case "random": return random(number(1, 20_000), UInt64(number(2, 1)))
        case "every": return every(number(1, 15_000))
        case "plants": return plants(number(1, 2_000))
        case "show": return show(UInt64(number(1, 1)))
        case "": return [random(20_000, 1), every(1_000), plants(2_000)].allSatisfy(\.self)
        case let verb:
            print("no verb is called '\(verb)'. The verbs are random, every, plants and show")
            return false
        }
    }

    private func every(_ limit: Int) -> Bool {
        var isKnown = true
        for set in Histories.EveryOrder.all {
            let start = clock.now
            let reach = set.search(limit: limit)
            let extent = reach.isWhole ? "whole" : "up to the limit"
            print("\(set.name): \(reach.states) states, \(extent), in \(clock.now - start)")
            print(reach.found)
            fflush(nil)
            isKnown = isKnown && reach.found.isKnown
        }
        return isKnown
    }

    private func plants(_ count: Int) -> Bool {
        var isSound = true
        for bug in Histories.PlantedBug.allCases {
            let found = Histories.find(bug, count: count)
            let source = found.map { $0.seed == 0 ? "its plot" : "seed \($0.seed)" } ?? ""
            print("\(bug): \(found.map { "\($0.broken) (\(source))" } ?? "NOT FOUND")")
            isSound = isSound && found != nil
        }
        return isSound
    }

    private func random(_ count: Int, _ first: UInt64) -> Bool {
        let start = clock.now
        let found = Histories.search(from: first, count: count, rules: .standing) { done in
            print("  \(done) after \(clock.now - start)")
            fflush(nil)
        }
        print("\(count) histories of 2 to 12 devices in \(clock.now - start)")
        print(found)
        return found.isKnown
    }

    private func show(_ seed: UInt64) -> Bool {
        let run = Histories.run(seed: seed)
        print(run.history)
        run.world.breaks.forEach { print($0) }
        return run.world.breaks.isEmpty
    }
}
