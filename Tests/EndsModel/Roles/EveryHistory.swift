extension Roles {
    /// Every history of some free facts behind two adds, each once.
    ///
    /// F founded the space and admitted A and T as admins, which all know. A is honest, T is a thief, X its accomplice. Facts
    /// that do not know each other commute, so a history is visited only in its least order: a fact comes behind all that
    /// it knows, and a fact with a greater key never stands directly before others that do not know it.
    package struct EveryHistory {
        package let rules: Rules
        package let letters: [Letter]
        private var law: Law
        private var history: History
        private var keys: [Key] = []
        private var first = 0
        package private(set) var counts: [Int] = []

        /// What an author may say; with the past it makes a fact.
        package struct Letter: Sendable {
            let author: Device
            let kind: Fact.Kind
            let target: Device?
            let role: Role
            let naming: Draft.Naming
            let isRecovery: Bool
        }

        private struct Key: Comparable {
            let letter: Int
            let replica: Int
            let past: UInt64

            static func < (left: Self, right: Self) -> Bool {
                (left.letter, left.replica, left.past) < (right.letter, right.replica, right.past)
            }
        }

        package init(rules: Rules, letters: [Letter] = Self.plain) {
            self.rules = rules
            self.letters = letters
            let founder = Replica(.founder, 1)
            history = History([
                Draft(founder, .add, Device(1), .admin, past: FactSet()),
                Draft(founder, .add, Device(2), .admin, past: .first(1)),
            ])
            law = history.law(rules)
        }

        /// Calls `visit` for each history of up to `depth` free facts, until it returns false.
        ///
        /// The first free fact is one of those from `first` on, so that a long search can go on where another one ended.
        package mutating func visit(depth: Int, from first: Int = 0, _ visit: (Case) -> Bool) {
            self.first = first
            counts = [Int](repeating: 0, count: depth)
            _ = grow(depth: depth, level: 0, visit)
        }

        private mutating func grow(depth: Int, level: Int, _ visit: (Case) -> Bool) -> Bool {
            guard level < depth else { return true }
            let pasts = closedSets()
            for (index, letter) in letters.enumerated() where level > 0 || index >= first {
                for past in pasts {
                    for replica in replicas(letter.author, past) {
                        let key = Key(letter: index, replica: replica.number, past: past.bits)
                        guard isLeastOrder(key, past) else { continue }
                        guard take(letter, replica, past) else { continue }
                        keys.append(key)
                        counts[level] += 1
                        let goesOn =
                            visit(Case(history, rules, seed: UInt64(counts[level]), law: law))
                            && grow(depth: depth, level: level + 1, visit)
                        keys.removeLast()
                        history.drafts.removeLast()
                        law.removeLast()
                        if !goesOn { return false }
                    }
                }
            }
            return true
        }

        /// Causally closed sets that hold the two adds.
        private func closedSets() -> [FactSet] {
            let free = history.drafts.count - 2
            return (0..<(1 << UInt64(free)) as Range<UInt64>).compactMap { bits in
                let set = FactSet(bits: bits << 2 | 3)
                return history.closed(set) == set ? set : nil
            }
        }

        /// The newest replica of the author; a device that was re-admitted may also begin one. A past that leaves out an own
        /// fact has none.
        private func replicas(_ author: Device, _ past: FactSet) -> [Replica] {
            let own = history.ids { $0.author == author }
            guard own.isSubset(of: past) else { return [] }
            guard let newest = history.replicas(of: author).last else { return [Replica(author, 1)] }
            let back =
                past
                & history.ids {
                    $0.target == author && ($0.kind == .readmit || rules.isAgent && $0.kind == .setRole)
                }
            let inNewest = own & history.ids { $0.replica == newest }
            let knowsBack = inNewest.contains { !(history.drafts[$0].past & back).isEmpty }
            return back.isEmpty || knowsBack ? [newest] : [newest, Replica(author, newest.number + 1)]
        }

        private func isLeastOrder(_ key: Key, _ past: FactSet) -> Bool {
            var index = keys.count - 1
            while index >= 0, !past.contains(index + 2) {
                if key < keys[index] { return false }
                index -= 1
            }
            return true
        }

        private mutating func take(_ letter: Letter, _ replica: Replica, _ past: FactSet) -> Bool {
            let draft = Draft(
                replica, letter.kind, letter.target, letter.role, past: past, naming: letter.naming,
                isRecovery: letter.isRecovery)
            let fact = draft.fact(behind: law.facts)
            law.append(fact)
            // A fact that may not counts nowhere; a thief may write beyond its end.
            let isWritten =
                letter.kind == .acknowledge || fact.isRecovery
                || (Check.isThief(letter.author) ? mayMatter(fact) : law.isWritable(fact))
            guard isWritten else {
                law.removeLast()
                return false
            }
            history.drafts.append(draft)
            return true
        }

        private func mayMatter(_ fact: Fact) -> Bool {
            rules.isAgent && [.add, .write].contains(fact.kind) || law.may(fact)
        }
    }
}

