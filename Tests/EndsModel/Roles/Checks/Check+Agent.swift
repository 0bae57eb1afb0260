extension Roles.Check {
    /// m. Among honest authors an end that the agent names takes nothing that the end's author held.
    ///
    /// What a fact may void is the work of its target, of those that only the target let in, and no more.
    static let kept = Self("m", "what the author of an end holds stays, if all are honest") { test in
        guard test.rules.isAgent else { return nil }
        guard test.facts.allSatisfy({ $0.isRecovery || test.law.isWritable($0) }) else { return nil }
        for fact in test.facts where !fact.isRecovery && test.law.isVoid(fact, test.state) {
            let chain = admitters(of: fact, test)
            let isNamed = test.facts.contains { end in
                end.target.map(chain.contains) == true && [.revoke, .setRole, .readmit].contains(end.kind)
                    && !end.past.contains(fact.id) && !fact.past.contains(end.id)
            }
            if !isNamed { return "\(fact) is void, and every end of \(chain.sorted()) knows it" }
        }
        return nil
    }

    /// The author of `fact`, those that gave it a role as far as it knows, those that gave them one, and so on.
    private static func admitters(of fact: Fact, _ test: Roles.Case) -> Set<Device> {
        var chain: Set<Device> = [fact.author]
        var grows = true
        while grows {
            grows = false
            for id in fact.past where test.facts[id].target.map(chain.contains) == true {
                if chain.insert(test.facts[id].author).inserted { grows = true }
            }
        }
        return chain
    }

    /// n. Whoever is in was let in below an end, by somebody who was, and so on from the founder.
    static let letIn = Self("n", "nobody is in by facts beyond an end") { test in
        guard test.rules.isAgent else { return nil }
        var inside: Set<Device> = [.founder]
        var grows = true
        while grows {
            grows = false
            for fact in test.facts where [.add, .readmit].contains(fact.kind) {
                let isCounted = fact.isRecovery || inside.contains(fact.author) && !test.law.isVoid(fact, test.state)
                if isCounted, inside.insert(fact.target!).inserted { grows = true }
            }
        }
        let stranger = test.history.devices.first { test.role($0) > .none && !inside.contains($0) }
        return stranger.map { "\($0) is \(test.role($0)), and nobody let it in" }
    }

    /// p. A reader that writes all the same has no work, also when it is a writer later.
    static let readers = Self("p", "what a reader wrote does not count") { test in
        guard test.rules.isAgent else { return nil }
        for work in test.facts where work.kind == .write && work.author != .founder {
            let isWriter = test.state.grants.contains { id in
                let fact = test.facts[id]
                return fact.target == work.author && fact.role >= .writer
                    && (fact.kind == .add || work.past.contains(id))
            }
            if !isWriter, !test.law.isVoid(work, test.state) { return "\(work) counts, by a reader" }
        }
        return nil
    }
}
