extension Roles {
    /// A history with the verdicts of another model: one line of a fixture, nested arrays of integers (which are JSON).
    ///
    /// `[facts, roles, ends, counting ends, counting grants, may, void]`. A fact is `[device, replica number, counter, kind,
    /// target, role, recovery, past, counters]`, with -1 for no target; counters are `[device, number, counter]`. Ends are
    /// `[device, number, end for writers, end for admins]`, with -1 for no end.
    package struct Record: Sendable {
        package let facts: [Fact]
        package let roles: [Role]
        package let ends: [(replica: Replica, writer: Int, admin: Int)]
        package let countingEnds: FactSet
        package let countingGrants: FactSet
        package let may: [Bool]
        package let void: [Bool]

        /// Nil if the line is no such record.
        package init?(line: some StringProtocol) {
            guard let parts = Nested(line)?.list, parts.count == 7, let facts = parts[0].list else { return nil }
            var read: [Fact] = []
            for fact in facts {
                guard let fields = fact.list, fields.count == 9, let kind = Fact.Kind(rawValue: fields[3].number),
                    let role = Role(rawValue: fields[5].number)
                else { return nil }
                var counters = Counters()
                for entry in fields[8].rows { counters[Replica(Device(entry[0]), entry[1])] = entry[2] }
                read.append(
                    Fact(
                        id: read.count, replica: Replica(Device(fields[0].number), fields[1].number),
                        counter: fields[2].number, past: FactSet(fields[7].numbers), kind: kind,
                        target: fields[4].number < 0 ? nil : Device(fields[4].number), role: role, counters: counters,
                        isRecovery: fields[6].number == 1))
            }
            self.facts = read
            roles = parts[1].numbers.compactMap(Role.init)
            ends = parts[2].rows.map { row in
                let (writer, admin) = (row[2] < 0 ? Roles.noEnd : row[2], row[3] < 0 ? Roles.noEnd : row[3])
                return (Replica(Device(row[0]), row[1]), writer, admin)
            }
            countingEnds = FactSet(parts[3].numbers)
            countingGrants = FactSet(parts[4].numbers)
            may = parts[5].numbers.map { $0 == 1 }
            void = parts[6].numbers.map { $0 == 1 }
        }

        /// The first difference between the record and this model; nil if they agree.
        package func difference(_ rules: Rules) -> String? {
            let law = Law(facts, rules: rules)
            let state = law.state
            for (index, role) in roles.enumerated() where law.role(of: Device(index), state) != role {
                return "\(Device(index)) is \(law.role(of: Device(index), state)), recorded \(role)"
            }
            for entry in ends {
                for (need, end) in [(Role.writer, entry.writer), (.admin, entry.admin)] {
                    let own = law.end(entry.replica, needs: need, state)
                    if own != end { return "\(entry.replica) ends for \(need) at \(own), recorded \(end)" }
                }
            }
            if state.ends != countingEnds { return "ends \(Array(state.ends)), recorded \(Array(countingEnds))" }
            if state.grants != countingGrants {
                return "grants \(Array(state.grants)), recorded \(Array(countingGrants))"
            }
            for fact in facts where fact.kind != .acknowledge && law.may(fact) != may[fact.id] {
                return "may(\(fact)) differs"
            }
            for fact in facts where law.isVoid(fact, state) != void[fact.id] { return "void(\(fact)) differs" }
            return nil
        }
    }
}
