extension Roles {
    /// A broken check with the least history that breaks it.
    package struct Failure: Sendable, CustomStringConvertible {
        package let check: String
        package let history: History
        package let message: String
        package let seed: UInt64

        package var description: String { "-- check \(check) (seed \(seed)): \(message)\n\(history)" }
    }

    /// Checks `count` random histories; each check is reported once, shrunk.
    package static func search(
        _ histories: RandomHistories, from seed: UInt64, count: Int, checks: [Check] = Check.all,
        stopsAtFirst: Bool = false, progress: (Int) -> Void = { _ in }
    ) -> [Failure] {
        var failures: [Failure] = []
        var open = checks
        for index in 0..<count {
            let seed = seed &+ UInt64(index)
            let test = Case(histories.history(seed: seed), histories.rules, seed: seed)
            for check in open where check.find(test) != nil {
                failures.append(shrunk(test, check))
                open.removeAll { $0.name == check.name }
            }
            if open.isEmpty || stopsAtFirst && !failures.isEmpty { break }
            if (index + 1).isMultiple(of: 10_000) { progress(index + 1) }
        }
        return failures
    }

    package static func shrunk(_ test: Case, _ check: Check) -> Failure {
        let least = test.history.shrunk { history in
            history.isHonest(test.rules) && check.find(Case(history, test.rules, seed: test.seed)) != nil
        }
        let message = check.find(Case(least, test.rules, seed: test.seed)) ?? "gone when looked at again"
        return Failure(check: check.name, history: least, message: message, seed: test.seed)
    }

    /// Checks every history of up to `depth` free facts, each in every order of delivery; each check is reported once.
    package static func searchEvery(
        _ histories: EveryHistory, depth: Int, from first: Int = 0, checks: [Check] = Check.all,
        progress: (Int) -> Void = { _ in }
    ) -> (counts: [Int], orders: Int, failures: [Failure]) {
        var histories = histories
        var failures: [Failure] = []
        var open = checks.filter { $0.name != Check.order.name }
        var (done, orders) = (0, 0)
        histories.visit(depth: depth, from: first) { test in
            done += 1
            if done.isMultiple(of: 100_000) { progress(done) }
            for check in open where check.find(test) != nil {
                failures.append(shrunk(test, check))
                open.removeAll { $0.name == check.name }
            }
            let (count, difference) = everyOrder(test)
            orders += count
            if let difference {
                failures.append(
                    Failure(check: "a", history: test.history, message: difference, seed: test.seed))
            }
            return failures.isEmpty
        }
        return (histories.counts, orders, failures)
    }

    /// Delivers the facts in every order that causality allows, and compares the results.
    package static func everyOrder(_ test: Case) -> (orders: Int, difference: String?) {
        var orders = 0
        var order: [Int] = []
        var difference: String?
        func deliver(_ held: FactSet) {
            guard difference == nil else { return }
            if order.count == test.facts.count {
                orders += 1
                difference = Check.difference(test, order)
                return
            }
            for fact in test.facts where !held.contains(fact.id) && fact.past.isSubset(of: held) {
                order.append(fact.id)
                var more = held
                more.insert(fact.id)
                deliver(more)
                order.removeLast()
            }
        }
        deliver(FactSet())
        return (orders, difference)
    }
}
