extension CutTable {
    /// Returns the role of a device by the law; nil if it is no member. While the law has nothing to judge, the founder is an
    /// admin, and any other member has the role of the fact about it that holds.
    package func role(of device: DeviceID, in membership: Membership) -> MemberFact.Role? {
        if let verdicts { return verdicts.roles[device] }
        return device == founder(for: membership.own) ? .admin : membership[device]?.fact.role
    }

    /// Returns the founder that a node follows: its own device until it joins.
    package func founder(for own: DeviceID) -> DeviceID { founder ?? own }

    /// The statement that made the recovery key of the space; nil if it has none.
    package var recoveryKeyRow: TrustTable.Row? {
        guard let key = verdicts?.recoveryKey else { return nil }
        return trust.rows.first { row in
            if case .recoveryKey(key) = row.statement.content { row.dot.replica.device == founder } else { false }
        }
    }
}
