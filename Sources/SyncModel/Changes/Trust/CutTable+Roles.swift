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

    /// The statement that made the recovery key of the space; nil if there is none, or it is not known here.
    package var recoveryKeyRow: TrustTable.Row? {
        guard let recoveryKey else { return nil }
        return trust.rows.first { row in
            guard case .recoveryKey(let key) = row.statement.content else { return false }
            return key == recoveryKey && row.dot.replica.device == founder
        }
    }
}
