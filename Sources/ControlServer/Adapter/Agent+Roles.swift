import ControlAPI
import SyncAgent
import SyncModel
import SyncStore

// What this device may do in the space that it follows.
extension Agent {
    /// Returns the role of this device; nil if it was revoked.
    func ownRole() async throws(ControlError) -> MemberFact.Role? {
        let now = try await controlled { try await snapshot() }
        let members = try await stored { () throws(StoreError) in try store.members() }
        return now.ownRole(members)
    }

    /// Throws `forbidden` unless this device is an admin.
    ///
    /// - Parameter deed: what only admins do, as in "take over what a revoked device wrote".
    func checkAdmin(to deed: String) async throws(ControlError) {
        let role = try await ownRole()
        guard role != .admin else { return }
        let standing = role.map { $0 == .reader ? "a reader" : "a writer" } ?? "no member any more"
        throw ControlError(
            .forbidden, "Only an admin may \(deed); this device is \(standing).",
            hint: "Do it on an admin's device, or make this one an admin there: lanyard devices role \(device.shortID) "
                + "admin. See who is: lanyard devices")
    }
}

extension AgentSnapshot {
    /// Returns the role of this device; nil if it was revoked.
    ///
    /// - Parameter members: all add-facts.
    func ownRole(_ members: MemberFacts) -> MemberFact.Role? {
        if let verdicts = cuts.verdicts { return verdicts.roles[own] }
        // Nothing was said on roles: the founder is an admin, and of the facts about another device the greatest holds.
        if (cuts.founder ?? own) == own { return .admin }
        return members.additions.filter { $0.device == own }.map(\.role).max() ?? .writer
    }
}
