package import ControlAPI
package import SyncAgent
import SyncCore
import SyncModel
import SyncStore
import SyncTransport

extension Agent {
    package func invite(space: String, role: Role, expiresSeconds: Int) async throws(ControlError) -> InviteResponse {
        try checkSpace(space)
        guard role == .writer else {
            throw ControlError(
                .invalidArgument, "Only writers can be invited by this version.", hint: "Leave out --role.")
        }
        let ticket = try await controlled { try await invite(lifetimeMilliseconds: Int64(expiresSeconds) * 1_000) }
        return InviteResponse(
            ticket: ticket.text, expires: Timestamp(millisecondsSinceEpoch: ticket.expiresAtMilliseconds))
    }

    package func join(ticket: String) async throws(ControlError) -> JoinResponse {
        let inviter = try await controlled { try await join(ticket) }
        return JoinResponse(device: "\(inviter.deviceID)", space: Self.homeName)
    }

    package func devices(space: String) async throws(ControlError) -> [DeviceEntry] {
        try checkSpace(space)
        let now = try await controlled { try await snapshot() }
        let remembered = try await controlled { try store.addresses() }
        return now.members.map { member in
            let peer = now.peers.first { $0.device == member.device }
            let isOwn = member.device == now.own
            let lastHeard = peer?.lastHeardAt.map { now.wallMilliseconds(at: $0) }
            let lastMet = remembered.filter { $0.device == member.device }.compactMap(\.lastConnectedMilliseconds).max()
            return DeviceEntry(
                id: "\(member.device)", name: isOwn ? now.name : peer?.name ?? member.fact.name,
                role: member.fact.role == .writer ? .writer : .reader, addedBy: member.addedBy.map { "\($0)" },
                addedAt: member.addedBy == nil ? nil : Timestamp(millisecondsSinceEpoch: member.addedAtMilliseconds),
                lastSeen: (lastHeard ?? journal.lastSeen[member.device] ?? lastMet).map(
                    Timestamp.init(millisecondsSinceEpoch:)),
                state: isOwn ? "this" : peer?.state == .connected ? "connected" : "offline")
        }
    }
}
