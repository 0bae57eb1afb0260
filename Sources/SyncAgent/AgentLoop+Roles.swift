import SyncCore
import SyncModel
import SyncStore

// The place of this device in its space.
extension AgentLoop {
    /// The founder that this device adopted; nil: none, or not yet.
    var adoptedFounder: DeviceID? { (try? store.store.logState().founder) ?? nil }

    /// The founder that this device follows: itself until it joins.
    var founder: DeviceID { adoptedFounder ?? core.membership.own }

    /// The role of this device by the law. While that has nothing to judge, the founder is an admin; the role of any other is
    /// that of the fact about it that holds. A device that was revoked admits none.
    var ownRole: MemberFact.Role {
        let own = core.membership.own
        if let verdicts = core.cuts.verdicts { return verdicts.roles[own] ?? .reader }
        if founder == own { return .admin }
        return core.membership[own]?.fact.role ?? .writer
    }

    /// Throws `AgentError.roleTooGreat` if this device may not admit another one with this role, and `untilPassed` if the membership
    /// would be over (`MemberFact.until`).
    func checkAdmission(as role: MemberFact.Role, until: UInt64?) throws(AgentError) {
        let own = ownRole
        guard own >= .writer, role <= own else { throw .roleTooGreat(role, own: own) }
        guard until.map({ WallClock.milliseconds < WallClock.milliseconds(atSeconds: $0) }) ?? true else {
            throw .untilPassed
        }
    }

    /// Throws as well where the device was revoked and this one, no admin, cannot let it in again.
    func checkAdmission(of device: DeviceID, as role: MemberFact.Role, until: UInt64?) throws(AgentError) {
        try checkAdmission(as: role, until: until)
        if core.cuts.isRevoked(device), ownRole < .admin { throw .revoked(device) }
    }
}
