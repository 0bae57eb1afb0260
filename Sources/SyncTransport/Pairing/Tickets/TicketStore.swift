import Synchronization
package import SyncModel

/// A ticket as its issuer keeps it.
package struct IssuedTicket: Sendable, Equatable {
    package let id: TicketID
    package let secret: [UInt8]
    package let expiresAtMilliseconds: Int64
    /// What the device that joins may do.
    package let role: MemberFact.Role
    /// The one device that joined with it.
    package var usedBy: DeviceID?

    package init(
        id: TicketID, secret: [UInt8], expiresAtMilliseconds: Int64, role: MemberFact.Role, usedBy: DeviceID? = nil
    ) {
        self.id = id
        self.secret = secret
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.role = role
        self.usedBy = usedBy
    }
}

/// Where an inviter keeps its tickets. Called on the transport's event loop: it must answer from memory.
///
/// Durability is the business of `TicketInviter.Admit`: once that returns, the ticket must still be used after a crash.
/// A ticket is worth keeping for a while after it expired, so that the answer is "expired" and not "unknown".
package protocol TicketStore: Sendable {
    func insert(_ ticket: IssuedTicket)
    func ticket(_ id: TicketID) -> IssuedTicket?
    /// Whether a ticket, used or not, expires after `milliseconds`.
    func hasOpenTicket(atMilliseconds milliseconds: Int64) -> Bool
    /// Idempotent.
    func markUsed(_ id: TicketID, by device: DeviceID)
}

/// Tickets for as long as the process lives. At most 64: the ones that expire first make room.
package final class MemoryTicketStore: TicketStore {
    private static let limit = 64
    private let tickets = Mutex<[IssuedTicket]>([])

    package init() {}

    package func insert(_ ticket: IssuedTicket) {
        tickets.withLock { tickets in
            tickets.append(ticket)
            tickets.sort { $0.expiresAtMilliseconds < $1.expiresAtMilliseconds }
            if tickets.count > Self.limit { tickets.removeFirst() }
        }
    }

    package func ticket(_ id: TicketID) -> IssuedTicket? {
        tickets.withLock { $0.first { $0.id == id } }
    }

    package func hasOpenTicket(atMilliseconds milliseconds: Int64) -> Bool {
        tickets.withLock { $0.contains { $0.expiresAtMilliseconds > milliseconds } }
    }

    package func markUsed(_ id: TicketID, by device: DeviceID) {
        tickets.withLock { tickets in
            guard let index = tickets.firstIndex(where: { $0.id == id }) else { return }
            tickets[index].usedBy = device
        }
    }
}
