extension Roles {
    /// Members, roles and ends at one causally closed set of facts.
    package struct State: Hashable, Sendable {
        /// P: the set.
        package let known: FactSet
        /// R: the revocations and role facts that count as ends.
        package let ends: FactSet
        /// G: the adds, re-admissions and role facts that count as grants.
        package let grants: FactSet
    }

    /// The counter of a replica that has no end.
    package static let noEnd = Int.max

    /// Judges facts, by lines 1 to 12 of the rules.
    ///
    /// Line 1 asks for the state of a strictly smaller set, so it ends. States are kept; only sets matter, so the order in
    /// which facts arrived does not.
    package final class Law {
        package let rules: Rules
        /// The founder has an implicit add as an admin. Founding another space gives no role here.
        package let founder: Device
        package private(set) var facts: [Fact] = []
        /// Indexes over `facts`: they make set operations of what the rules say of "all f about x with …".
        private var ofKind = [FactSet](repeating: FactSet(), count: Fact.Kind.allCases.count)
        private(set) var about: [Device: FactSet] = [:]
        private var by: [Device: FactSet] = [:]
        private(set) var recovery = FactSet()
        private(set) var firstContexts: [Replica: FactSet] = [:]
        /// The states of sets whose greatest id is the index, so that `removeLast` forgets exactly those that it must.
        private var states: [[FactSet: State]] = []
        /// Breaks ties among concurrent grants in line 6; it must not matter. Ids by default.
        let arrival: [Int]?

        package init(
            _ facts: [Fact] = [], rules: Rules = .standing, founder: Device = .founder, arrival: [Int]? = nil
        ) {
            self.rules = rules
            self.founder = founder
            self.arrival = arrival
            for fact in facts { append(fact) }
        }

        package func append(_ fact: Fact) {
            precondition(fact.id == facts.count && fact.id < 64, "fact \(fact.id) is out of turn")
            facts.append(fact)
            states.append([:])
            ofKind[fact.kind.rawValue].insert(fact.id)
            if let target = fact.target { about[target, default: FactSet()].insert(fact.id) }
            by[fact.author, default: FactSet()].insert(fact.id)
            if fact.isRecovery { recovery.insert(fact.id) }
            if fact.counter == 0 { firstContexts[fact.replica] = fact.past }
        }

        package func removeLast() {
            let fact = facts.removeLast()
            states.removeLast()
            ofKind[fact.kind.rawValue].remove(fact.id)
            if let target = fact.target { about[target]?.remove(fact.id) }
            by[fact.author]?.remove(fact.id)
            recovery.remove(fact.id)
            if fact.counter == 0 { firstContexts[fact.replica] = nil }
        }

        package var all: FactSet { .first(facts.count) }

        func facts(_ kinds: Fact.Kind..., about device: Device? = nil) -> FactSet {
            var set = FactSet()
            for kind in kinds { set = set | ofKind[kind.rawValue] }
            if let device { set = set & (about[device] ?? FactSet()) }
            return set
        }

        /// The state at `known`, which must be causally closed.
        package func state(_ known: FactSet) -> State {
            guard let last = known.last else { return State(known: known, ends: FactSet(), grants: FactSet()) }
            if let state = states[last][known] { return state }
            let state = computeState(known)
            states[last][known] = state
            return state
        }

        /// The state at everything.
        package var state: State { state(all) }
    }
}

extension Roles.Law {
    package typealias Fact = Roles.Fact
    package typealias FactSet = Roles.FactSet
    package typealias State = Roles.State
    package typealias Device = Roles.Device
    package typealias Replica = Roles.Replica
    package typealias Role = Roles.Role

    // Line 1.
    /// True if the recovery key signed `fact`, or its author had the needed role in its own past and `fact` was not void
    /// there.
    package func may(_ fact: Fact) -> Bool {
        if fact.isRecovery { return true }
        let before = state(fact.past)
        guard role(of: fact.author, before) >= fact.needed else { return false }
        if rules.bug == .voidFactsMay { return true }
        return !isVoid(fact.replica, fact.counter, needs: fact.needed, before)
    }

