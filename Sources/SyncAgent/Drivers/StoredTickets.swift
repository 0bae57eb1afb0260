import SyncModel
import SyncStore
import SyncTransport
import Synchronization

/// The tickets we gave out, in memory for the transport to ask; the store holds the same, so a restart forgets none.
final class StoredTickets: TicketStore {
    /// More invitations at once than anybody needs.
    private static let limit = 64
    private let tickets: Mutex<[IssuedTicket]>

    init(_ records: [TicketRecord]) {
        tickets = Mutex(
            records.map { record in
                IssuedTicket(
                    id: TicketID(secret: record.secret), secret: record.secret,
                    expiresAtMilliseconds: record.expiresMilliseconds, role: .writer, usedBy: record.usedBy)
            })
    }

    func insert(_ ticket: IssuedTicket) {
        tickets.withLock { tickets in
            tickets.append(ticket)
            tickets.sort { $0.expiresAtMilliseconds < $1.expiresAtMilliseconds }
            if tickets.count > Self.limit { tickets.removeFirst() }
        }
    }

    func ticket(_ id: TicketID) -> IssuedTicket? {
        tickets.withLock { $0.first { $0.id == id } }
    }

    func hasOpenTicket(atMilliseconds milliseconds: Int64) -> Bool {
        tickets.withLock { $0.contains { $0.expiresAtMilliseconds > milliseconds } }
    }

    func markUsed(_ id: TicketID, by device: DeviceID) {
        tickets.withLock { tickets in
            guard let index = tickets.firstIndex(where: { $0.id == id }) else { return }
            tickets[index].usedBy = device
        }
    }
}
