extension CutTable {
    /// Returns the role of a device by the law; nil if it is no member.
    ///
    /// While the law does not tell, the founder is an admin, and any other member has the role of the fact about it that holds.
    /// It is no admin unless admins said so from the founder on: any member can write a fact that calls an accomplice one.
    package func role(of device: DeviceID, in membership: Membership) -> MemberFact.Role? {
        if let role = verdicts?.roles[device] { return role }
        guard let member = membership[device], !isBarred(device) else { return nil }
        if device == founder { return .admin }
        if member.fact.role < .admin || verdicts == nil && isAdmin(member, in: membership) { return member.fact.role }
        return .writer
    }

    private func isAdmin(_ member: Membership.Member, in membership: Membership) -> Bool {
        var passed: Set<DeviceID> = []
        var next = member
        while next.device != founder {
            guard next.fact.role == .admin, passed.insert(next.device).inserted, let author = next.addedBy,
                let member = membership[author]
            else { return false }
            next = member
        }
        return true
    }

    /// Returns the admins. While the law does not tell, these are the founder and the devices that add-facts from it on call admins.
    package func admins(in members: MemberFacts) -> Set<DeviceID> {
        if let verdicts { return Set(verdicts.roles.filter { $0.value == .admin }.keys) }
        let additions = members.lawAdditions.filter { $0.role == .admin && !$0.isReturn }
        var admins = Set([founder].compactMap(\.self))
        while true {
            let more = additions.filter { admins.contains($0.dot.replica.device) && !admins.contains($0.device) }
            if more.isEmpty { return admins }
            admins.formUnion(more.map(\.device))
        }
    }

    /// Returns the time at which a device's membership ends, in seconds since 1970; nil if it does not end by itself.
    ///
    /// Of several invitations that count the one that lasts longest holds. A re-admission speaks over those that its author
    /// knew, and has no end. The founder's has none either: any writer can write a fact about it.
    package func until(of device: DeviceID, in members: MemberFacts) -> UInt64? {
        guard device != founder else { return nil }
        let back = trust.rows.filter { row in
            row.statement.device == device && row.statement.isReadmission
                && verdicts?.counting.contains(row.dot) ?? false
        }
        let invitations = members.invitations(of: device).filter { invitation in
            verdicts?.admitting.contains(invitation.dot) ?? true
                && !back.contains { $0.knows.covers(invitation.dot) }
        }
        return invitations.allSatisfy { $0.until != nil } ? invitations.compactMap(\.until).max() : nil
    }

    /// Returns the revocations that keep a device out: those that count, and that no re-admission undid.
    package func standingRevocations(of device: DeviceID) -> [TrustTable.Row] {
        let rows = trust.rows.filter { $0.statement.device == device && verdicts?.counting.contains($0.dot) ?? false }
        let back = rows.filter(\.statement.isReadmission)
        return rows.filter { row in
            row.statement.isRevocation && !back.contains { $0.knows.covers(row.dot) }
        }
    }

    /// The statement that made the recovery key of the space; nil if there is none, or it is not known here.
    package var recoveryKeyRow: TrustTable.Row? {
        guard let recoveryKey else { return nil }
        return trust.rows.first { row in
            guard case .recoveryKey(let key) = row.statement.content else { return false }
            return key == recoveryKey && row.dot.replica.device == founder
        }
    }
}
