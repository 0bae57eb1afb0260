extension Roles {
    /// A revocation on its way through a small mesh, while the revoked device goes on writing.
    ///
    /// The founder revokes T. T hands its changes (a chain, counted from 0) to any member that takes them; an accomplice takes
    /// and hands on anything; a member may die; a newcomer may be admitted meanwhile. Messages are the steps: a step is taken
    /// or not, in every order.
    package struct FinalityWorld: Hashable, Sendable {
        /// How a member that holds the revocation takes changes of the revoked device.
        package enum Intake: String, CaseIterable, Sendable {
            /// From remaining members, as far as any first acknowledgement that it knows covers them. The rule that stands.
            case firstAcknowledgements
            /// As the rule was first written: from each member what that member's own first acknowledgement covers.
            case carriersFirst
            /// Planted: what the carrier's newest acknowledgement covers.
            case carriersNewest
            /// Planted: anything a remaining member holds, until the revocation is final here.
            case untilFinal
            /// Planted: finality does not wait for members that the revocation did not know.
            case forgetsNewcomers
            /// Planted: a newcomer takes changes before it holds the context of its add-fact.
            case newcomerTakesAtOnce
        }

        package struct Setting: Hashable, Sendable {
            package var intake = Intake.firstAcknowledgements
            package var changes = 2
            /// Member 0 revokes. Honest members are 0 ..< honest.
            package var honest = 3
            package var hasAccomplice = false
            package var hasNewcomer = false
            package var mayDie = false

            package init() {}

            var accomplice: Int? { hasAccomplice ? honest : nil }
            var newcomer: Int? { hasNewcomer ? honest + (hasAccomplice ? 1 : 0) : nil }
            var count: Int { honest + (hasAccomplice ? 1 : 0) + (hasNewcomer ? 1 : 0) }
        }

        package struct Member: Hashable, Sendable {
            /// How many of T's changes it holds.
            var holds = 0
            var knowsRevocation = false
            /// What its first acknowledgement that covers the revocation covers of T.
            var first: Int?
            /// Members whose first acknowledgement it knows, as bits.
            var knownFirsts = 0
            var knowsNewcomer = false
            var isDead = false
        }

        package let setting: Setting
        package private(set) var members: [Member]
        /// The end that the revocation names, once it is written.
        package private(set) var named: Int?
        /// The newcomer is admitted by member 1.
        private var isNewcomerAdmitted = false
        /// Whether the newcomer's add-fact knows the revocation.
        private var addKnowsRevocation = false

        package init(_ setting: Setting) {
            self.setting = setting
            members = Array(repeating: Member(), count: setting.count)
        }
    }
}

extension Roles.FinalityWorld {
    // MARK: What a member knows

    /// Members that `member` waits for: all that it knows, except T. The revocation counts as its author's acknowledgement of
    /// the end it names.
    private func remaining(_ member: Int) -> [Int] {
        (0..<setting.count).filter { other in
            guard other == setting.newcomer else { return true }
            // A newcomer whose add-fact knows the revocation holds it before it takes anything.
            return members[member].knowsNewcomer && !addKnowsRevocation && setting.intake != .forgetsNewcomers
        }
    }

    /// True if every first acknowledgement is known: nothing of T's is taken any more that is not covered.
    package func isFinal(_ member: Int) -> Bool {
        members[member].knowsRevocation
            && remaining(member).allSatisfy { members[member].knownFirsts >> $0 & 1 == 1 }
    }

    /// How far `member` takes T's changes, by what it knows. At finality it never changes again.
    package func limit(_ member: Int) -> Int {
        let firsts = (0..<setting.count).filter { members[member].knownFirsts >> $0 & 1 == 1 }
        return max(named ?? 0, firsts.compactMap { members[$0].first }.max() ?? 0)
    }

