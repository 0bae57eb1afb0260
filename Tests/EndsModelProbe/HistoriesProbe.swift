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
        case "show": return show(UInt64(number(1, 1)))
        case let verb:
            print("no verb is called '\(verb)'. The verbs are random and show")
            return false
        }
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
        run.moves.forEach { print($0) }
        run.world.breaks.forEach { print($0) }
        return run.world.breaks.isEmpty
    }
}
