package import SyncModel

/// An order of a person about a device's role, on the device that writes the statement.
package struct TrustOrder: Sendable, Hashable {
    package enum Action: Sendable, Hashable {
        case role(DeviceID, MemberFact.Role)
        case readmission(DeviceID, MemberFact.Role)
        case revocation(DeviceID, wipes: Bool)
        /// Makes this the recovery key of the space: a public key, 32 bytes.
        case recoveryKey([UInt8])
    }

    package let action: Action
    /// Nil where the device speaks for itself.
    package let recoveryKey: RecoveryKey?

    package init(_ action: Action, recoveryKey: RecoveryKey? = nil) {
        self.action = action
        self.recoveryKey = recoveryKey
    }

    /// False where this node heard of a statement about the device, or about its own, that the change's context cannot name: what
    /// came apart from its history. Others could not tell that it was known.
    func isInformed(at origin: Origin, on state: LogState) -> Bool {
        if recoveryKey != nil { return true }
        let concerned: [DeviceID?] = [device, origin.dot.replica.device]
        let rows = state.cuts.trust.rows.filter { concerned.contains($0.statement.device) }
        func isNamed(_ dot: Dot) -> Bool { dot.replica == origin.dot.replica || origin.context.covers(dot) }
        return rows.allSatisfy { row in
            isNamed(row.dot)
                || rows.contains {
                    isNamed($0.dot) && $0.statement.device == row.statement.device && $0.knows.covers(row.dot)
                }
        }
    }

    private var device: DeviceID? {
        switch action {
        case .role(let device, _), .readmission(let device, _), .revocation(let device, _): device
        case .recoveryKey: nil
        }
    }

    /// - Parameters:
    ///   - origin: that of its change.
    ///   - sign: signs with the device's key.
    func statement(at origin: Origin, on state: LogState, sign: ([UInt8]) -> [UInt8]) -> TrustStatement {
        let dot = origin.dot
        let content: TrustStatement.Content =
            switch action {
            case .role(let device, let role): .role(device, role, ends: ends(of: device, in: state))
            case .readmission(let device, let role):
                .readmission(device, role, ends: ends(of: device, in: state))
            case .revocation(let device, let wipes):
                .revocation(device, ends: ends(of: device, in: state, isRevoked: true), wipes: wipes)
            case .recoveryKey(let key): .recoveryKey(key)
            }
        var knows = state.cuts.trust.known(with: state.members.additions.map(\.dot))
        if let recoveryKey {
            return TrustStatement(content, by: recoveryKey, knows: knows, at: dot, in: state.space)
        }
        // Others believe in no knowledge that goes beyond the change's context.
        knows = VersionVector(
            knows.entries.map {
                VersionVector.Entry(replica: $0.replica, next: min($0.next, origin.context.next(of: $0.replica)))
            }.filter { $0.next > 0 })
        knows.advance(dot.replica, to: dot.counter)
        return TrustStatement(content, by: .author, knows: knows, at: dot, in: state.space, sign: sign)
    }

    /// Everything held of the device counts. Where the recovery key revokes it, that ends before the first revocation of another
    /// device that it wrote: no revocation by a thief stays.
    private func ends(of device: DeviceID, in state: LogState, isRevoked: Bool = false) -> [TrustStatement.End] {
        let tips = state.tips.lazy.filter { $0.replica.device == device }.map { known in
            var next = known.tip.next
            if isRevoked, recoveryKey != nil {
                for row in state.cuts.trust.rows where row.dot.replica == known.replica && !row.statement.isRecovery {
                    if row.statement.isRevocation { next = min(next, row.dot.counter) }
                }
            }
            return (replica: known.replica, next: next)
        }
        return TrustStatement.ends(of: device, at: tips)
    }
}