    private func takes(_ member: Int, from carrier: Int) -> Bool {
        let next = members[member].holds
        guard members[carrier].holds > next else { return false }
        guard members[member].knowsRevocation, member != setting.accomplice else { return mayBegin(member) }
        let knowsFirst = members[member].knownFirsts >> carrier & 1 == 1
        switch setting.intake {
        case .firstAcknowledgements, .forgetsNewcomers, .newcomerTakesAtOnce: return next < limit(member)
        case .carriersFirst: return knowsFirst && next < members[carrier].first ?? 0
        case .carriersNewest: return knowsFirst && next < members[carrier].holds
        case .untilFinal: return !isFinal(member)
        }
    }

    /// A newcomer takes nothing before it holds the context of its add-fact.
    private func mayBegin(_ member: Int) -> Bool {
        member != setting.newcomer || !addKnowsRevocation || members[member].knowsRevocation
            || setting.intake == .newcomerTakesAtOnce
    }

    // MARK: Steps

    /// Every world that one step leads to.
    package var steps: [Self] {
        var worlds: [Self] = []
        func add(_ change: (inout Self) -> Void) {
            var next = self
            change(&next)
            if next != self { worlds.append(next) }
        }
        for member in 0..<setting.count where isActive(member) {
            let isBad = member == setting.accomplice
            // T hands over its next change.
            if members[member].holds < setting.changes, isBad || !members[member].knowsRevocation,
                mayBegin(member)
            {
                add { $0.members[member].holds += 1 }
            }
            if members[member].knowsRevocation, members[member].first == nil {
                add { $0.acknowledge(member) }
            }
            for other in 0..<setting.count where other != member && isActive(other) {
                add { $0.tell(member, by: other) }
                if takes(member, from: other) { add { $0.members[member].holds += 1 } }
            }
            if setting.mayDie, !isBad, !members.contains(where: \.isDead) { add { $0.members[member].isDead = true } }
        }
        if named == nil, isActive(0) {
            add {
                $0.named = members[0].holds
                $0.members[0].knowsRevocation = true
            }
        }
        if let newcomer = setting.newcomer, !isNewcomerAdmitted, isActive(1) {
            add {
                $0.isNewcomerAdmitted = true
                $0.addKnowsRevocation = members[1].knowsRevocation
                $0.members[1].knowsNewcomer = true
                $0.members[newcomer].knowsNewcomer = true
            }
        }
        return worlds
    }

    private func isActive(_ member: Int) -> Bool {
        !members[member].isDead && (member != setting.newcomer || isNewcomerAdmitted)
    }

    private mutating func acknowledge(_ member: Int) {
        members[member].first = members[member].holds
        members[member].knownFirsts |= 1 << member
    }

    /// Facts and acknowledgements travel apart from changes, before everything, with all that they know.
    private mutating func tell(_ member: Int, by other: Int) {
        members[member].knowsRevocation = members[member].knowsRevocation || members[other].knowsRevocation
        members[member].knownFirsts |= members[other].knownFirsts
        members[member].knowsNewcomer = members[member].knowsNewcomer || members[other].knowsNewcomer
    }

    // MARK: Invariants

    /// Returns what is broken in this world; nil if nothing is.
    package func fault(isQuiet: Bool) -> String? {
        let honest = (0..<setting.count).filter { $0 != setting.accomplice }
        let finals = honest.filter { isFinal($0) }
        for member in finals {
            if let more = honest.first(where: { members[$0].holds > limit(member) }) {
                return "final for \(member) at \(limit(member)), and \(more) holds \(members[more].holds)"
            }
            if let other = finals.first(where: { limit($0) != limit(member) }) {
                return "final for \(member) at \(limit(member)), for \(other) at \(limit(other))"
            }
        }
        guard isQuiet, named != nil else { return nil }
        let living = honest.filter { isActive($0) }
        // A member that is dead was not heard: a retirement stops waiting for it. All others come to one result.
        let holds = Set(living.map { members[$0].holds })
        if holds.count > 1 { return "all is delivered, and members hold \(living.map { members[$0].holds })" }
        // An accomplice that acknowledges nothing delays finality until it is revoked, too.
        if members.allSatisfy({ !$0.isDead && $0.first != nil }), let open = living.first(where: { !isFinal($0) }) {
            return "all is delivered, and it is not final for \(open)"
        }
        return nil
    }

