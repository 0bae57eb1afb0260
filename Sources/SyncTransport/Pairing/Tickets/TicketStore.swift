import Synchronization
package import SyncModel

/// A ticket as its issuer keeps it.
package struct IssuedTicket: Sendable, Equatable {
    package let id: TicketID
    package let secret: [UInt8]
    package var expiresAtMilliseconds: Int64
    /// The role that the joining device gets.
    package let role: MemberFact.Role
    /// See `MemberFact.until`.
    package let until: UInt64?
    /// The one device that joined with it.
    package var usedBy: DeviceID?
    /// True once that device confirmed our answer: the ticket has no further use. Not kept across a restart.
    package var isConfirmed = false

    package init(
        id: TicketID, secret: [UInt8], expiresAtMilliseconds: Int64, role: MemberFact.Role, until: UInt64? = nil,
        usedBy: DeviceID? = nil
    ) {
        self.id = id
        self.secret = secret
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.role = role
        self.until = until
        self.usedBy = usedBy
    }

    /// Returns true if the device may ask with it: any device before it is used, from then on only the device that joined,
    /// whose answer may have been lost.
    package func isOpen(atMilliseconds milliseconds: Int64, for device: DeviceID? = nil) -> Bool {
        expiresAtMilliseconds > milliseconds && !isConfirmed && (usedBy == nil || device == nil || usedBy == device)
    }
}

/// The tickets of an inviter. Called on the transport's event loop: it must answer from memory.
///
/// Durability is the business of `TicketInviter.Admit`: once that returns, the ticket must still be used after a crash.
/// A ticket is worth keeping for a while after it expired, so that the answer is "expired" and not "unknown".
package protocol TicketStore: Sendable {
    func insert(_ ticket: IssuedTicket)
    func ticket(_ id: TicketID) -> IssuedTicket?
    /// Returns true if the device may ask with one of the tickets (`IssuedTicket.isOpen`); nil: if any device may.
    func hasOpenTicket(atMilliseconds milliseconds: Int64, for device: DeviceID?) -> Bool
    /// Idempotent.
    func markUsed(_ id: TicketID, by device: DeviceID)
    /// The device that used it has our answer.
    func markConfirmed(_ id: TicketID)
    /// All tickets expire now. A restart must not open them again.
    func endAll(atMilliseconds milliseconds: Int64)
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

    package func hasOpenTicket(atMilliseconds milliseconds: Int64, for device: DeviceID?) -> Bool {
        tickets.withLock { $0.contains { $0.isOpen(atMilliseconds: milliseconds, for: device) } }
    }

    package func markUsed(_ id: TicketID, by device: DeviceID) {
        tickets.withLock { tickets in
            guard let index = tickets.firstIndex(where: { $0.id == id }) else { return }
            tickets[index].usedBy = device
        }
    }

    package func markConfirmed(_ id: TicketID) {
        tickets.withLock { tickets in
            guard let index = tickets.firstIndex(where: { $0.id == id }) else { return }
            tickets[index].isConfirmed = true
        }
    }

    package func endAll(atMilliseconds milliseconds: Int64) {
        tickets.withLock { tickets in
            for index in tickets.indices {
                tickets[index].expiresAtMilliseconds = min(tickets[index].expiresAtMilliseconds, milliseconds)
            }
        }
    }
}
