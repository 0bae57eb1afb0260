package import ControlAPI
package import SyncAgent
import SyncCore
import SyncModel
import SyncStore
import SyncTransport

extension Agent {
    /// Returns a ticket that lets one device in, once. Invariant: 1 <= `expiresSeconds` <= 86,400. Throws `forbidden` for a role
    /// above the own, `read_only` on a reader, and `invalid_argument` for a time that is over.
    ///
    /// - Parameter until: the time at which the membership ends by itself.
    package func invite(
        space: String, role: Role, expiresSeconds: Int, until: Timestamp? = nil
    ) async throws(ControlError) -> InviteResponse {
        try checkSpace(space)
        let end = until?.secondsSinceEpoch
        let ticket = try await controlled {
            try await invite(
                role: MemberFact.Role(role), until: end, lifetimeMilliseconds: Int64(expiresSeconds) * 1_000)
        }
        return InviteResponse(
            ticket: ticket.text, expires: Timestamp(millisecondsSinceEpoch: ticket.expiresAtMilliseconds), role: role,
            until: end.map(Timestamp.init(secondsSinceEpoch:)))
    }

    /// Joins the space of the device that made the ticket. Throws `ticket_invalid`, `ticket_expired`, `ticket_used`,
    /// `unreachable`, `version_mismatch`.
    package func join(ticket: String) async throws(ControlError) -> JoinResponse {
        let inviter = try await controlled { try await join(ticket) }
        return JoinResponse(
            device: "\(inviter.deviceID)", space: Self.homeName, role: Role(inviter.grant?.role ?? .writer))
    }

    package func devices(space: String) async throws(ControlError) -> [DeviceEntry] {
        try checkSpace(space)
        let now = try await controlled { try await snapshot() }
        let revocations = now.members.compactMap { member in
            now.cuts.revocation(of: member.device).map { (device: member.device, dot: $0.dot) }
        }
        let (addresses, times, wiped, log) = try await stored { () throws(StoreError) in
            var (times, wiped): ([DeviceID: Timestamp], [DeviceID: Timestamp]) = ([:], [:])
            for (device, dot) in revocations {
                times[device] = try store.trustTimes(at: dot)?.written
                guard let receipt = try store.wipeReceipt(of: device, space: .home),
                    now.cuts.hasWiped(device, by: receipt.statement), let key = now.membership.signingKey(of: device),
                    receipt.isSigned(by: key, of: device, in: .home)
                else { continue }
                wiped[device] = Timestamp(millisecondsSinceEpoch: receipt.milliseconds)
            }
            return (try store.addresses(), times, wiped, try store.logState())
        }
        let seen = lastSeen(now, addresses)
        let revoked = Dictionary(revocations) { first, _ in first }
        return now.members.map { member in
            let peer = now.peers.first { $0.device == member.device }
            let admission = now.membership.admission(of: member.device)
            let departure = now.departures.first { $0.device == member.device }
            return DeviceEntry(
                id: "\(member.device)", name: now.memberName(of: member.device) ?? member.fact.name,
                role: Role(now.role(of: member.device) ?? member.fact.role),
                addedBy: admission.map { "\($0.author)" },
                addedAt: admission.map { Timestamp(millisecondsSinceEpoch: $0.wallMilliseconds) },
                lastSeen: seen[member.device].map(Timestamp.init(millisecondsSinceEpoch:)),
                state: state(of: member.device, now, isConnected: peer?.state == .connected),
                heard: departure.map { $0.heard.map { "\($0)" } },
                waitingFor: departure.map { $0.waitingFor.map { "\($0)" } },
                revokedBy: revoked[member.device].map { "\($0.replica.device)" }, revokedAt: times[member.device],
                wipedAt: wiped[member.device],
                until: log.cuts.until(of: member.device, in: log.members).map(Timestamp.init(secondsSinceEpoch:)))
        }
    }

    private func state(of device: DeviceID, _ now: AgentSnapshot, isConnected: Bool) -> String {
        if device == now.own { return "this" }
        if now.cuts.isBarred(device) { return "revoked" }
        if now.blocked.contains(device) { return "blocked" }
        if now.cuts.isAway(device) { return "retired" }
        return isConnected ? "connected" : "offline"
    }

    /// Retires a member: no other member waits for it any more. `device` is a name, a unique beginning of its id, or the id;
    /// `unknown_device`, `ambiguous_device`, or `forbidden` for this one. A device that was retired before is returned
    /// unchanged.
    package func retire(space: String, device word: String) async throws(ControlError) -> DeviceEntry {
        try checkSpace(space)
        let members = try await devices(space: space)
        let found = try DeviceWord.find(word, in: members)
        guard found.id != "\(device)" else {
            throw ControlError(
                .forbidden, "This is the device you are at; it cannot retire itself.",
                hint: "Retire it from another one.")
        }
        let now = try await controlled { try await snapshot() }
        guard let id = now.members.first(where: { "\($0.device)" == found.id }) else { throw DeviceWord.unknown(word) }
        // If the retirement is not final anywhere, its author may be lost, too: written here once more, it can be finalized
        // here.
        let holding = now.cuts.cuts(holdingAway: id.device).map(\.dot)
        if holding.contains(where: { $0.replica.device == now.own || now.cuts.isSettled($0) }) { return found }
        _ = try await commit([LocalWrite.retire(id.device).once(at: 0)])
        return try DeviceWord.find(found.id, in: try await devices(space: space))
    }

    /// Blocks a device: durable, and on this node only. Named as in `retire`, with the same errors.
    package func block(space: String, device word: String) async throws(ControlError) -> BlockedDevice {
        let found = try await setBlocked(true, space: space, word)
        let others = try await devices(space: space).filter { !["this", "blocked", "revoked"].contains($0.state) }
        return BlockedDevice(device: found, through: others)
    }

    /// Undoes `block`. A device that is not blocked is answered as it is.
    package func unblock(space: String, device word: String) async throws(ControlError) -> DeviceEntry {
        try await setBlocked(false, space: space, word)
    }

    private func setBlocked(
        _ isBlocked: Bool, space: String, _ word: String
    ) async throws(ControlError) -> DeviceEntry {
        let found = try DeviceWord.find(word, in: try await devices(space: space))
        guard found.id != "\(device)" else {
            throw ControlError(
                .forbidden, "This is the device you are at; it cannot block itself.", hint: "Block it on another one.")
        }
        let now = try await controlled { try await snapshot() }
        guard let id = now.members.first(where: { "\($0.device)" == found.id }) else { throw DeviceWord.unknown(word) }
        try await controlled { try await setBlocked(id.device, isBlocked) }
        return try DeviceWord.find(found.id, in: try await devices(space: space))
    }
}
