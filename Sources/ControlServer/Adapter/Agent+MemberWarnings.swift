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
                message: "\(author) revoked \(device) in the way of an old version, which has no effect.",
                hint: "No released version of Lanyard writes it: look at \(author). "
                    + "To revoke a device: lanyard devices revoke")
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
        return ignored + flooding + later + roleWarnings(now)
    }

    private func roleWarnings(_ now: AgentSnapshot) -> [StatusResponse.Warning] {
        var warnings: [StatusResponse.Warning] = []
        let others = now.otherFollowers
        if !others.isEmpty {
            let names = others.map { now.shownName(of: $0) }.joined(separator: ", ")
            warnings.append(
                .init(
                    code: "two_founders",
                    message: "\(names) came from another mesh and \(others.count == 1 ? "follows" : "follow") another "
                        + "founder. No role can be changed meanwhile.",
                    hint: now.oneFounderHint(others[0])))
        }
        let admins = now.admins
        if admins.count > 1, now.cuts.recoveryKey == nil {
            let place = now.founder == now.own ? "" : now.founder.map { " on \(now.shownName(of: $0))" } ?? ""
            warnings.append(
                .init(
                    code: "no_recovery_key",
                    message:
                        "\(admins.count) devices are admins, and there is no recovery key: each of them, stolen, can "
                        + "revoke the others.",
                    hint: "Make a key\(place) and keep it on paper: "
                        + "lanyard recovery create"))
        }
        if now.cuts.hasOtherRecoveryKeys, let founder = now.founder {
            warnings.append(
                .init(
                    code: "other_recovery_key",
                    message:
                        "\(now.shownName(of: founder)) named another recovery key later, which does not count: its disk "
                        + "may be in other hands.",
                    hint: "Look at that device. If it was stolen: lanyard devices revoke \(now.typedWord(for: founder))"
                ))
        }
        return warnings
    }

    /// Returns the warning of a device that was revoked.
    func revokedWarning(_ now: AgentSnapshot) async throws(ControlError) -> [StatusResponse.Warning] {
        guard now.isRevoked else { return [] }
        return [
            .init(
                code: "revoked",
                message:
                    "This device was revoked\(try await revocationText(now)). No other device has to do with it, and "
                    + "nothing can be written here.",
                hint:
                    "If that is wrong, an admin can admit it again: lanyard devices role \(now.typedWord(for: now.own)) "
                    + "writer")
        ]
    }
}
