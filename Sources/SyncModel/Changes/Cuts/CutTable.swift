/// All known cuts, with the changes that speak for and against them. The table decides which changes are void.
///
/// It is a function of the *set* of changes, in whatever causal order they arrived. Operations on objects at or beyond a
/// replica's `end` are void. Events, schemas and stream settings there stay: they need nothing that may have been forgotten.
/// An end can fall when a cut arrives, and rise when a change arrives that keeps more (`Witness`). The store then applies
/// again the changes in between. At or beyond a replica's `strictEnd` everything is void.
///
/// Bounds: a row for each cut, and for each author that wrote on what a cut had left behind.
package struct CutTable: Hashable, Sendable {
    package struct Cut: Hashable, Sendable {
        /// The dot of the `cut` operation.
        package let dot: Dot
        package let fact: CutFact
    }

    /// A change whose author did not know of the cut and had seen changes beyond it. So what the author had seen stays.
    package struct Witness: Hashable, Sendable {
        package let cut: Dot
        /// The witness's change, by its first counter.
        package let change: Dot
        /// A replica of the cut device that the witness had seen, up to `next`.
        package let replica: ReplicaID
        package let next: UInt64
    }

    /// "Let in, knowing of the cut": of the cut device, or of one that only what it made void had let in.
    package struct Return: Hashable, Sendable {
        package let cut: Dot
        /// The dot of the `addMember`.
        package let addition: Dot
        /// The device that the addition admits.
        package let device: DeviceID
    }

    /// A history that began behind a return: the cut does not concern it.
    package struct Exemption: Hashable, Sendable {
        package let replica: ReplicaID
        package let reason: Return
    }

    /// The cuts that have effect (`CutFact.hasEffect`), sorted by dot.
    package private(set) var cuts: [Cut] = []
    package private(set) var witnesses: [Witness] = []
    package private(set) var returns: [Return] = []
    package private(set) var exemptions: [Exemption] = []
    /// The void operations that devices have rewritten: per replica under which they were first written, how far.
    package private(set) var rewritten: [Rewriting] = []
    /// The cuts that hold whatever other members write about their authors; sorted.
    package private(set) var settled: [Dot] = []
    /// The statements on roles, and the histories that began behind one.
    package private(set) var trust = TrustTable()
    /// The device whose space this node is in; nil until the store says which.
    package private(set) var founder: DeviceID?
    /// The public recovery key of the space: the one that this node learned of first. It never changes: a thief of the
    /// founder's disk could name another. Nil if there is none.
    package private(set) var recoveryKey: [UInt8]?
    private var space = SpaceID.home
    /// Planted bugs, and the device on which this table is.
    private var planted = PlantedTrust()
    /// Roles, and ends that concern every operation; nil while there is no statement and no add-fact admits a reader. Derived from
    /// the other properties, as `ends` is.
    package private(set) var verdicts: TrustVerdicts?
    /// The strict ends by which a store filled its tables, or that a test gives. Where the law judges they are none.
    package private(set) var strictEnds: [ReplicaID: UInt64] = [:]
    /// The cuts that hold, and how far beyond their own ends histories are kept.
    private var ends = Ends()

    package init() {}

    /// Rows alone: nothing is computed of what follows.
    init(
        cuts: [Cut], witnesses: [Witness], returns: [Return], exemptions: [Exemption], rewritten: [Rewriting],
        settled: [Dot], trust: TrustTable
    ) {
        self.cuts = cuts
        self.witnesses = witnesses
        self.returns = returns
        self.exemptions = exemptions
        self.rewritten = rewritten
        self.settled = settled
        self.trust = trust
    }

    /// True if nothing was retired, and there is no statement on roles.
    package var isEmpty: Bool { cuts.isEmpty && trust.isEmpty }

    /// Returns the table without the other statements, as rows alone.
    package func keepingStatements(_ isKept: (TrustTable.Row) -> Bool) -> CutTable {
        var table = self
        table.trust = trust.keeping(isKept)
        return table
    }

    /// True if no operation can be void. Add-facts alone can end histories: a device that was admitted as a reader writes nothing
    /// that counts.
    package var endsNothing: Bool { isEmpty && verdicts == nil && strictEnds.isEmpty }

    /// Judges roles as nodes do that follow this founder.
    ///
    /// - Parameter recoveryKey: the one that this node knows already.
    package mutating func follow(
        _ founder: DeviceID?, recoveryKey: [UInt8]?, in space: SpaceID, members: MemberFacts
    ) {
        (self.founder, self.recoveryKey, self.space) = (founder, recoveryKey ?? self.recoveryKey, space)
        derive(members)
    }

    /// True if the founder's device named more than one recovery key: its disk may be in other hands.
    package var hasOtherRecoveryKeys: Bool {
        founder.map { founder in trust.recoveryKeys(of: founder).contains { $0 != recoveryKey } } ?? false
    }

    /// Judges roles with planted bugs from now on.
    package mutating func plant(_ faults: TrustFaults, on device: DeviceID?, members: MemberFacts) {
        planted = PlantedTrust(faults: faults, own: device)
        derive(members)
    }

    private func judged(_ additions: [TrustLaw.Addition], by founder: DeviceID) -> TrustVerdicts {
        TrustVerdicts(
            planted.table(trust), additions, founder: founder, key: recoveryKey, space: space, faults: planted.faults)
    }

    private mutating func derive(_ members: MemberFacts) {
        let additions = members.lawAdditions
        if let founder, !trust.isEmpty {
            if recoveryKey == nil, !trust.recoveryKeys(of: founder).isEmpty {
                recoveryKey = judged(additions, by: founder).recoveryKey
            }
            // What has no effect by all that is known had none by what its author knew, and will have none. Any member may write
            // such statements without end. Members that follow another founder judge otherwise, and are told by this one.
            let isShared = members.additions.contains { $0.founder.map { $0 != founder } ?? false }
            if !isShared {
                trust = TrustLaw.withoutIdle(trust, additions, founder: founder, key: recoveryKey, space: space)
            }
        }
        if let founder, !trust.isEmpty || additions.contains(where: { $0.role == .reader }) {
            verdicts = judged(additions, by: founder)
            strictEnds = [:]
        } else {
            verdicts = nil
        }
        if !cuts.isEmpty { ends = Ends(self, members) }
    }

    // MARK: What follows

    /// Returns the counter from which on the replica's operations on objects are void; nil if none are. At most `strictEnd`.
    package func end(of replica: ReplicaID) -> UInt64? {
        ends.end(of: replica, self)
    }

    /// Returns the counter from which on all operations of the replica are void, by a revocation or a lowered role, not only
    /// those on objects; nil if none are.
    package func strictEnd(of replica: ReplicaID) -> UInt64? { verdicts?.strictEnd(of: replica) ?? strictEnds[replica] }

    /// True if everything at this dot is void, see `strictEnd`.
    package func isStrictlyVoid(_ dot: Dot) -> Bool { strictEnd(of: dot.replica).map { dot.counter >= $0 } ?? false }

    /// True if the operation on an object at this dot is void.
    package func isVoid(_ dot: Dot) -> Bool { end(of: dot.replica).map { dot.counter >= $0 } ?? false }

    /// The cuts that keep the device away, by dot: no member that knew of them has admitted the device again.
    package func cuts(holdingAway device: DeviceID) -> [Cut] {
        cuts(of: device).filter { cut in
            !returns.contains { $0.cut == cut.dot && $0.device == device && ends.counts($0.addition, self) }
        }
    }

    /// True if the device may not connect: it was revoked, or every fact that had admitted it is void by a revocation.
    package func isBarred(_ device: DeviceID) -> Bool {
        guard let verdicts else { return false }
        return verdicts.barred.contains(device)
    }

    /// True if no member waits for the device: it was retired, or is barred.
    package func isAway(_ device: DeviceID) -> Bool { isBarred(device) || !cuts(holdingAway: device).isEmpty }

    /// The revocation that keeps the device out; nil if none does.
    package func revocation(of device: DeviceID) -> TrustTable.Row? {
        verdicts?.revocations[device].flatMap(trust.row)
    }

    package func isRevoked(_ device: DeviceID) -> Bool { verdicts?.revocations[device] != nil }

    /// True if the device was told by the statement at this place to delete what it holds, and not admitted again since.
    package func hasWiped(_ device: DeviceID, by dot: Dot) -> Bool {
        guard isRevoked(device), let row = trust.row(at: dot), row.statement.device == device else { return false }
        return row.statement.wipes
            && !trust.rows.contains { back in
                back.statement.device == device && back.statement.isReadmission && back.knows.covers(dot)
            }
    }

    package func isSettled(_ cut: Dot) -> Bool { settled.contains(cut) }

    /// True if another device cuts this cut's author from before the cut. Each change that arrives can alter which of the two
    /// holds.
    package func isDisputed(_ cut: Cut) -> Bool {
        cuts.contains { other in
            isAttacked(cut, by: other)
                && !cuts.contains {
                    settled.contains($0.dot) && isAttacked(other, by: $0) && !settled.contains(other.dot)
                }
        }
    }

    /// True if `cut` would be void if `other` held.
    func isAttacked(_ cut: Cut, by other: Cut) -> Bool {
        other.fact.device == cut.dot.replica.device && !isStrictlyVoid(other.dot)
            && cut.dot.counter >= other.fact.end(of: cut.dot.replica)
            && !exemptions.contains { $0.replica == cut.dot.replica && $0.reason.cut == other.dot }
    }

    /// Devices that are away, sorted.
    package var away: [DeviceID] {
        let retired = ends.concerned(self).filter { !cuts(holdingAway: $0).isEmpty }
        guard let verdicts, !verdicts.barred.isEmpty else { return retired }
        return Set(retired + verdicts.barred).sorted()
    }

    /// Returns all cuts that hold of a device, whether or not it came back since: those that name it, and those that made
    /// void every fact that had admitted it.
    package func cuts(of device: DeviceID) -> [Cut] { cuts.filter { ends.concerns($0, device) } }

    /// The counter up to which a device has rewritten what it had written under a replica; 0 if it has rewritten nothing.
    package func rewritten(of replica: ReplicaID) -> UInt64 {
        rewritten.filter { $0.old.replica == replica }.map { $0.old.counter + $0.count }.max() ?? 0
    }

    // MARK: What changes say

    /// Takes what one change says, when its causal past was taken.
    ///
    /// - Parameters:
    ///   - change: its first counter.
    ///   - context: all that its author had seen of others.
    ///   - operations: those that say something here, with their dots, in their order.
    /// - Returns: whether there is a cut among them: held changes may be witnesses of it.
    package mutating func record(
        _ change: Dot, context: VersionVector, _ operations: [(dot: Dot, says: CutStatement)], members: MemberFacts
    ) -> Bool {
        recordTrust(change, context: context, operations, members: members)
        guard !cuts.isEmpty || operations.contains(where: { $0.says.isAboutCuts }) else { return false }
        let before = self
        var isCut = false
        var hasAddition = false
        for (dot, says) in operations {
            switch says {
            case .cut(let fact):
                guard fact.hasEffect, fact.device != dot.replica.device, isAllowed(fact, context),
                    !cuts.contains(where: { $0.dot == dot })
                else { continue }
                cuts.insert(Cut(dot: dot, fact: fact), at: cuts.firstIndex { dot < $0.dot } ?? cuts.count)
                isCut = true
            case .addition(let admitted):
                let device = admitted.device
                guard device != dot.replica.device else { continue }
                hasAddition = true
                for cut in cuts where Self.knows(cut.dot, dot, context) {
                    returns.append(once: Return(cut: cut.dot, addition: dot, device: device))
                }
            case .rewriting(let mark): rewritten.append(once: mark.rewriting(at: dot))
            case .settled(let cut): keep(settled: cut.dot(by: dot.replica.device))
            case .trust: break
            }
        }
        if change.counter == 0 {
            for reason in returns where context.covers(reason.addition) {
                guard reason.device == change.replica.device else { continue }
                exemptions.append(once: Exemption(replica: change.replica, reason: reason))
            }
        }
        addWitness(change, context)
        if hasAddition || self != before { ends = Ends(self, members) }
        return isCut
    }

    /// Takes what a change says of roles. The end that a statement names may concern the rest of the change.
    private mutating func recordTrust(
        _ change: Dot, context: VersionVector, _ operations: [(dot: Dot, says: CutStatement)], members: MemberFacts
    ) {
        var isNews = false
        for (dot, says) in operations {
            switch says {
            case .addition: isNews = true
            case .trust(let statement):
                if trust.record(statement, at: dot, context: context) { isNews = true }
            case .cut, .rewriting, .settled: break
            }
        }
        if change.counter == 0, !trust.isEmpty, trust.recordStart(of: change.replica, context: context) {
            isNews = true
        }
        if isNews { derive(members) }
    }

    /// Takes a statement of the recovery key that came apart from its history.
    ///
    /// - Returns: whether it is news.
    package mutating func record(_ placed: PlacedStatement, members: MemberFacts) -> Bool {
        guard trust.record(placed.statement, at: placed.dot) else { return false }
        derive(members)
        return true
    }

    /// Takes a change that was held when a cut arrived.
    package mutating func witness(_ change: Dot, context: VersionVector, members: MemberFacts) {
        let before = witnesses.count
        addWitness(change, context)
        if witnesses.count != before { ends = Ends(self, members) }
    }

    /// Takes the strict ends that hold now, in place of those before.
    package mutating func record(strictEnds: [ReplicaID: UInt64], members: MemberFacts) {
        guard strictEnds != self.strictEnds else { return }
        self.strictEnds = strictEnds
        ends = Ends(self, members)
    }

    /// True if such a change would be a witness of anything. The stored changes are read only where this is true.
    package func concerns(_ replica: ReplicaID, context: VersionVector) -> Bool {
        cuts.contains { cut in
            cut.fact.device != replica.device && !beyond(cut, context).isEmpty
        }
    }

    private mutating func addWitness(_ change: Dot, _ context: VersionVector) {
        for cut in cuts
        where cut.fact.device != change.replica.device && !Self.knows(cut.dot, change, context) {
            for entry in beyond(cut, context) {
                keep(Witness(cut: cut.dot, change: change, replica: entry.replica, next: entry.next))
            }
        }
    }

    private mutating func keep(_ witness: Witness) {
        let isNews = witnesses.allSatisfy {
            $0.cut != witness.cut || $0.change.replica != witness.change.replica || $0.replica != witness.replica
                || $0.next < witness.next || $0.change.counter > witness.change.counter
        }
        guard isNews else { return }
        witnesses.append(witness)
        witnesses.sort()
    }

    private mutating func keep(settled cut: Dot) {
        guard !settled.contains(cut) else { return }
        settled.insert(cut, at: settled.firstIndex { cut < $0 } ?? settled.count)
    }

    /// Takes what another node says that it knows. Of changes that only one of the two holds neither has asked the other's
    /// cuts: the caller does (`witness`).
    package mutating func join(_ other: CutTable, members: MemberFacts) {
        for cut in other.cuts where cut.fact.hasEffect && cut.fact.device != cut.dot.replica.device {
            guard !cuts.contains(where: { $0.dot == cut.dot }) else { continue }
            cuts.insert(cut, at: cuts.firstIndex { cut.dot < $0.dot } ?? cuts.count)
        }
        for witness in other.witnesses { keep(witness) }
        for row in other.returns { returns.append(once: row) }
        for row in other.exemptions { exemptions.append(once: row) }
        for row in other.rewritten { rewritten.append(once: row) }
        for cut in other.settled { keep(settled: cut) }
        trust.join(other.trust)
        derive(members)
    }

    /// True if both tables give the same answer for every change that a node with this vector holds.
    package func agrees(with other: CutTable, on vector: VersionVector) -> Bool {
        vector.entries.allSatisfy { entry in
            func isSame(_ one: UInt64?, _ two: UInt64?) -> Bool {
                min(one ?? .max, entry.next) == min(two ?? .max, entry.next)
            }
            return isSame(end(of: entry.replica), other.end(of: entry.replica))
                && isSame(strictEnd(of: entry.replica), other.strictEnd(of: entry.replica))
        }
    }

    private func beyond(_ cut: Cut, _ context: VersionVector) -> [VersionVector.Entry] {
        context.entries.filter { $0.replica.device == cut.fact.device && $0.next > cut.fact.end(of: $0.replica) }
    }

    private static func knows(_ cut: Dot, _ operation: Dot, _ context: VersionVector) -> Bool {
        cut.replica == operation.replica ? cut.counter < operation.counter : context.covers(cut)
    }

    /// True if the author's context lies within the cut's ends. The author of a cut has to count everything it holds of the
    /// device: all that it ever acknowledged lies below.
    private func isAllowed(_ fact: CutFact, _ context: VersionVector) -> Bool {
        context.entries.allSatisfy {
            $0.replica.device != fact.device || fact.end(of: $0.replica) >= $0.next
        }
    }
}

extension CutTable.Witness: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        if left.cut != right.cut { return left.cut < right.cut }
        if left.change != right.change { return left.change < right.change }
        return left.replica < right.replica
    }
}

extension Array where Element: Equatable {
    fileprivate mutating func append(once element: Element) {
        if !contains(element) { append(element) }
    }
}
