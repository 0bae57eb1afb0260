import SyncModel
import SyncStore
import SyncTransport
import Synchronization

/// The tickets we gave out, in memory for the transport to ask; the store holds the same, so a restart forgets none.
final class StoredTickets: TicketStore {
    /// The most tickets at once; people need fewer.
    private static let limit = 64
    private let tickets: Mutex<[IssuedTicket]>
    private let save: @Sendable (TicketRecord) -> Void

    /// - Parameter save: makes a ticket durable that ends before its time.
    init(_ records: [TicketRecord], save: @escaping @Sendable (TicketRecord) -> Void) {
        self.save = save
        tickets = Mutex(
            records.map { record in
                IssuedTicket(
                    id: TicketID(secret: record.secret), secret: record.secret,
                    expiresAtMilliseconds: record.expiresMilliseconds, role: record.role, until: record.until,
                    usedBy: record.usedBy)
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

    func hasOpenTicket(atMilliseconds milliseconds: Int64, for device: DeviceID?) -> Bool {
        tickets.withLock { $0.contains { $0.isOpen(atMilliseconds: milliseconds, for: device) } }
    }

    func markUsed(_ id: TicketID, by device: DeviceID) {
        tickets.withLock { tickets in
            guard let index = tickets.firstIndex(where: { $0.id == id }) else { return }
            tickets[index].usedBy = device
        }
    }

    func markConfirmed(_ id: TicketID) {
        tickets.withLock { tickets in
            guard let index = tickets.firstIndex(where: { $0.id == id }) else { return }
            tickets[index].isConfirmed = true
        }
    }

    func endAll(atMilliseconds milliseconds: Int64) {
        let ended = tickets.withLock { tickets in
            let open = tickets.indices.filter { tickets[$0].expiresAtMilliseconds > milliseconds }
            for index in open { tickets[index].expiresAtMilliseconds = milliseconds }
            return open.map { tickets[$0] }
        }
        for ticket in ended {
            save(
                TicketRecord(
                    secret: ticket.secret, expiresMilliseconds: ticket.expiresAtMilliseconds, role: ticket.role,
                    until: ticket.until, usedBy: ticket.usedBy))
        }
    }
}
