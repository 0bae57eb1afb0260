extension Roles {
    /// A fact before its ends are computed. A list of drafts can be cut and stays a history.
    package struct Draft: Hashable, Sendable {
        /// The ends that the author names, from what it holds of the target.
        package enum Naming: Int, CaseIterable, Sendable {
            case held, oneLess, nothing
            /// An acknowledgement of more than exists of its author's own replicas.
            case invented
        }

        package var replica: Replica
        package var past: FactSet
        package var kind: Fact.Kind
        package var target: Device?
        package var role: Role
        package var naming: Naming
        package var isRecovery: Bool

        package init(
            _ replica: Replica, _ kind: Fact.Kind, _ target: Device? = nil, _ role: Role = .none, past: FactSet,
            naming: Naming = .held, isRecovery: Bool = false
        ) {
            self.replica = replica
            self.kind = kind
            self.target = target
            self.role = role
            self.past = past
            self.naming = naming
            self.isRecovery = isRecovery
        }

        package var author: Device { replica.device }

        /// The fact that this draft becomes behind `facts`.
        package func fact(behind facts: [Fact]) -> Fact {
            var counter = 0
            var counters = Counters()
            for fact in facts where fact.replica == replica { counter = fact.counter + 1 }
            if naming != .nothing || kind == .acknowledge, kind != .write {
                for id in past where kind == .acknowledge || facts[id].author == target {
                    let invented = naming == .invented && facts[id].author == author ? 9 : 0
                    let held = facts[id].counter + (naming == .oneLess ? 0 : 1) + invented
                    if held > counters[facts[id].replica] { counters[facts[id].replica] = held }
                }
            }
            return Fact(
                id: facts.count, replica: replica, counter: counter, past: past, kind: kind, target: target, role: role,
                counters: counters, isRecovery: isRecovery)
        }
    }

    /// A list of drafts, each knowing only earlier ones.
    package struct History: Hashable, Sendable {
        package var drafts: [Draft]

        package init(_ drafts: [Draft] = []) { self.drafts = drafts }

        package var facts: [Fact] {
            var facts: [Fact] = []
            for draft in drafts { facts.append(draft.fact(behind: facts)) }
            return facts
        }

        package func law(_ rules: Rules, arrival: [Int]? = nil) -> Law { Law(facts, rules: rules, arrival: arrival) }

        /// Adds to `ids` all that these facts know.
        package func closed(_ ids: FactSet) -> FactSet { ids.reduce(ids) { $0 | drafts[$1].past } }

        package func ids(where condition: (Draft) -> Bool) -> FactSet {
            FactSet(drafts.indices.filter { condition(drafts[$0]) })
        }

        /// Replicas of `device`, ascending.
        package func replicas(of device: Device) -> [Replica] {
            Set(drafts.filter { $0.author == device }.map(\.replica)).sorted()
        }

        /// Every device that a fact names, and the founder.
        package var devices: [Device] { Set([.founder] + drafts.map(\.author) + drafts.compactMap(\.target)).sorted() }

        /// The facts that no other fact knows.
        package var newest: FactSet { drafts.reduce(FactSet.first(drafts.count)) { $0 - $1.past } }

        /// The history without one fact; later facts do not know it, and the counters of its replica close up.
        package func without(_ id: Int) -> History {
            var rest = self
            rest.drafts.remove(at: id)
            let low = FactSet.first(id)
            for index in rest.drafts.indices {
                let past = rest.drafts[index].past
                rest.drafts[index].past = (past & low) | FactSet(bits: ((past - low).bits & ~(1 << UInt64(id))) >> 1)
            }
            return rest
        }

        /// The least history, by leaving out one fact after the other, for which `fails` still holds.
        package func shrunk(_ fails: (History) -> Bool) -> History {
            var least = self
            var id = least.drafts.count - 1
            while id >= 0 {
                let smaller = least.without(id)
                if fails(smaller) {
                    least = smaller
                    id = least.drafts.count
                }
                id -= 1
            }
            return least
        }
    }
}

extension Roles.History: CustomStringConvertible {
    package var description: String {
        let facts = facts
        return facts.map { fact in
            // Only what does not follow from the rest.
            let direct = fact.past.filter { id in !fact.past.contains { facts[$0].past.contains(id) } }
            return "  \(fact)  knows \(direct.map { "#\($0)" }.joined(separator: " "))"
        }.joined(separator: "\n")
    }
}