    private func computeState(_ known: FactSet) -> State {
        // Line 2. A role fact is an end for what needs more than its role.
        var ends = FactSet((known & facts(.revoke, .setRole, .readmit)).filter { may(facts[$0]) })
        // Lines 3 and 4.
        if rules.bug != .recoveryIsEqual, !(known & recovery).isEmpty {
            ends = withoutOutranked(ends, known)
            ends = withoutEndedByRecovery(ends, known)
        }
        if rules.bug != nil { ends = withPlantedBug(ends, known) }
        // Lines 5 to 8.
        return State(known: known, ends: ends, grants: grants(known, ends))
    }

    // Line 3.
    /// Without the facts that a recovery fact about the same device did not know. A recovery role fact removes no revocation;
    /// a recovery re-admission does.
    private func withoutOutranked(_ ends: FactSet, _ known: FactSet) -> FactSet {
        FactSet(
            ends.filter { id in
                let fact = facts[id]
                return fact.isRecovery
                    || !(known & recovery & (about[fact.target!] ?? FactSet())).contains { key in
                        !fact.past.contains(key) && !(fact.kind == .revoke && facts[key].kind == .setRole)
                    }
            })
    }

    // Line 4.
    /// Without the facts that recovery alone makes void: beyond its ends, or by an author that is no admin by what its ends
    /// leave of the grants. For a revocation, recovery's role facts about the same device are no ends.
    private func withoutEndedByRecovery(_ ends: FactSet, _ known: FactSet) -> FactSet {
        let byRecovery = ends & recovery
        let left = grants(known, byRecovery)
        return FactSet(
            ends.filter { id in
                let fact = facts[id]
                if fact.isRecovery { return true }
                let spared = fact.kind == .revoke ? byRecovery & facts(.setRole, about: fact.target) : FactSet()
                if rules.loweringsRemoveNoRevocation, !spared.isEmpty {
                    let rest = byRecovery - spared
                    return !isVoidByRecovery(fact, known, rest, grants(known, rest))
                }
                return !isVoidByRecovery(fact, known, byRecovery, left)
            })
    }

    /// `left` is H: the grants that recovery's ends leave.
    private func isVoidByRecovery(_ fact: Fact, _ known: FactSet, _ ends: FactSet, _ left: FactSet) -> Bool {
        if fact.counter >= end(fact.replica, needs: .admin, known, ends, left) { return true }
        return !isFounder(fact.author) && role(of: fact.author, FactSet(), left & fact.past) < .admin
    }

    // Lines 5 to 8.
    /// G: the adds, re-admissions and role facts that count if `ends` are the ends.
    private func grants(_ known: FactSet, _ ends: FactSet) -> FactSet {
        if rules.isAgent { return closure(known, ends) }
        var grants = FactSet()
        for id in inCanonicalOrder(known & facts(.add, .readmit, .setRole, .yield)) {
            let fact = facts[id]
            if fact.isRecovery {
                grants.insert(id)
                continue
            }
            // Line 7.
            guard may(fact) else { continue }
            if rules.bug != .accompliceCounts,
                fact.counter >= end(fact.replica, needs: fact.needed, known, ends, grants)
            {
                continue
            }
            // Line 8.
            if isFounder(fact.author) || role(of: fact.author, FactSet(), grants & fact.past) >= fact.needed {
                grants.insert(id)
            }
        }
        return grants
    }

    /// The past comes first. Among concurrent facts any order does.
    func inCanonicalOrder(_ set: FactSet) -> [Int] {
        guard let arrival else { return Array(set) }
        return set.sorted {
            (facts[$0].past.count, arrival[$0], $0) < (facts[$1].past.count, arrival[$1], $1)
        }
    }

    func isFounder(_ device: Device) -> Bool { device == founder || rules.bug == .foundersKeepPower }

    // Line 9.
    /// The end of `replica` for operations that need the role `needs`.
    package func end(_ replica: Replica, needs: Role, _ state: State) -> Int {
        end(replica, needs: needs, state.known, state.ends, state.grants)
    }

    func end(
        _ replica: Replica, needs: Role, _ known: FactSet, _ ends: FactSet, _ grants: FactSet
    ) -> Int {
        if rules.isAgent, needs >= .writer, isReaderWork(replica, needs, grants) { return 0 }
        var least = Roles.noEnd
        for id in ends & (about[replica.device] ?? FactSet()) {
            let fact = facts[id]
            if fact.kind != .revoke, fact.role >= needs, rules.bug != .loweringEndsAll { continue }
            if isExempt(replica, fact, needs: needs, grants) { continue }
            let named = fact.counters[replica]
            if rules.bug == .skipsStrictEnd, named == 0 { continue }
            least = min(least, max(named, rules.bug == .noFloor ? 0 : acknowledged(replica, for: fact, known)))
        }
        return least
    }

