/// Judges add-facts and statements on roles: which count, which role each device has, where histories end. The numbers of
/// lines are those of the rules in Decisions/36.
///
/// Only sets matter: two nodes that know the same facts, and follow the same founder, come to the same, in whatever order the
/// facts arrived. What a statement's author was allowed to say is judged by the facts that the author knew (a strictly
/// smaller set, so this ends).
package struct TrustLaw {
    package typealias Role = MemberFact.Role

    /// An add-fact.
    package struct Addition {
        package let device: DeviceID
        package let role: Role
        /// See `MemberFact.isReturn`. It connects the device with the founder, and gives nothing.
        package let isReturn: Bool
        package let dot: Dot

        package init(device: DeviceID, role: Role, isReturn: Bool = false, dot: Dot) {
            self.device = device
            self.role = role
            self.isReturn = isReturn
            self.dot = dot
        }

        var author: DeviceID { dot.replica.device }
        /// The role that its author must have.
        var needed: Role { max(.writer, role) }
    }

    /// Members and ends at one set of facts.
    struct State {
        /// The statements that end something (R in the rules), as places in `rows`, ascending.
        fileprivate(set) var ends: Set<Int> = []
        fileprivate(set) var grants = Grants()
    }

    /// The facts that give something (G in the rules), as places in `additions` and in `rows`.
    struct Grants {
        fileprivate(set) var additions: Set<Int> = []
        fileprivate(set) var statements: Set<Int> = []
    }

    /// A set of facts with everything that their authors knew.
    private struct Known {
        let additions: [Int]
        /// Statements in an order in which what an author knew comes first.
        let statements: [Int]
    }

    let founder: DeviceID
    private let faults: TrustFaults
    /// The past comes first; the order of the others does not matter.
    package let rows: [TrustTable.Row]
    let additions: [Addition]
    private let starts: [ReplicaID: [Dot]]
    /// Per row, the number of statements that it knows.
    private let knownCounts: [Int]
    /// Per row, whether the recovery key signed it.
    private let isRecovery: [Bool]
    private let rowsByDevice: [DeviceID: [Int]]
    private let additionsByDevice: [DeviceID: [Int]]
    /// Per row, once asked: whether its author was allowed to say it.
    private var allowed: [Bool?]
    /// The state at all facts.
    private(set) var state = State()
    /// The facts that connect devices with the founder, whatever the roles of their authors and the ends.
    private var connecting = Grants()

    /// - Parameter key: the public recovery key.
    package init(
        _ table: TrustTable, _ additions: [Addition], founder: DeviceID, key: [UInt8]?, space: SpaceID,
        faults: TrustFaults = []
    ) {
        self.founder = founder
        self.faults = faults
        self.additions = additions
        // A member may write statements without end that have no effect. They cost nothing from here on.
        let table = Self.withoutIdle(table, additions, founder: founder, key: key, space: space)
        let knownCounts = Dictionary(
            uniqueKeysWithValues: table.rows.map { row in
                (row.dot, table.rows.count { row.knows.covers($0.dot) })
            })
        rows = table.rows.sorted {
            let (left, right) = (knownCounts[$0.dot] ?? 0, knownCounts[$1.dot] ?? 0)
            return left == right ? $0.dot < $1.dot : left < right
        }
        self.knownCounts = rows.map { knownCounts[$0.dot] ?? 0 }
        starts = Dictionary(grouping: table.starts, by: \.replica).mapValues { $0.map(\.statement) }
        // The others are left out above.
        isRecovery = rows.map(\.statement.isRecovery)
        rowsByDevice = Dictionary(grouping: rows.indices.filter { [rows] in rows[$0].statement.device != nil }) {
            [rows] in rows[$0].statement.device!
        }
        additionsByDevice = Dictionary(grouping: additions.indices) { additions[$0].device }
        allowed = Array(repeating: nil, count: rows.count)
        let all = Known(additions: Array(additions.indices), statements: Array(rows.indices))
        state = computeState(all)
        connecting = connectingFacts()
    }

    /// The facts that the author of a statement knew. Only statements that know less are among them: a peer may
    /// claim rows that know each other.
    private func past(of index: Int) -> Known {
        let row = rows[index]
        return Known(
            additions: additions.indices.filter { row.knows.covers(additions[$0].dot) },
            statements: rows.indices.filter {
                row.knows.covers(rows[$0].dot) && knownCounts[$0] < knownCounts[index]
            })
    }

    private func past(of row: TrustTable.Row, of grants: Grants) -> Grants {
        Grants(
            additions: grants.additions.filter { row.knows.covers(additions[$0].dot) },
            statements: grants.statements.filter { row.knows.covers(rows[$0].dot) })
    }

    private func rows(about device: DeviceID) -> [Int] { rowsByDevice[device] ?? [] }

    // MARK: Lines 1 to 4

    /// Line 1: true if the recovery key signed it, or its author was an admin by what it knew, and not beyond an end there.
    private mutating func may(_ index: Int) -> Bool {
        if rows[index].statement.isRecovery { return isRecovery[index] }
        if let allowed = allowed[index] { return allowed }
        let row = rows[index]
        let before = computeState(past(of: index))
        let may =
            role(of: row.dot.replica.device, before) == .admin
            && !isVoid(row.dot, needs: .admin, before)
        allowed[index] = may
        return may
    }

    /// True, with the planted bug, for a statement of a device about an elder one.
    private func isOfElder(_ index: Int) -> Bool {
        guard faults.contains(.elderWins), !isRecovery[index], let device = rows[index].statement.device else {
            return false
        }
        let author = rows[index].dot.replica.device
        return device == founder || author != founder && device < author
    }

    private mutating func computeState(_ known: Known) -> State {
        // Line 2.
        var ends: Set<Int> = []
        for index in known.statements where rows[index].statement.device != nil && may(index) && !isOfElder(index) {
            ends.insert(index)
        }
        let recovery = known.statements.filter { isRecovery[$0] && rows[$0].statement.device != nil }
        if !recovery.isEmpty {
            // Line 3: without what a recovery statement about the same device did not know. Its role alone removes no
            // revocation.
            ends = ends.filter { index in
                isRecovery[index]
                    || !recovery.contains { key in
                        rows[key].statement.device == rows[index].statement.device
                            && !rows[index].knows.covers(rows[key].dot)
                            && !(rows[index].statement.isRevocation && isRoleFact(key))
                    }
            }
            ends = withoutEndedByRecovery(ends, known)
        }
        return State(ends: ends, grants: grants(known, ends))
    }

    private func connectingFacts() -> Grants {
        var inside: Set<DeviceID> = [founder]
        var connecting = Grants()
        var isMoving = true
        while isMoving {
            isMoving = false
            for (index, addition) in additions.enumerated() where inside.contains(addition.author) {
                if connecting.additions.insert(index).inserted { isMoving = true }
                inside.insert(addition.device)
            }
            for (index, row) in rows.enumerated() {
                guard let device = row.statement.device, row.statement.isReadmission,
                    isRecovery[index] || inside.contains(row.dot.replica.device)
                else { continue }
                if connecting.statements.insert(index).inserted { isMoving = true }
                inside.insert(device)
            }
        }
        return connecting
    }

    private func isRoleFact(_ index: Int) -> Bool {
        if case .role = rows[index].statement.content { true } else { false }
    }

    /// Line 4: without what recovery alone makes void: beyond its ends, or by an author that is no admin by what its ends
    /// leave of the grants.
    private mutating func withoutEndedByRecovery(_ ends: Set<Int>, _ known: Known) -> Set<Int> {
        let byRecovery = ends.filter { isRecovery[$0] }
        let left = grants(known, byRecovery)
        var kept: Set<Int> = []
        for index in ends {
            let row = rows[index]
            if isRecovery[index] {
                kept.insert(index)
                continue
            }
            let spared =
                row.statement.isRevocation
                ? byRecovery.filter { isRoleFact($0) && rows[$0].statement.device == row.statement.device } : []
            let rest = byRecovery.subtracting(spared)
            if !isEndedByRecovery(row, rest, spared.isEmpty ? left : grants(known, rest)) { kept.insert(index) }
        }
        return kept
    }

    /// - Parameter left: the grants that recovery's ends leave (H in the rules).
    private func isEndedByRecovery(_ row: TrustTable.Row, _ ends: Set<Int>, _ left: Grants) -> Bool {
        if row.dot.counter >= end(of: row.dot.replica, needs: .admin, ends, left) { return true }
        let author = row.dot.replica.device
        return author != founder && role(of: author, [], past(of: row, of: left)) != .admin
    }

    // MARK: Lines 5 to 8

    /// The facts that give something if these are the ends. Every condition only becomes true as more is granted, so the order
    /// in which facts are visited does not matter.
    private mutating func grants(_ known: Known, _ ends: Set<Int>) -> Grants {
        var grants = Grants()
        grants.statements.formUnion(known.statements.filter { isRecovery[$0] && rows[$0].statement.role != nil })
        var additions = known.additions.filter { !self.additions[$0].isReturn }
        var statements = known.statements.filter {
            !isRecovery[$0] && rows[$0].statement.role != nil && may($0)
        }
        var isMoving = true
        while isMoving {
            isMoving = false
            additions.removeAll { index in
                let addition = self.additions[index]
                let ends = faults.contains(.countVoidAdditions) ? [] : ends
                guard isGranted(addition.dot, needs: addition.needed, ends, grants, by: grants) else { return false }
                grants.additions.insert(index)
                isMoving = true
                return true
            }
            statements.removeAll { index in
                let past = past(of: rows[index], of: grants)
                guard isGranted(rows[index].dot, needs: .admin, ends, grants, by: past) else { return false }
                grants.statements.insert(index)
                isMoving = true
                return true
            }
        }
        return grants
    }

    /// Lines 7 and 8.
    ///
    /// - Parameter past: what decides on the author's role.
    private func isGranted(
        _ dot: Dot, needs need: Role, _ ends: Set<Int>, _ grants: Grants, by past: Grants
    ) -> Bool {
        let author = dot.replica.device
        guard author == founder || greatestRole(of: author, past).map({ $0 >= need }) ?? false else { return false }
        return dot.counter < end(of: dot.replica, needs: need, ends, grants)
    }

    /// The greatest role that is granted; nil for a device that is not admitted.
    private func greatestRole(of device: DeviceID, _ grants: Grants) -> Role? {
        guard isAdmitted(device, grants) else { return nil }
        let added = (additionsByDevice[device] ?? []).lazy.filter { grants.additions.contains($0) }
        let stated = rows(about: device).lazy.filter { grants.statements.contains($0) }
        return (added.map { additions[$0].role } + stated.compactMap { rows[$0].statement.role }).max()
    }

    // MARK: Lines 9 and 10

    /// The counter from which on what needs the role is void. `UInt64.max` where there is none.
    func end(of replica: ReplicaID, needs need: Role) -> UInt64 {
        end(of: replica, needs: need, state.ends, state.grants)
    }

    /// True if the founder could name a recovery key there: one that was revoked, or is no admin any more, names none beyond its
    /// end. Of an author that knew the key's statement an end before that is a lie, since it held the statement; by such a lie of
    /// a thief a newcomer, which hears of both at once, would never learn of the key.
    func mayName(keyAt dot: Dot) -> Bool {
        !rows(about: founder).contains { index in
            guard state.ends.contains(index), !rows[index].knows.covers(dot) else { return false }
            if let role = rows[index].statement.role, role >= .admin { return false }
            return !isExempt(dot.replica, index, needs: .admin, state.grants)
                && rows[index].end(of: dot.replica) <= dot.counter
        }
    }

    private func end(of replica: ReplicaID, needs need: Role, _ ends: Set<Int>, _ grants: Grants) -> UInt64 {
        var least = statedEnd(of: replica, needs: need, ends, grants)
        // A device that no fact admits as a writer has written nothing before it is made one.
        if least > 0, replica.device != founder, greatestAddition(of: replica.device, grants) ?? .reader < .writer,
            !startsBehindRole(replica, needs: need, grants)
        {
            least = 0
        }
        return least
    }

    private func statedEnd(of replica: ReplicaID, needs need: Role, _ ends: Set<Int>, _ grants: Grants) -> UInt64 {
        var least = UInt64.max
        for index in rows(about: replica.device) where ends.contains(index) {
            if let role = rows[index].statement.role, role >= need { continue }
            if isExempt(replica, index, needs: need, grants) { continue }
            least = min(least, rows[index].end(of: replica))
        }
        return least
    }

    private func greatestAddition(of device: DeviceID, _ grants: Grants) -> Role? {
        (additionsByDevice[device] ?? []).lazy.filter { grants.additions.contains($0) }
            .map { [additions] in additions[$0].role }.max()
    }

    private func startsBehindRole(_ replica: ReplicaID, needs need: Role, _ grants: Grants) -> Bool {
        rows(about: replica.device).contains { index in
            grants.statements.contains(index) && rows[index].statement.role ?? .reader >= need
                && starts(replica, behind: index)
        }
    }

    /// True if a statement that counts takes the replica out of reach of an end: its device began it knowing the statement,
    /// which knows the end.
    private func isExempt(_ replica: ReplicaID, _ end: Int, needs need: Role, _ grants: Grants) -> Bool {
        let isRevocation = rows[end].statement.isRevocation
        return rows(about: replica.device).contains { index in
            guard grants.statements.contains(index), let role = rows[index].statement.role,
                isRevocation ? rows[index].statement.isReadmission : role >= need,
                rows[index].knows.covers(rows[end].dot)
            else { return false }
            return starts(replica, behind: index)
        }
    }

    /// True if the replica's first change knew the statement, or is the recovery key's statement itself.
    private func starts(_ replica: ReplicaID, behind index: Int) -> Bool {
        let dot = rows[index].dot
        return starts[replica]?.contains(dot) ?? false
            || isRecovery[index] && dot.replica == replica && dot.counter == 0
    }

    // MARK: Lines 11 and 12

    /// Nil for a device that is no member.
    package func role(of device: DeviceID) -> Role? { role(of: device, state) }

    private func role(of device: DeviceID, _ state: State) -> Role? { role(of: device, state.ends, state.grants) }

    private func role(of device: DeviceID, _ ends: Set<Int>, _ grants: Grants) -> Role? {
        guard isAdmitted(device, grants), revocation(of: device, ends, grants) == nil else { return nil }
        let about = rows(about: device)
        // The newest role facts; a recovery statement, also a revocation, hides those that do not know it.
        let top = about.filter {
            isRecovery[$0]
                && (grants.statements.contains($0) || ends.contains($0) && rows[$0].statement.isRevocation)
        }
        let changes = about.filter { index in
            grants.statements.contains(index)
                && (isRecovery[index] || top.allSatisfy { rows[index].knows.covers(rows[$0].dot) })
        }
        let newest = changes.filter { index in !changes.contains { rows[$0].knows.covers(rows[index].dot) } }
        var role = newest.compactMap { rows[$0].statement.role }.min()
        if role == nil, device == founder { role = .admin }
        if role == nil {
            let readmissions = about.filter { grants.statements.contains($0) && rows[$0].statement.isReadmission }
            role = (readmissions.map { rows[$0].statement.role } + [greatestAddition(of: device, grants)])
                .compactMap(\.self).max()
        }
        // Statements that are ends and no grants lower, and raise nothing.
        for index in about where ends.contains(index) && !grants.statements.contains(index) {
            guard let lowered = rows[index].statement.role,
                !changes.contains(where: { rows[$0].knows.covers(rows[index].dot) })
            else { continue }
            role = min(role ?? lowered, lowered)
        }
        return role
    }

    private func isAdmitted(_ device: DeviceID, _ grants: Grants) -> Bool {
        device == founder || greatestAddition(of: device, grants) != nil
            || rows(about: device).contains { grants.statements.contains($0) && rows[$0].statement.isReadmission }
    }

    /// The revocation that keeps the device out: no re-admission that counts knows it. The first by dot of those that wipe, or
    /// of all: the device is told of this one.
    func revocation(of device: DeviceID) -> Dot? { revocation(of: device, state.ends, state.grants) }

    private func revocation(of device: DeviceID, _ ends: Set<Int>, _ grants: Grants) -> Dot? {
        let about = rows(about: device)
        let open = about.filter { index in
            ends.contains(index) && rows[index].statement.isRevocation
                && !about.contains { back in
                    grants.statements.contains(back) && rows[back].statement.isReadmission
                        && rows[back].knows.covers(rows[index].dot)
                }
        }
        let wiping = open.filter { rows[$0].statement.wipes }
        return (wiping.isEmpty ? open : wiping).map { rows[$0].dot }.min()
    }

    private func isVoid(_ dot: Dot, needs need: Role, _ state: State) -> Bool {
        !isAdmitted(dot.replica.device, state.grants)
            || dot.counter >= end(of: dot.replica, needs: need, state.ends, state.grants)
    }

    /// The counter at which the history ends for what needs a writer; 0 if only facts that do not count
    /// admitted its device.
    package func strictEnd(of replica: ReplicaID) -> UInt64 {
        if isAdmitted(replica.device, state.grants) { return end(of: replica, needs: .writer) }
        if isAdmitted(replica.device, connecting) { return 0 }
        return statedEnd(of: replica, needs: .writer, state.ends, state.grants)
    }

    /// True if a known fact connects the device with the founder, whether or not it counts.
    package func isConnected(_ device: DeviceID) -> Bool { isAdmitted(device, connecting) }

    /// True if the device was revoked, or only facts that do not count admitted it, such as a reader's. A device that no known
    /// fact connects with the founder is not barred: a newcomer learns of its host's admission after its own.
    package func isBarred(_ device: DeviceID) -> Bool {
        revocation(of: device) != nil || isConnected(device) && !isAdmitted(device, state.grants)
    }

    /// True if the statement at this place has effect: it ends something or gives something.
    package func counts(_ index: Int) -> Bool { state.ends.contains(index) || state.grants.statements.contains(index) }
}
