extension Roles.FoundingLaw {
    package typealias Device = Roles.Device
    package typealias FactSet = Roles.FactSet

    /// Returns what is broken; nil if nothing is.
    package func fault() -> String? {
        let all = FactSet.first(foundings.statements.count)
        for device in foundings.devices {
            let founding = founding(of: device, all)
            // No role by founding, by joining or by merging: an admin of this founding gave it, in a fact that names it.
            for other in foundings.devices where other != founding {
                let role = role(other, in: founding, all)
                let given = most(other, in: founding)
                if role > given { return "\(other) is \(role) in the space of \(founding), given \(given)" }
            }
            if founding != device, !isAdmitted(device, in: founding, all) {
                return "\(device) is in the space of \(founding), which did not add it"
            }
        }
        return disagreement(all) ?? lostKey()
    }

    /// The greatest role that an admin of `founding` gave `device`, in statements that name it.
    private func most(_ device: Device, in founding: Device) -> Roles.Role {
        var most = Roles.Role.none
        for statement in foundings.statements where statement.founding == founding {
            let draft = statement.draft
            guard draft.target == device, [.add, .readmit, .setRole].contains(draft.kind), draft.role > most else {
                continue
            }
            let isFounder = draft.author == founding
            let needed = draft.kind == .add ? max(.writer, draft.role) : .admin
            if isFounder || draft.isRecovery || self.most(draft.author, in: founding, below: draft.past) >= needed {
                most = draft.role
            }
        }
        return most
    }

    private func most(_ device: Device, in founding: Device, below past: FactSet) -> Roles.Role {
        past.map { foundings.statements[$0] }.filter { $0.founding == founding && $0.draft.target == device }
            .map(\.draft.role).max() ?? .none
    }

    /// Two devices that every space added alike are in one space, once a founder of the one yielded to the other.
    private func disagreement(_ all: FactSet) -> String? {
        for first in foundings.devices {
            for second in foundings.devices where first < second {
                let places = Set([founding(of: first, all), founding(of: second, all)])
                guard places.count == 2 else { continue }
                let isBoth = foundings.devices.allSatisfy { space in
                    isAdmitted(first, in: space, all) == isAdmitted(second, in: space, all)
                }
                let met = places.allSatisfy { isAdmitted(first, in: $0, all) && isAdmitted(second, in: $0, all) }
                let linked = places.contains { place in places.contains { $0 != place && hasYielded(place, to: $0) } }
                if isBoth, met, linked { return "\(first) and \(second) are in two spaces, \(places.sorted())" }
            }
        }
        return nil
    }

    private func hasYielded(_ old: Device, to new: Device) -> Bool {
        foundings.statements.indices.contains { id in
            let statement = foundings.statements[id]
            return statement.founding == old && statement.newFounding == new && !foundings.withKey.contains(old)
                && statement.draft.author == old
                // A later yield takes its place.
                && !foundings.statements.contains {
                    $0.founding == old && $0.newFounding != nil && $0.draft.past.contains(id)
                }
        }
    }

    /// One use of the key in the founder's space puts it right, whatever admins said before: the founder is an admin of the
    /// space in which it is, and that is its own unless the key itself ended it.
    private func lostKey() -> String? {
        for founder in foundings.withKey.sorted() {
            let keyed = foundings.statements.contains {
                $0.founding == founder && $0.draft.kind == .yield && $0.draft.isRecovery
            }
            guard !keyed else { continue }
            var after = foundings
            let replica = Roles.Replica(founder, 9)
            let others = foundings.devices.filter { $0 != founder }
            for (kind, target, role) in [(Roles.Fact.Kind.readmit, founder, Roles.Role.admin)]
                + others.map({ (.revoke, $0, .none) })
            {
                let past = FactSet.first(after.statements.count)
                after.statements.append(
                    .init(founder, Roles.Draft(replica, kind, target, role, past: past, isRecovery: true)))
            }
            let law = Roles.FoundingLaw(after, rules)
            let all = FactSet.first(after.statements.count)
            let place = law.founding(of: founder, all)
            if place != founder || law.role(founder, in: founder, all) != .admin {
                return "\(founder) used its key, and is \(law.role(founder, in: place, all)) in the space of \(place)"
            }
        }
        return nil
    }
}

extension Roles {
    /// A history of meetings by chance.
    package static func randomFoundings(seed: UInt64, _ rules: Rules) -> Foundings {
        var random = Random(seed: seed)
        var foundings = Foundings(devices: 3 + random.below(3))
        if random.chance(50) { foundings.withKey = [.founder] }
        let count = 2 + random.below(8)
        var tries = 0
        while foundings.statements.count < count, tries < 60 {
            tries += 1
            guard let statement = randomStatement(behind: foundings, &random) else { continue }
            let law = FoundingLaw(foundings, rules)
            let draft = statement.draft
            let needed: Role = draft.kind == .add ? max(.writer, draft.role) : .admin
            // A device says only what counts in what it knows; it may still say it of a space that it has left.
            guard draft.isRecovery || law.role(draft.author, in: statement.founding, draft.past) >= needed else {
                continue
            }
            foundings.statements.append(statement)
        }
        return foundings
    }

    private static func randomStatement(behind foundings: Foundings, _ random: inout Random) -> Foundings.Statement? {
        let author = random.pick(foundings.devices)
        let founding = random.chance(50) ? author : random.pick(foundings.devices)
        var past = FactSet()
        let density = random.pick([20, 60, 100])
        for id in foundings.statements.indices
        where foundings.statements[id].draft.author == author || random.chance(density) { past.insert(id) }
        let replica = Replica(author, 1)
        let known = foundings.closed(past)
        let target = random.pick(foundings.devices)
        guard target != author else { return nil }
        let byKey = foundings.withKey.contains(founding) && author == founding && random.chance(20)
        switch random.below(10) {
        case 0..<6:
            let role = random.pick([Role.admin, .admin, .writer, .reader])
            return .init(founding, Draft(replica, .add, target, role, past: known))
        case 6..<9:
            guard target != founding else { return nil }
            let draft = Draft(replica, .yield, past: known, isRecovery: byKey)
            return .init(founding, draft, newFounding: target)
        case _:
            let naming = random.pick([Draft.Naming.held, .nothing])
            return .init(founding, Draft(replica, .revoke, target, past: known, naming: naming, isRecovery: byKey))
        }
    }

    /// Checks `count` meetings by chance; returns the first fault with the least statements that show it.
    package static func searchFoundings(
        from seed: UInt64, count: Int, _ rules: Rules
    ) -> (fault: String, foundings: Foundings)? {
        for index in 0..<UInt64(count) {
            var foundings = randomFoundings(seed: seed &+ index, rules)
            guard FoundingLaw(foundings, rules).fault() != nil else { continue }
            var id = foundings.statements.count - 1
            while id >= 0 {
                let smaller = foundings.without(id)
                if FoundingLaw(smaller, rules).fault() != nil {
                    foundings = smaller
                    id = foundings.statements.count
                }
                id -= 1
            }
            return (FoundingLaw(foundings, rules).fault() ?? "", foundings)
        }
        return nil
    }
}

extension Roles.Foundings: CustomStringConvertible {
    package var description: String {
        let facts = Roles.History(statements.map(\.draft)).facts
        return "keys: \(withKey.sorted())\n"
            + facts.map { fact in
                let to = statements[fact.id].newFounding.map { " to \($0)" } ?? ""
                return "  in \(statements[fact.id].founding): \(fact)\(to)  knows \(Array(fact.past))"
            }.joined(separator: "\n")
    }
}
