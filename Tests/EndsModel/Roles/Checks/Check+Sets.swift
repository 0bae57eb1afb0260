extension Roles.Check {
    typealias Device = Roles.Device
    typealias Replica = Roles.Replica
    typealias Fact = Roles.Fact
    typealias FactSet = Roles.FactSet
    typealias Law = Roles.Law
    typealias Draft = Roles.Draft
    typealias Random = Roles.Random

    /// a. A function of the set: facts that arrive in another order, judged after each, come to the same state.
    static let order = Self("a", "any order of delivery gives one result") { test in
        var random = Random(seed: test.seed)
        for _ in 0..<3 {
            var waiting = Array(0..<test.facts.count)
            var order: [Int] = []
            var held = FactSet()
            while !waiting.isEmpty {
                let id = random.pick(waiting.filter { test.facts[$0].past.isSubset(of: held) })
                waiting.removeAll { $0 == id }
                held.insert(id)
                order.append(id)
            }
            if let difference = difference(test, order) { return difference }
        }
        return nil
    }

    /// Compares with a node that hears the facts in this order.
    static func difference(_ test: Roles.Case, _ order: [Int]) -> String? {
        let ties = (0..<order.count).map { ($0 * 7 + Int(test.seed % 5)) % order.count }
        let law = Law([], rules: test.rules, arrival: ties)
        for fact in test.facts.reordered(order) {
            law.append(fact)
            _ = law.state
        }
        let state = law.state
        func back(_ set: FactSet) -> FactSet { FactSet(set.map { order[$0] }) }
        guard back(state.ends) == test.state.ends, back(state.grants) == test.state.grants else {
            return "heard in the order \(order), other facts count"
        }
        for device in test.history.devices where law.role(of: device, state) != test.role(device) {
            return "heard in the order \(order), \(device) has another role"
        }
        for replica in test.replicas {
            for need in [Roles.Role.writer, .admin]
            where law.end(replica, needs: need, state) != test.end(replica, need) {
                return "heard in the order \(order), \(replica) has another end"
            }
        }
        return nil
    }

    /// Facts of T beyond a recovery revocation of it, and those of accomplices that only such facts admitted. Nil if there are
    /// none, or a re-admission of T makes the question moot.
    private static func voidByRecovery(_ test: Roles.Case) -> FactSet? {
        let facts = test.facts
        let thief = Device(2)
        let keys = facts.filter { $0.isRecovery && $0.kind == .revoke && $0.target == thief }
        guard !keys.isEmpty, !facts.contains(where: { $0.kind == .readmit && $0.target == thief }) else { return nil }
        var void = FactSet(
            facts.filter { fact in
                fact.author == thief && !fact.isRecovery
                    && keys.contains { key in
                        let held = test.rules.isAgent ? test.law.held(fact.replica, key.past) : 0
                        return fact.counter >= max(key.counters[fact.replica], held)
                    }
            }.map(\.id))
        var grows = true
        while grows {
            grows = false
            for device in [Device(3), Device(5)] {
                let admitted = facts.contains {
                    $0.target == device && [.add, .readmit].contains($0.kind) && !void.contains($0.id)
                        && $0.author != device
                }
                guard !admitted else { continue }
                for fact in facts where fact.author == device && !void.contains(fact.id) {
                    void.insert(fact.id)
                    grows = true
                }
            }
        }
        return void.isEmpty ? nil : void
    }

    /// b. Facts that recovery makes void, and those of devices that only such facts admitted, change nothing.
    static let voidFacts = Self("b", "void facts of a thief change nothing for others") { test in
        guard !test.facts.contains(where: { $0.kind == .acknowledge }), let void = voidByRecovery(test) else {
            return nil
        }
        let kept = test.facts.indices.filter { !void.contains($0) }
        let cut = test.facts.reordered(kept)
        let law = Law(cut, rules: test.rules)
        // An honest fact that needed the thief's is judged by the other checks.
        guard cut.allSatisfy({ isThief($0.author) || $0.isRecovery || law.may($0) }) else { return nil }
        let state = law.state
        for device in test.history.devices where !isThief(device) {
            let (with, without) = (test.role(device), law.role(of: device, state))
            if with != without { return "void facts \(Array(void)) make \(device) \(with), not \(without)" }
            for replica in Set(cut.map(\.replica)).sorted() where replica.device == device {
                for need in [Roles.Role.writer, .admin]
                where test.end(replica, need) != law.end(replica, needs: need, state) {
                    return "void facts \(Array(void)) move the end of \(replica)"
                }
            }
        }
        return nil
    }

    /// b2. One use of the key puts it right: the owner is admin, the thieves are out, whatever they add, knowing it or not.
    static let recoveryUse = Self("b2", "no thief wins against the recovery key") { test in
        var random = Random(seed: test.seed)
        var history = test.history
        let owner = Device(random.below(2))
        let replica = Replica(owner, history.replicas(of: owner).count + 1)
        let thieves = history.devices.filter(isThief)
        var steps: [(Fact.Kind, Device, Roles.Role)] = [(.readmit, owner, .admin)]
        steps += thieves.map { (.revoke, $0, .none) }
        for (kind, device, role) in steps {
            let past = FactSet.first(history.drafts.count)
            history.drafts.append(Draft(replica, kind, device, role, past: past, isRecovery: true))
        }
        for _ in 0..<random.below(5) {
            if history.drafts.count < 64 { history.drafts.append(thiefDraft(behind: history, &random)) }
        }
        let law = history.law(test.rules)
        let state = law.state
        let role = law.role(of: owner, state)
        if role != .admin { return "after a use of the key on \(owner) it is \(role):\n\(history)" }
        if law.isVoid(replica, .max - 1, needs: .admin, state) { return "the replica of the key is void:\n\(history)" }
        for thief in history.devices where isThief(thief) && law.role(of: thief, state) != .none {
            return "after a use of the key on \(owner) the thief \(thief) is \(law.role(of: thief, state)):\n\(history)"
        }
        return nil
    }

    /// Anything a thief or an accomplice may write, on an old replica or a new one, knowing much or little.
    static func thiefDraft(behind history: Roles.History, _ random: inout Random) -> Draft {
        let author = Device(random.pick([2, 3, 5]))
        let replicas = history.replicas(of: author)
        let replica = random.pick(replicas + [Replica(author, replicas.count + 1)])
        let density = random.pick([10, 50, 100])
        var past = history.ids { $0.replica == replica }
        for id in history.drafts.indices where id < 2 || random.chance(density) { past.insert(id) }
        let kind = random.pick([Fact.Kind.add, .revoke, .revoke, .setRole, .readmit])
        let target = random.pick(history.devices.filter { $0 != author } + [Device(0)])
        return Draft(
            replica, kind, target, kind == .revoke ? .none : random.pick([.admin, .writer, .reader]),
            past: history.closed(past), naming: random.pick([.held, .nothing]))
    }
}
