import ControlAPI
import SyncAgent
import SyncModel

// What `status` says of members that may have turned bad, or that have a later version.
extension Agent {
    func memberWarnings(_ now: AgentSnapshot) -> [StatusResponse.Warning] {
        let ignored = journal.ignoredRevocations.map { revocation in
            let (author, device) = (now.name(of: revocation.author), now.name(of: revocation.device))
            return StatusResponse.Warning(
                code: "revocation_ignored",
                message: "\(author) revoked \(device). Revocations have no effect yet; nothing changed.",
                hint: "This version of Lanyard never writes one: look at \(author). "
                    + "To keep it away from this device: lanyard devices block")
        }
        let flooding = journal.floodingDevices.map { device in
            StatusResponse.Warning(
                code: "too_many_histories",
                message: "\(now.name(of: device)) begins more histories than any device needs; "
                    + "more of them are taken in slowly, or not at all.",
                hint: "Look at that device. To keep it away from this device: lanyard devices block")
        }
        let later = journal.laterAuthors.map { device in
            StatusResponse.Warning(
                code: "later_operations",
                message: "\(now.name(of: device)) writes what this version of Lanyard does not know. "
                    + "It is kept and passed on, and not shown here.",
                hint: "Upgrade Lanyard on this device.")
        }
        return ignored + flooding + later
    }
}