    /// How far `replica` is acknowledged, by what is shown, so that no end that `fact` causes lies below: by its author; for
    /// a recovery fact also by all other members that it knows, since the key may be used on a device that acknowledged
    /// nothing.
    package func acknowledged(_ replica: Replica, for fact: Fact, _ known: FactSet) -> Int {
        if rules.isAgent { return held(replica, fact.past) }
        let own = acknowledged(replica, by: fact.author, at: fact.past, for: fact, known)
        guard rules.newcomersInherit, fact.isRecovery else { return own }
        return max(own, acknowledgedByOthers(replica, than: fact.author, at: fact.past, for: fact, known))
    }

    /// The least acknowledgement of the members at `past` but `device`, on which the key was used.
    private func acknowledgedByOthers(
        _ replica: Replica, than device: Device, at past: FactSet, for fact: Fact, _ known: FactSet
    ) -> Int {
        let before = state(past)
        // A member that the key revoked is not waited for, whether this use of the key knew that or not.
        let revoked = known & recovery & facts(.revoke)
        let members = devices.filter { other in
            other != device && role(of: other, before) > .none && (revoked & (about[other] ?? FactSet())).isEmpty
        }
        return members.map { acknowledged(replica, by: $0, at: past, for: fact, known) }.min() ?? 0
    }

    /// A newcomer has the acknowledgements of the members that admitted it, of those that admitted them, and so on, as far as
    /// the author of `fact` held the work. Those that the key admitted have what the key itself had.
    private func acknowledged(
        _ replica: Replica, by device: Device, at past: FactSet, for fact: Fact, _ known: FactSet
    ) -> Int {
        let own = shown(by: device, replica, for: fact, known)
        guard rules.newcomersInherit else { return own }
        var inherited = 0
        for admission in admissions(of: device, at: past) {
            inherited = max(inherited, shown(by: admission.author, replica, for: fact, known))
            guard admission.isRecovery, rules.newcomersInheritFromAll else { continue }
            let byOthers = acknowledgedByOthers(
                replica, than: admission.author, at: admission.past, for: fact, known)
            inherited = max(inherited, byOthers)
        }
        return max(own, min(inherited, held(replica, fact.past)))
    }

    /// The facts that admitted the device, those that admitted their authors, and so on.
    private func admissions(of device: Device, at past: FactSet) -> [Fact] {
        let all = facts(.add, .readmit) & state(past).grants
        var found = all & (about[device] ?? FactSet())
        var before = FactSet()
        while rules.newcomersInheritFromAll, found != before {
            let authors = (found - before).map { facts[$0].author }
            before = found
            for author in authors { found = found | all & (about[author] ?? FactSet()) }
        }
        return found.map { facts[$0] }
    }

    /// An acknowledgement that knows the fact does not count: its author judged the work by the fact already.
    private func shown(by device: Device, _ replica: Replica, for fact: Fact, _ known: FactSet) -> Int {
        var greatest = 0
        for id in known & facts(.acknowledge) & (by[device] ?? FactSet()) {
            if rules.ignoresKnowingAcknowledgements, facts[id].past.contains(fact.id) { continue }
            greatest = max(greatest, facts[id].counters[replica])
        }
        return greatest
    }

    /// How much of `replica` a device holds that holds `known`.
    package func held(_ replica: Replica, _ known: FactSet) -> Int {
        (known & (by[replica.device] ?? FactSet())).reduce(0) {
            facts[$1].replica == replica ? max($0, facts[$1].counter + 1) : $0
        }
    }

    /// Every device that a fact names.
    package var devices: [Device] { Set([founder] + by.keys + about.keys).sorted() }

    // Line 10.
    /// True if a re-admission that counts takes `replica` out of reach of `fact`: the device began it knowing the
    /// re-admission, which knows `fact`.
    private func isExempt(_ replica: Replica, _ fact: Fact, needs: Role, _ grants: FactSet) -> Bool {
        let kinds = fact.kind == .revoke ? facts(.readmit) : facts(.readmit, .setRole)
        return (grants & kinds & (about[replica.device] ?? FactSet())).contains { id in
            let back = facts[id]
            guard back.past.contains(fact.id) || rules.bug == .readmitsUnknowing else { return false }
            if fact.kind != .revoke, back.role < needs { return false }
            return begins(replica, behind: back)
        }
    }

