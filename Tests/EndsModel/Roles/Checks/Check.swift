extension Roles {
    /// A small generator, so that a seed names a history on every machine.
    package struct Random: RandomNumberGenerator, Sendable {
        private var state: UInt64

        package init(seed: UInt64) { state = seed }

        /// SplitMix64 (Steele, Lea, Flood 2014).
        package mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }

        package mutating func chance(_ percent: Int) -> Bool { Int(next() % 100) < percent }
        package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
        package mutating func pick<C: RandomAccessCollection>(_ from: C) -> C.Element {
            from[from.index(from.startIndex, offsetBy: below(from.count))]
        }
    }

    /// A history that is checked: its facts, their law, and the state at all of them.
    package struct Case {
        package let history: History
        package let rules: Rules
        package let law: Law
        package let state: State
        /// Seeds what a check adds by chance.
        package let seed: UInt64

        package init(_ history: History, _ rules: Rules, seed: UInt64, law: Law? = nil) {
            self.history = history
            self.rules = rules
            self.law = law ?? history.law(rules)
            state = self.law.state
            self.seed = seed
        }

        var facts: [Fact] { law.facts }
        func role(_ device: Device) -> Role { law.role(of: device, state) }
        func end(_ replica: Replica, _ needs: Role) -> Int { law.end(replica, needs: needs, state) }
        /// Replicas that a fact has, and for each device one that is not begun yet.
        var replicas: [Replica] { Set(facts.map(\.replica) + history.devices.map { Replica($0, 9) }).sorted() }
        /// The facts that no other knows, with the state before them.
        var newest: [(fact: Fact, before: State)] {
            history.newest.map { id in
                var before = law.all
                before.remove(id)
                return (facts[id], law.state(before))
            }
        }
    }

    /// A property that every history must have.
    package struct Check: Sendable {
        package let name: String
        package let meaning: String
        /// Returns what is broken; nil if nothing is.
        package let find: @Sendable (Case) -> String?

        package init(_ name: String, _ meaning: String, _ find: @escaping @Sendable (Case) -> String?) {
            self.name = name
            self.meaning = meaning
            self.find = find
        }

        package static let all: [Check] = [
            order, voidFacts, recoveryUse, wayBack, floor, given, revocations, direction, usable, outranks, revives,
            forgotten, unmoved, kept, letIn, readers,
        ]

        /// True if a thief. Thieves and their accomplices write anything; all others only what counts in what they hold.
        static func isThief(_ device: Device) -> Bool { [2, 3, 5].contains(device.index) }
    }
}

extension Roles.History {
    /// True if each honest device writes only what counts in what it holds, and knows all that it wrote before.
    package func isHonest(_ rules: Roles.Rules) -> Bool {
        let law = law(rules)
        for fact in law.facts where !Roles.Check.isThief(fact.author) && !fact.isRecovery {
            guard law.isWritable(fact) else { return false }
        }
        return true
    }
}

extension Roles.Law {
    /// True if an honest agent would write `fact`: it has the role, and the replica has not ended.
    package func isWritable(_ fact: Roles.Fact) -> Bool {
        guard fact.kind != .acknowledge else { return true }
        return may(fact) && !isVoid(fact, state(fact.past))
    }
}

extension [Roles.Fact] {
    /// The facts of `order`, in that order and with ids by it; the others are forgotten.
    func reordered(_ order: [Int]) -> [Roles.Fact] {
        var place: [Int: Int] = [:]
        for (index, id) in order.enumerated() { place[id] = index }
        return order.enumerated().map { index, id in
            let fact = self[id]
            return Roles.Fact(
                id: index, replica: fact.replica, counter: fact.counter,
                past: Roles.FactSet(fact.past.compactMap { place[$0] }), kind: fact.kind, target: fact.target,
                role: fact.role, counters: fact.counters, isRecovery: fact.isRecovery)
        }
    }
}
