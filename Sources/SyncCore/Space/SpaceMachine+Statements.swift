import SyncModel

// Statements on roles that travel apart from their histories: to and from devices that have no session.
extension SpaceMachine {
    /// The statements of the recovery key, for the beginning of each session: a device that a thief revoked has no other way to say it.
    /// The newest come first, where not all fit.
    var recoveryStatements: [PlacedStatement] {
        let rows = cuts.trust.rows.filter(\.statement.isRecovery)
        guard !rows.isEmpty else { return [] }
        // One that knows another knows more of them than that does.
        let known = rows.map { row in (row, count: rows.count { row.knows.covers($0.dot) }) }
        return PlacedStatement.fitting(
            known.sorted { $0.count > $1.count }.map { PlacedStatement($0.0) }, upTo: PlacedStatement.byteLimit)
    }

    mutating func handleStatements(
        _ statements: [(device: DeviceID, statement: PlacedStatement)], _ step: inout CoreStep
    ) {
        var news: [PlacedStatement] = []
        for (device, placed) in statements {
            // Signatures are checked last: a peer may send the same statements again and again.
            if cuts.trust.row(at: placed.dot) == nil, !news.contains(placed), isRecovery(placed) { news.append(placed) }
            guard case .revocation(settings.own, _, let wipes) = placed.statement.content, !isUndone(placed),
                isAuthentic(placed)
            else { continue }
            if ownRevocation != placed { step.emit(.report(.ownRevocation(placed, said: device))) }
            ownRevocation = placed
            if wipes { step.emit(.wipe(placed)) }
        }
        if !news.isEmpty, !settings.faults.contains(.ignoreStatements) { step.emit(.takeStatements(news)) }
    }

    /// Forgets what a member told of this device once this node knows better: its author is no admin any more, or a member
    /// that knew of it admitted the device again.
    mutating func reviewOwnRevocation(_ step: inout CoreStep) {
        guard let told = ownRevocation, isUndone(told) || !isAuthentic(told) else { return }
        ownRevocation = nil
        step.emit(.report(.ownRevocationEnded))
    }

    /// True if this node knows that the revocation does not hold. Its signature is good for ever: any member that keeps it could
    /// otherwise have the device delete its data after it was admitted again.
    private func isUndone(_ placed: PlacedStatement) -> Bool {
        if cuts.trust.row(at: placed.dot) != nil, !cuts.isRevoked(settings.own) { return true }
        return cuts.trust.rows.contains { row in
            guard case .readmission(settings.own, _, _) = row.statement.content else { return false }
            let counts = cuts.verdicts.map { $0.counting.contains(row.dot) } ?? false
            return counts && row.knows.covers(placed.dot)
        }
    }

    private func isRecovery(_ placed: PlacedStatement) -> Bool {
        guard placed.statement.isRecovery, let key = cuts.recoveryKey else { return false }
        return placed.statement.isSigned(by: key, at: placed.dot, in: space)
    }

    /// True if the recovery key signed it, or a device that is an admin as far as this node knows. This node may have heard
    /// nothing since it was revoked: it judges by what it holds.
    private func isAuthentic(_ placed: PlacedStatement) -> Bool {
        if placed.statement.isRecovery { return isRecovery(placed) }
        let author = placed.dot.replica.device
        guard author != settings.own, log.role(of: author) == .admin, let key = membership.signingKey(of: author) else {
            return false
        }
        return placed.statement.isSigned(by: key, at: placed.dot, in: space)
    }
}