    /// Visits every world that `setting` leads to.
    /// - Returns: the number of worlds, and the first fault with the worlds that lead to it.
    package static func explore(_ setting: Setting) -> (worlds: Int, fault: String?, trace: [Self]) {
        let first = Self(setting)
        var cameFrom: [UInt64: UInt64] = [first.packed: first.packed]
        var queue = [first.packed]
        var next = 0
        while next < queue.count {
            let world = Self(setting, packed: queue[next])
            next += 1
            let steps = world.steps
            if let fault = world.fault(isQuiet: steps.allSatisfy(world.isUnheard)) {
                var trace = [world.packed]
                while let before = cameFrom[trace[0]], before != trace[0] { trace.insert(before, at: 0) }
                return (cameFrom.count, fault, trace.map { Self(setting, packed: $0) })
            }
            for step in steps {
                let packed = step.packed
                guard cameFrom[packed] == nil else { continue }
                cameFrom[packed] = world.packed
                queue.append(packed)
            }
        }
        return (cameFrom.count, nil, [])
    }

    /// True if no honest member notices the step: an accomplice takes something for itself, or a member dies.
    private func isUnheard(_ step: Self) -> Bool {
        guard step.named == named, step.isNewcomerAdmitted == isNewcomerAdmitted else { return false }
        return members.indices.allSatisfy { index in
            index == setting.accomplice || step.members[index].isDead != members[index].isDead
                || step.members[index] == members[index]
        }
    }

    // MARK: Bytes

    /// The world in 64 bits: there are many.
    private var packed: UInt64 {
        var bits: UInt64 = 0
        func put(_ value: Int, _ count: UInt64) { bits = bits << count | UInt64(value) }
        for member in members {
            put(member.holds, 2)
            put(member.knowsRevocation ? 1 : 0, 1)
            put(member.first.map { $0 + 1 } ?? 0, 2)
            put(member.knownFirsts, 4)
            put(member.knowsNewcomer ? 1 : 0, 1)
            put(member.isDead ? 1 : 0, 1)
        }
        put(named.map { $0 + 1 } ?? 0, 2)
        put(isNewcomerAdmitted ? 1 : 0, 1)
        put(addKnowsRevocation ? 1 : 0, 1)
        return bits
    }

    private init(_ setting: Setting, packed: UInt64) {
        self.init(setting)
        var bits = packed
        func take(_ count: UInt64) -> Int {
            defer { bits >>= count }
            return Int(bits & (1 << count - 1))
        }
        addKnowsRevocation = take(1) == 1
        isNewcomerAdmitted = take(1) == 1
        let end = take(2)
        named = end == 0 ? nil : end - 1
        for index in members.indices.reversed() {
            members[index].isDead = take(1) == 1
            members[index].knowsNewcomer = take(1) == 1
            members[index].knownFirsts = take(4)
            let first = take(2)
            members[index].first = first == 0 ? nil : first - 1
            members[index].knowsRevocation = take(1) == 1
            members[index].holds = take(2)
        }
    }
}

extension Roles.FinalityWorld: CustomStringConvertible {
    package var description: String {
        let parts = members.enumerated().map { index, member in
            let name = index == setting.accomplice ? "X" : index == setting.newcomer ? "N" : "\(index)"
            let first = member.first.map { " first \($0)" } ?? ""
            let knows = member.knowsRevocation ? " revoked" : ""
            let firsts = (0..<setting.count).filter { member.knownFirsts >> $0 & 1 == 1 }
            return "\(name): holds \(member.holds)\(knows)\(first) knows \(firsts)\(member.isDead ? " dead" : "")"
        }
        return parts.joined(separator: " · ")
    }
}
