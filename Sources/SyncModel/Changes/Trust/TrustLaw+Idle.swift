extension TrustLaw {
    /// Returns the table without the statements that can have no effect: those by devices that no chain of facts makes an
    /// admin, and those that claim to be the recovery key's and are not.
    ///
    /// Every member may write statements, a reader and a revoked device, too. The law takes time that grows faster than their
    /// number, so they are left out in one pass.
    static func withoutIdle(
        _ table: TrustTable, _ additions: [Addition], founder: DeviceID, key: [UInt8]?, space: SpaceID
    ) -> TrustTable {
        var gives: [DeviceID: [DeviceID]] = [:]
        var reached: [DeviceID] = [founder]
        var byKey: Set<Dot> = []
        for addition in additions where addition.role == .admin && !addition.isReturn {
            gives[addition.author, default: []].append(addition.device)
        }
        for row in table.rows {
            let statement = row.statement
            if statement.isRecovery {
                guard let key, statement.isSigned(by: key, at: row.dot, in: space) else { continue }
                byKey.insert(row.dot)
            }
            guard statement.role == .admin, let device = statement.device else { continue }
            if statement.isRecovery {
                reached.append(device)
            } else {
                gives[row.dot.replica.device, default: []].append(device)
            }
        }
        var admins = Set(reached)
        while let device = reached.popLast() {
            for next in gives[device] ?? [] where admins.insert(next).inserted { reached.append(next) }
        }
        return table.keeping { row in
            row.statement.isRecovery ? byKey.contains(row.dot) : admins.contains(row.dot.replica.device)
        }
    }
}