extension Roles.EveryHistory {
    package typealias Device = Roles.Device

    /// Adds of X, revocations with both kinds of ends, lowerings, re-admissions, and the key on the founder's device.
    package static let plain: [Letter] = letters(withAcknowledgements: false)
    /// With acknowledgements, and the key on A as well.
    package static let wide: [Letter] = letters(withAcknowledgements: true)

    /// For the rules that the agent follows: readers that become writers, and work. A fact names what its author holds.
    package static let agent: [Letter] = agentLetters(isWide: false)
    /// With a fifth device, Y, and the key on A as well.
    package static let wideAgent: [Letter] = agentLetters(isWide: true)

    private static func agentLetters(isWide: Bool) -> [Letter] {
        let (founder, owner, thief, accomplice, second) = (Device(0), Device(1), Device(2), Device(3), Device(5))
        let first = letters(withAcknowledgements: isWide).filter { $0.naming == .held && $0.kind != .acknowledge }
        func say(
            _ author: Device, _ kind: Roles.Fact.Kind, _ target: Device?, _ role: Roles.Role, byKey: Bool = false
        ) -> Letter {
            Letter(author: author, kind: kind, target: target, role: role, naming: .held, isRecovery: byKey)
        }
        var more = [
            say(founder, .add, accomplice, .reader), say(thief, .add, accomplice, .reader),
            say(owner, .setRole, accomplice, .writer), say(thief, .setRole, accomplice, .admin),
            say(founder, .setRole, thief, .reader), say(owner, .readmit, accomplice, .writer),
            say(founder, .setRole, accomplice, .admin, byKey: true), say(thief, .write, nil, .none),
            say(accomplice, .write, nil, .none),
        ]
        if isWide {
            more += [say(accomplice, .add, second, .admin), say(thief, .add, second, .writer)]
            for target in [founder, owner, accomplice] { more.append(say(second, .revoke, target, .none)) }
            more += [say(second, .add, accomplice, .admin), say(second, .write, nil, .none)]
        }
        return first + more
    }

    private static func letters(withAcknowledgements isWide: Bool) -> [Letter] {
        let (founder, owner, thief, accomplice) = (Device(0), Device(1), Device(2), Device(3))
        var letters: [Letter] = []
        func say(
            _ author: Device, _ kind: Roles.Fact.Kind, _ target: Device?, _ role: Roles.Role = .none,
            _ naming: Roles.Draft.Naming = .held, byKey: Bool = false
        ) {
            letters.append(
                Letter(author: author, kind: kind, target: target, role: role, naming: naming, isRecovery: byKey))
        }
        for author in [founder, owner, thief, accomplice] {
            if author != accomplice { say(author, .add, accomplice, .admin) }
            for target in [founder, owner, thief, accomplice] where target != author {
                say(author, .revoke, target)
                say(author, .revoke, target, .none, .nothing)
            }
            for target in [owner, thief] where target != author {
                say(author, .setRole, target, .writer)
                say(author, .readmit, target, .admin)
            }
            if isWide { say(author, .acknowledge, nil) }
        }
        for device in isWide ? [founder, owner] : [founder] {
            say(device, .revoke, thief, byKey: true)
            say(device, .revoke, thief, .none, .nothing, byKey: true)
            for target in [owner, thief, founder] { say(device, .readmit, target, .admin, byKey: true) }
            say(device, .setRole, thief, .writer, byKey: true)
        }
        return letters
    }
}
