package import SyncModel

/// The answer whether a fact of the log of trust holds now, on this node.
package enum TrustEffect: Sendable, Hashable {
    case holds
    case void(Reason)

    /// The reason why a fact does not hold. The raw value is part of the control API.
    package enum Reason: String, Sendable, CaseIterable {
        /// The author is no member here, or not yet.
        case waiting
        /// The device did not bind the signing key.
        case notBound
        /// A device cannot admit itself.
        case ofItself
        /// The fact lies beyond the end of its author's history, or its author had seen more than it lets count.
        case beyondEnd
        /// The device was retired, by a member that had not seen this fact or in spite of it.
        case retired
        /// A revocation keeps the device out: its own, or one that made void what had admitted it.
        case revoked
        /// Another fact gives the device another role.
        case otherRole
        /// The device was admitted again by a member that knew of it.
        case returned
        /// The author of the retirement was retired itself, and that one holds.
        case overruled
        /// A revocation of versions that gave revocations no effect (`CutFact.hasEffect`).
        case noEffect
        /// The author was no admin, or what it said is void by the recovery key.
        case notAllowed
        /// The history that it stood in was taken back.
        case takenBack
        /// This node decided otherwise later.
        case undone
    }
}

extension TrustRecord {
    /// The members, ends and blocks by which a node judges some records. What a table of many retirements says of a device is
    /// looked up once.
    package struct Judgement: Sendable {
        fileprivate let membership: Membership
        fileprivate let cuts: CutTable
        fileprivate let blocked: Set<DeviceID>
        /// By the dot of the addition.
        fileprivate let returns: [Dot: [CutTable.Return]]
        /// The retirements that hold of the devices of the records.
        private var cutsByDevice: [DeviceID: [CutTable.Cut]] = [:]

        package init(
            of records: [TrustRecord], membership: Membership, cuts: CutTable, blocked: [DeviceID]
        ) {
            self.membership = membership
            self.cuts = cuts
            self.blocked = Set(blocked)
            returns = Dictionary(grouping: cuts.returns, by: \.addition)
            guard !cuts.isEmpty else { return }
            for device in Set(records.map(\.fact.device)) { cutsByDevice[device] = cuts.cuts(of: device) }
        }

        fileprivate func cuts(of device: DeviceID) -> [CutTable.Cut] { cutsByDevice[device] ?? [] }
    }

    package func effect(_ now: Judgement) -> TrustEffect {
        if isGone { return .void(.takenBack) }
        switch fact.kind {
        case .admission: return admissionEffect(now)
        case .retirement: return cutEffect(now)
        case .revocation, .role, .readmission, .recoveryKey: return statementEffect(now)
        case .block, .unblock:
            return isNewest && now.blocked.contains(fact.device) == (fact.kind == .block) ? .holds : .void(.undone)
        }
    }

    /// True if the fact admits a device in spite of a retirement of which its author knew.
    package func isReturn(_ now: Judgement) -> Bool {
        fact.admission?.isReturn ?? false
            || fact.kind == .admission && now.cuts(of: fact.device).contains { isReturn(from: $0, now) }
    }

    private func isReturn(from cut: CutTable.Cut, _ now: Judgement) -> Bool {
        guard let dot = fact.dot, let returns = now.returns[dot] else { return false }
        return returns.contains { $0.cut == cut.dot && $0.device == fact.device }
    }

    private func admissionEffect(_ now: Judgement) -> TrustEffect {
        if fact.admission?.isBound == false { return .void(.notBound) }
        if fact.author == fact.device { return .void(.ofItself) }
        if let dot = fact.dot, now.cuts.isVoid(dot) { return .void(.beyondEnd) }
        if now.membership[fact.author] == nil { return .void(.waiting) }
        if now.cuts.isBarred(fact.device) { return .void(.revoked) }
        if now.cuts(of: fact.device).contains(where: { !isReturn(from: $0, now) }) { return .void(.retired) }
        guard let role = fact.admission?.role, let member = now.membership[fact.device] else { return .holds }
        return member.fact.role == role ? .holds : .void(.otherRole)
    }

    private func statementEffect(_ now: Judgement) -> TrustEffect {
        guard let dot = fact.dot, fact.statement != nil else { return .void(.noEffect) }
        guard let verdicts = now.cuts.verdicts, let row = now.cuts.trust.row(at: dot) else { return .void(.waiting) }
        if case .recoveryKey(let key) = row.statement.content {
            return key == now.cuts.recoveryKey ? .holds : .void(.notAllowed)
        }
        guard verdicts.counting.contains(dot) else { return .void(.notAllowed) }
        if fact.kind == .revocation { return now.cuts.isRevoked(fact.device) ? .holds : .void(.returned) }
        return verdicts.roles[fact.device] == fact.statement?.role ? .holds : .void(.otherRole)
    }

    private func cutEffect(_ now: Judgement) -> TrustEffect {
        guard let cut = now.cuts.cuts.first(where: { $0.dot == fact.dot }) else {
            return .void(now.membership[fact.author] == nil ? .waiting : .beyondEnd)
        }
        guard now.cuts(of: fact.device).contains(cut) else { return .void(.overruled) }
        return now.cuts.cuts(holdingAway: fact.device).contains(cut) ? .holds : .void(.returned)
    }
}
