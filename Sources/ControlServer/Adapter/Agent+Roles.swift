import ControlAPI
import SyncAgent
import SyncModel

// What this device may do in the space that it follows.
extension Agent {
    /// Throws `forbidden` unless this device is an admin.
    ///
    /// - Parameter deed: what only admins do, as in "take over what a revoked device wrote".
    func checkAdmin(to deed: String) async throws(ControlError) {
        let now = try await controlled { try await snapshot() }
        let role = now.isRevoked ? nil : now.role(of: now.own)
        guard role != .admin else { return }
        let standing = role.map { Role($0).withArticle } ?? "no member any more"
        throw ControlError(
            .forbidden, "Only an admin may \(deed); this device is \(standing).",
            hint: "Do it on an admin's device, or make this one an admin there: lanyard devices role \(device.shortID) "
                + "admin. See who is: lanyard devices")
    }
}
