extension Roles.Check {
    /// k. A node forgets what all members that it knows have acknowledged. It cannot undo that, so no later fact may.
    ///
    /// Aside from disputes: a device that the node knew to be out, since it was revoked or only void facts had admitted it,
    /// wrote a fact that does not know so, and it counts.
    static let forgotten = Self("k", "nothing that all acknowledged is undone") { test in
        for count in 1...max(1, test.facts.count) where count <= test.facts.count {
            guard test.facts[count - 1].kind == .acknowledge else { continue }
            let then = test.law.state(.first(count))
            let members = test.history.devices.filter { test.law.role(of: $0, then) > .none }
            guard !isDisputed(test, then) else { continue }
            for replica in Set(test.facts[..<count].map(\.replica)).sorted() {
                let stable =
                    members.map { member in
                        test.facts[..<count].filter { $0.kind == .acknowledge && $0.author == member }
                            .map { $0.counters[replica] }.max() ?? 0
                    }.min() ?? 0
                for need in [Roles.Role.writer, .admin] {
                    let counted = min(stable, test.law.end(replica, needs: need, then))
                    guard counted > 0, !test.law.isVoid(replica, counted - 1, needs: need, then),
                        test.law.isVoid(replica, counted - 1, needs: need, test.state)
                    else { continue }
                    return "all acknowledged \(replica):\(counted - 1) after #\(count - 1); now it is void (\(need))"
                }
            }
        }
        return nil
    }

    private static func isDisputed(_ test: Roles.Case, _ then: Roles.State) -> Bool {
        test.facts.contains { fact in
            guard (test.state.ends | test.state.grants).contains(fact.id), !then.known.contains(fact.id) else {
                return false
            }
            let isOut = test.law.role(of: fact.author, then) == .none
            return then.known.contains { id in
                let known = test.facts[id]
                return known.target == fact.author && (known.kind == .revoke || isOut && known.kind != .setRole)
            }
        }
    }

    /// l. An acknowledgement changes nothing about facts that it knows.
    static let unmoved = Self("l", "an acknowledgement of void work brings none of it to life") { test in
        for (fact, before) in test.newest where fact.kind == .acknowledge && before.ends.isSubset(of: fact.past) {
            for device in test.history.devices where test.law.role(of: device, before) != test.role(device) {
                return "\(device) is \(test.role(device)) by \(fact)"
            }
            for replica in test.replicas {
                for need in [Roles.Role.writer, .admin]
                where test.law.end(replica, needs: need, before) != test.end(replica, need) {
                    return "the end of \(replica) moves by \(fact)"
                }
            }
        }
        return nil
    }
}
