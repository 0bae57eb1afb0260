extension Roles.Check {
    /// c. Nobody comes back without a re-admission that knows the revocation, and nothing beyond an end comes to life.
    static let wayBack = Self("c", "a revoked device returns only by a re-admission") { test in
        for (fact, before) in test.newest where !fact.isRecovery && fact.kind != .write {
            for device in test.history.devices where test.law.role(of: device, before) == .none {
                let revocations = before.ends.filter { isRevocation(test.facts[$0], of: device) }
                guard !revocations.isEmpty, test.role(device) > .none else { continue }
                let readmits =
                    fact.kind == .readmit && fact.target == device && revocations.contains { fact.past.contains($0) }
                // An acknowledgement by the author of a revocation raises its end, and what lies below counts again.
                if !readmits, fact.kind != .acknowledge { return "\(device) comes back by \(fact)" }
            }
            guard fact.kind != .acknowledge else { continue }
            for id in before.ends where test.facts[id].kind == .revoke {
                let others = test.facts.filter { $0.author == test.facts[id].target && $0.id != fact.id }
                for replica in Set(others.map(\.replica))
                where !isJudgedByClosure(fact, test) || !test.law.isReaderWork(replica, .writer, before.grants) {
                    let (then, now) = (test.law.end(replica, needs: .writer, before), test.end(replica, .writer))
                    if then < now { return "the end of \(replica) moves from \(then) to \(now) by \(fact)" }
                }
            }
        }
        for id in test.state.ends where !test.facts[id].isRecovery {
            let fact = test.facts[id]
            if test.law.isVoid(fact, test.law.state(fact.past)) { return "\(fact) counts, and is void in its own past" }
        }
        return nil
    }

    private static func isRevocation(_ fact: Fact, of device: Device) -> Bool {
        fact.kind == .revoke && fact.target == device
    }

    /// d. No end lies below what each author of a fact that causes it has shown to hold.
    static let floor = Self("d", "no end lies below a shown acknowledgement of the fact's author") { test in
        for replica in Set(test.facts.map(\.replica)) {
            let causes = test.state.ends.filter { test.facts[$0].target == replica.device }
            guard
                let floor = causes.map({ cause in
                    test.facts.filter { $0.kind == .acknowledge && $0.author == test.facts[cause].author }
                        .filter { !test.rules.ignoresKnowingAcknowledgements || !$0.past.contains(cause) }
                        .map { $0.counters[replica] }.max() ?? 0
                }).min()
            else { continue }
            for need in [Roles.Role.writer, .admin] where test.end(replica, need) < floor {
                return "the end of \(replica) lies below the acknowledgement \(floor)"
            }
        }
        return nil
    }

    /// e. No role above what an author with the right gave; a lowering holds until a known role fact replaces it.
    static let given = Self("e", "no role above what was given") { test in
        let touched = Set(test.facts.filter { $0.kind == .revoke || isLowering($0) }.compactMap(\.target))
        let hasRecovery = test.facts.contains(where: \.isRecovery)
        for device in test.history.devices {
            let given = test.facts.filter { fact in
                fact.target == device && [.add, .readmit, .setRole].contains(fact.kind)
                    && (fact.isRecovery || isJudgedByClosure(fact, test) && test.state.grants.contains(fact.id)
                        || test.law.role(of: fact.author, test.law.state(fact.past)) >= fact.needed)
            }
            let most = (given.map(\.role) + (device == .founder ? [.admin] : [.none])).max()!
            let role = test.role(device)
            if role > most { return "\(device) is \(role), given at most \(most)" }
            guard !hasRecovery else { continue }
            for lowering in test.facts
            where isLowering(lowering) && lowering.target == device && !touched.contains(lowering.author)
                && test.law.may(lowering)
            {
                let replaced = test.facts.contains { fact in
                    [.setRole, .readmit].contains(fact.kind) && fact.target == device && fact.past.contains(lowering.id)
                        && test.law.may(fact) && fact.counter < test.end(fact.replica, .admin)
                }
                if !replaced, role > lowering.role { return "\(device) is \(role) although \(lowering)" }
            }
        }
        return nil
    }

    /// True if the fact needs nothing in its own past: an add, as the agent judges it.
    private static func isJudgedByClosure(_ fact: Fact, _ test: Roles.Case) -> Bool {
        test.rules.isAgent && fact.kind == .add
    }

    private static func isLowering(_ fact: Fact) -> Bool { fact.kind == .setRole && fact.role < .admin }

    /// f. Without recovery and re-admissions every revocation by an admin holds: mutual ones and cycles are all out.
    static let revocations = Self("f", "revocations by admins hold, mutual ones and cycles too") { test in
        guard !test.facts.contains(where: { $0.isRecovery || $0.kind == .readmit }) else { return nil }
        for fact in test.facts where fact.kind == .revoke && test.law.may(fact) && test.role(fact.target!) != .none {
            return "\(fact), and it is \(test.role(fact.target!))"
        }
        return nil
    }

    /// g. An add never lowers; a revocation or lowering never raises; a fact that may not has no effect.
    static let direction = Self("g", "adds never lower, revocations never raise, forbidden facts do nothing") { test in
        for (fact, before) in test.newest where !fact.isRecovery {
            for device in test.history.devices {
                let (then, now) = (test.law.role(of: device, before), test.role(device))
                if fact.kind == .add, now < then { return "\(device) falls from \(then) to \(now) by \(fact)" }
                if [.add, .readmit, .acknowledge].contains(fact.kind) || now <= then { continue }
                // A role fact that knows a lower one raises, where its author counts.
                let raises =
                    fact.kind == .setRole && fact.target == device && fact.counter < test.end(fact.replica, .admin)
                if !raises { return "\(device) rises from \(then) to \(now) by \(fact)" }
            }
            guard fact.kind != .acknowledge, fact.kind == .write || !test.law.may(fact),
                !isJudgedByClosure(fact, test)
            else { continue }
            for device in test.history.devices where test.law.role(of: device, before) != test.role(device) {
                return "\(fact) may not count and changes \(device)"
            }
            for replica in test.replicas where replica != fact.replica {
                for need in [Roles.Role.writer, .admin]
                where test.law.end(replica, needs: need, before) != test.end(replica, need) {
                    return "\(fact) may not count and moves the end of \(replica)"
                }
            }
        }
        return nil
    }

    /// h. A device can use the role that it has.
    static let usable = Self("h", "a device can use the role that it has") { test in
        for device in test.history.devices {
            let role = test.role(device)
            guard role >= .writer else { continue }
            for need in [Roles.Role.writer, .admin] where need <= role {
                if test.law.isVoid(Replica(device, 9), 0, needs: need, test.state) {
                    return "\(device) is \(role), and a replica begun now is void for \(need)s"
                }
            }
            let ended = test.state.ends.contains {
                test.facts[$0].target == device && (test.facts[$0].kind == .revoke || test.facts[$0].role == .reader)
            }
            guard !ended else { continue }
            for replica in Set(test.facts.map(\.replica))
            where replica.device == device && test.end(replica, .writer) < Roles.noEnd
                && !(test.rules.isAgent && test.law.isReaderWork(replica, .writer, test.state.grants))
            {
                return "\(device) was never revoked and is \(role), but \(replica) has an end"
            }
        }
        return nil
    }

    /// i. The newest recovery fact about a device decides what it is.
    static let outranks = Self("i", "recovery outranks concurrent facts") { test in
        for key in test.facts where key.isRecovery {
            let later = test.facts.contains {
                $0.id != key.id && $0.target == key.target && ($0.isRecovery || $0.past.contains(key.id))
            }
            guard !later, let device = key.target else { continue }
            let role = test.role(device)
            switch key.kind {
            case .revoke: if role != .none { return "\(key), and \(device) is \(role)" }
            case .readmit: if role != key.role { return "\(key), and \(device) is \(role)" }
            case .setRole: if role > key.role { return "\(key), and \(device) is \(role)" }
            case .add, .acknowledge, .write, .yield: continue
            }
        }
        return nil
    }

    /// j. A recovery revocation or lowering gives its own target no role.
    static let revives = Self("j", "a recovery lowering revives nobody") { test in
        for (fact, before) in test.newest where fact.isRecovery && [.revoke, .setRole].contains(fact.kind) {
            guard let device = fact.target, test.role(device) > .none, test.law.role(of: device, before) == .none else {
                continue
            }
            // Its lost admin facts may have stood in the way of a re-admission.
            let back = test.state.grants.filter { test.facts[$0].kind == .readmit && test.facts[$0].target == device }
            let wasRevoked = before.ends.contains { id in
                isRevocation(test.facts[id], of: device) && test.role(test.facts[id].author) == .admin
                    && !back.contains { test.facts[$0].past.contains(id) }
            }
            if wasRevoked { return "\(fact) gives \(device) the role \(test.role(device))" }
        }
        return nil
    }
}
