package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// The recovery key of a space.
extension Agent {
    package func recovery(space: String) async throws(ControlError) -> RecoveryState {
        try checkSpace(space)
        return try await recoveryState(try await controlled { try await snapshot() })
    }

    /// Returns a new key, which counts only once it is set: so none is lost on its way to a person. Throws what
    /// `setRecoveryKey` does.
    package func newRecoveryKey(space: String) async throws(ControlError) -> IssuedRecoveryKey {
        try checkSpace(space)
        try await checkFounder(try await controlled { try await snapshot() })
        return IssuedRecoveryKey(key: RecoveryKey().text)
    }

    /// Makes a key the recovery key of the space, for good. The same one again is answered unchanged. Throws
    /// `invalid_argument`, `forbidden` on any device but the founder, `already_exists` if the space has another key.
    package func setRecoveryKey(
        space: String, _ request: RecoveryKeyRequest
    ) async throws(ControlError) -> RecoveryState {
        try checkSpace(space)
        guard let key = try RecoveryKey(given: request.recoveryKey) else {
            throw ControlError(RecoveryKey.TextError.notAKey)
        }
        let now = try await controlled { try await snapshot() }
        if now.cuts.recoveryKey == key.publicKey { return try await recoveryState(now) }
        try await checkFounder(now)
        try await state(.recoveryKey(key.publicKey), nil)
        let after = try await controlled { try await snapshot() }
        guard after.cuts.recoveryKey == key.publicKey else { throw try await alreadyExists(after) }
        return try await recoveryState(after)
    }

    private func checkFounder(_ now: AgentSnapshot) async throws(ControlError) {
        if now.isRevoked { throw try await mayNotWrite(now) }
        if now.cuts.recoveryKey != nil { throw try await alreadyExists(now) }
        guard now.founder == now.own else {
            let name = now.founder.map { ": \(now.shownName(of: $0))" } ?? ", which is not known here yet"
            throw ControlError(
                .forbidden, "Only the founder of the space makes its recovery key\(name).",
                hint: "Type it there: lanyard recovery create")
        }
    }

    private func alreadyExists(_ now: AgentSnapshot) async throws(ControlError) -> ControlError {
        let created = try await recoveryState(now).createdAt
        let time = created.map { " since \(TimeText(now: $0).exact($0).dropLast(3)) UTC" }
        return ControlError(
            .alreadyExists, "This space has a recovery key\(time ?? "") already; it is never changed.",
            hint: "Use the one that was printed then: lanyard recovery use")
    }

    private func recoveryState(_ now: AgentSnapshot) async throws(ControlError) -> RecoveryState {
        let created = try await statedAt(now.cuts.recoveryKeyRow?.dot)
        return RecoveryState(
            exists: now.cuts.recoveryKey != nil, createdAt: created, founder: now.founder.map { "\($0)" })
    }

    /// Returns the time of a statement, by its author's clock; nil if unknown.
    func statedAt(_ dot: Dot?) async throws(ControlError) -> Timestamp? {
        guard let dot else { return nil }
        return try await stored { () throws(StoreError) in try store.trustTimes(at: dot) }?.written
    }
}

extension TrustTimes {
    var written: Timestamp? { wallMilliseconds.map(Timestamp.init(millisecondsSinceEpoch:)) }
}
