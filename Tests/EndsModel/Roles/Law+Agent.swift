extension Roles.Law {
    // Lines 5 to 8, as the agent follows them.
    /// The least set of grants that holds what it allows. Whatever it gains only allows more, so any order of visits does.
    func closure(_ known: FactSet, _ ends: FactSet) -> FactSet {
        let all = known & facts(.add, .readmit, .setRole)
        var grants = all & recovery
        var waiting = inCanonicalOrder(all - recovery).filter { facts[$0].kind == .add || may(facts[$0]) }
        var grows = true
        while grows {
            grows = false
            for id in waiting where counts(facts[id], known, ends, grants) {
                grants.insert(id)
                grows = true
            }
            waiting.removeAll { grants.contains($0) }
        }
        return grants
    }

    // Lines 7 and 8.
    private func counts(_ fact: Fact, _ known: FactSet, _ ends: FactSet, _ grants: FactSet) -> Bool {
        let seen = fact.kind == .add ? grants : grants & fact.past
        guard isFounder(fact.author) || greatest(fact.author, seen) >= fact.needed else { return false }
        return rules.bug == .accompliceCounts
            || fact.counter < end(fact.replica, needs: fact.needed, known, ends, grants)
    }

    /// The greatest role that a fact in `grants` gives `device`; none if none of them admits it.
    private func greatest(_ device: Device, _ grants: FactSet) -> Role {
        guard !(grants & facts(.add, .readmit, about: device)).isEmpty else { return .none }
        return (grants & (about[device] ?? FactSet())).reduce(.none) { max($0, facts[$1].role) }
    }

    // Line 9, as the agent follows it.
    /// True if `replica` is of a device that no add made a writer, and was begun before a role fact or a re-admission did.
    func isReaderWork(_ replica: Replica, _ needs: Role, _ grants: FactSet) -> Bool {
        if rules.bug == .readersWrite { return false }
        let device = replica.device
        let admissions = grants & facts(.add, about: device)
        guard !isFounder(device), !admissions.contains(where: { facts[$0].role >= .writer }) else { return false }
        return !(grants & facts(.readmit, .setRole, about: device)).contains { id in
            facts[id].role >= needs && begins(replica, behind: facts[id])
        }
    }
}