    /// True if the first operation of `replica` knows `fact`, or is the fact itself, by recovery.
    func begins(_ replica: Replica, behind fact: Fact) -> Bool {
        // A replica that is not begun yet will know everything.
        guard let first = firstContexts[replica] else { return true }
        return first.contains(fact.id) || fact.isRecovery && fact.replica == replica && fact.counter == 0
    }

    // Line 11.
    package func role(of device: Device, _ state: State) -> Role { role(of: device, state.ends, state.grants) }

    private func role(of device: Device, _ ends: FactSet, _ grants: FactSet) -> Role {
        let aboutDevice = about[device] ?? FactSet()
        let admissions = grants & facts(.add, .readmit) & aboutDevice
        if admissions.isEmpty, !isFounder(device) { return .none }
        // A revocation holds until a re-admission knows it.
        let back = grants & facts(.readmit) & aboutDevice
        let revocations = ends & facts(.revoke) & aboutDevice
        let holds = revocations.contains { id in
            !back.contains { facts[$0].past.contains(id) || rules.bug == .readmitsUnknowing }
        }
        if holds { return .none }
        // The newest role facts; a recovery fact, also a revocation, hides those that do not know it.
        var changes = grants & facts(.readmit, .setRole) & aboutDevice
        var top = changes & recovery
        if rules.recoveryRevocationsHide { top = top | revocations & recovery }
        if rules.bug == .recoveryIsEqual { top = FactSet() }
        changes = FactSet(changes.filter { recovery.contains($0) || top.isSubset(of: facts[$0].past) })
        let newest = changes.filter { id in !changes.contains { facts[$0].past.contains(id) } }
        // Without one the greatest add holds; the founder has an implicit one.
        var role = newest.map { facts[$0].role }.min()
        if role == nil {
            let adds = admissions.map { facts[$0].role } + (isFounder(device) ? [.admin] : [])
            role = rules.bug == .leastAddHolds ? adds.min() : adds.max()
        }
        // A role fact that is an end and no grant lowers, and raises nothing.
        let loose = (ends & facts(.readmit, .setRole) & aboutDevice) - grants
        for id in loose where !changes.contains(where: { facts[$0].past.contains(id) }) {
            role = min(role!, facts[id].role)
        }
        return role!
    }

    // Line 12.
    /// True if an operation with this dot has no effect. Ends of retirements and forks are other models' matter: the least
    /// end holds.
    package func isVoid(_ replica: Replica, _ counter: Int, needs: Role, _ state: State) -> Bool {
        let device = replica.device
        if !isFounder(device), (state.grants & facts(.add, .readmit, about: device)).isEmpty { return true }
        return counter >= end(replica, needs: needs, state)
    }

    /// True if the operation or fact has no effect at `state`.
    package func isVoid(_ fact: Fact, _ state: State) -> Bool {
        isVoid(fact.replica, fact.counter, needs: fact.needed, state)
    }
}

extension Roles.Law {
    private func withPlantedBug(_ ends: FactSet, _ known: FactSet) -> FactSet {
        switch rules.bug {
        case .elderWins:
            return FactSet(
                ends.filter { id in
                    !ends.contains { other in
                        facts[other].target == facts[id].author && facts[other].author < facts[id].author
                            && !facts[id].past.contains(other) && !facts[other].past.contains(id)
                    }
                })
        case .firstHeardWins:
            var kept = FactSet()
            for id in ends.sorted(by: { (arrival?[$0] ?? $0) < (arrival?[$1] ?? $1) })
            where facts[id].counter < end(facts[id].replica, needs: .admin, known, kept, FactSet()) {
                kept.insert(id)
            }
            return kept
        case nil, .leastAddHolds, .recoveryIsEqual, .accompliceCounts, .skipsStrictEnd, .readmitsUnknowing,
            .loweringEndsAll, .voidFactsMay, .noFloor, .foundersKeepPower, .homesMix, .adminEndsKey, .lastYieldHolds,
            .readersWrite:
            return ends
        }
    }
}
