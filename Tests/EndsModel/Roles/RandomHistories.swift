extension Roles {
    /// Histories by chance: of up to 12 devices, with thieves' stories, rounds of acknowledgements and uses of the key.
    package struct RandomHistories: Sendable {
        package var rules: Rules
        /// Free facts behind the founding ones, at most.
        package var facts: Int
        package var devices: ClosedRange<Int>

        package init(rules: Rules = .standing, facts: Int = 10, devices: ClosedRange<Int> = 4...12) {
            self.rules = rules
            self.facts = facts
            self.devices = devices
        }

        package func history(seed: UInt64) -> History {
            var random = Random(seed: seed)
            var builder = Builder(
                devices: (0..<random.pick(Array(devices))).map { Device($0) }, rules: rules, random: random)
            builder.found()
            builder.grow(by: 1 + builder.random.below(facts))
            return builder.history
        }
    }

    private struct Builder {
        let devices: [Device]
        let rules: Rules
        var random: Random
        var history = History()
        let law: Law
        var prefix = 0
        /// True if thieves write only what counts, too.
        var isHonest = false

        init(devices: [Device], rules: Rules, random: Random) {
            self.devices = devices
            self.rules = rules
            self.random = random
            law = Law([], rules: rules)
        }

        mutating func append(_ draft: Draft) {
            history.drafts.append(draft)
            law.append(draft.fact(behind: law.facts))
        }

        /// The founder admits A and T as admins, most others with roles by chance; some stay outside.
        mutating func found() {
            let replica = Replica(.founder, 1)
            for device in devices.dropFirst()
            where ![3, 5].contains(device.index) && (device.index < 3 || random.chance(70)) {
                let role: Role = device.index < 3 ? .admin : random.pick([.admin, .writer, .writer, .reader])
                append(Draft(replica, .add, device, role, past: .first(history.drafts.count)))
            }
            prefix = history.drafts.count
        }

        mutating func grow(by count: Int) {
            isHonest = rules.isAgent && random.chance(30)
            let isPlot = !isHonest && random.chance(40)
            if isPlot { append(Draft(Replica(Device(2), 1), .add, Device(3), .admin, past: .first(prefix))) }
            var tries = 0
            let goal = min(60, history.drafts.count + count)
            while history.drafts.count < goal, tries < 8 * count {
                tries += 1
                if !isPlot, !rules.isAgent, random.chance(6) {
                    acknowledgeAll(goal)
                } else if let draft = nextDraft(isPlot) {
                    append(draft)
                }
            }
            if isPlot, history.drafts.count < 62 {
                let own = history.ids { $0.author == .founder }
                append(
                    Draft(
                        Replica(.founder, 1), .revoke, Device(2), past: history.closed(own | someFacts(60)),
                        isRecovery: true))
            }
        }

        /// Each member says what it holds: something may be forgotten now.
        mutating func acknowledgeAll(_ goal: Int) {
            let past = FactSet.first(history.drafts.count)
            for device in devices where law.role(of: device, law.state(past)) > .none && history.drafts.count < goal {
                let replica = history.replicas(of: device).last ?? Replica(device, 1)
                append(Draft(replica, .acknowledge, past: past))
            }
        }

        mutating func someFacts(_ percent: Int) -> FactSet {
            FactSet(history.drafts.indices.filter { $0 < prefix || random.chance(percent) })
        }

        mutating func nextDraft(_ isPlot: Bool) -> Draft? {
            let isRecovery = random.chance(18)
            let honest = devices.filter { !Check.isThief($0) }
            var author = isRecovery ? random.pick(honest) : random.pick(devices + [Device(2), Device(2), Device(1)])
            if isPlot, !isRecovery, author.index == 2 { author = Device(3) }
            let isThief = !isHonest && Check.isThief(author)
            let replicas = history.replicas(of: author)
            let replica =
                replicas.isEmpty || random.chance(25) ? Replica(author, replicas.count + 1) : random.pick(replicas)
            let own = history.ids { isThief ? $0.replica == replica : $0.author == author }
            // An honest device goes on with its newest replica.
            if !isThief, let last = replicas.last, replica < last { return nil }
            let past = history.closed(own | someFacts(random.pick([20, 60, 100])))
            var kind = random.pick([Fact.Kind.add, .revoke, .revoke, .revoke, .setRole, .readmit, .write])
            if !isPlot, !rules.isAgent, random.chance(15) { kind = .acknowledge }
            if isRecovery, [.add, .acknowledge, .write].contains(kind) { kind = .readmit }
            let target = random.pick(devices)
            let hasTarget = kind != .acknowledge && kind != .write
            if hasTarget, target == author, !isRecovery { return nil }
            var role: Role = .none
            if kind == .add || kind == .readmit { role = random.pick([.admin, .admin, .writer, .reader]) }
            if kind == .setRole { role = random.pick([.writer, .reader, .admin]) }
            var naming: Draft.Naming = .held
            if kind == .revoke || kind == .setRole { naming = random.pick([.held, .held, .nothing, .oneLess]) }
            if kind == .acknowledge, isThief { naming = random.pick([.held, .invented]) }
            let draft = Draft(
                replica, kind, hasTarget ? target : nil, role, past: past, naming: naming, isRecovery: isRecovery)
            if !isThief, !isRecovery {
                let fact = draft.fact(behind: law.facts)
                law.append(fact)
                let isWritable = law.isWritable(fact)
                law.removeLast()
                guard isWritable else { return nil }
            }
            return draft
        }
    }
}
