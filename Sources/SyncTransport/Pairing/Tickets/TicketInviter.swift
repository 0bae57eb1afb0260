import Crypto
import NIOCore
package import SyncModel

/// The issuer of tickets, which answers the devices that present one. Confined to the transport's event loop.
package final class TicketInviter {
    /// Makes the device a member and the ticket used, in one durable step. Throwing refuses the device.
    package typealias Admit = @Sendable (JoinedDevice, IssuedTicket) async throws -> Void
    /// The admitted device knows us too, or its connection ended: it may be dialled.
    package typealias Met = @Sendable (JoinedDevice) -> Void

    package static let lifetimeMilliseconds: Int64 = 10 * 60 * 1000

    let identity: DeviceIdentity
    let limits: TransportLimits
    let store: any TicketStore
    let profile: @Sendable () -> PairingProfile
    let founder: @Sendable () -> DeviceID?
    let admit: Admit
    let met: Met
    /// Wall clock.
    let nowMilliseconds: @Sendable () -> Int64
    private var wrongProofs: WrongProofs
    /// Tickets that are being admitted right now: a second device must not get in meanwhile.
    private var reserved: [TicketID: DeviceID] = [:]

    /// - Parameters:
    ///   - profile: what this device says of itself, asked at each answer.
    ///   - founder: the founder that this device follows, asked at each answer.
    package init(
        identity: DeviceIdentity, limits: TransportLimits = TransportLimits(), store: any TicketStore,
        nowMilliseconds: @escaping @Sendable () -> Int64, profile: @escaping @Sendable () -> PairingProfile,
        founder: @escaping @Sendable () -> DeviceID? = { nil }, admit: @escaping Admit, met: @escaping Met = { _ in }
    ) {
        self.identity = identity
        self.limits = limits
        self.store = store
        self.nowMilliseconds = nowMilliseconds
        self.profile = profile
        self.founder = founder
        self.admit = admit
        self.met = met
        wrongProofs = WrongProofs(perMinute: limits.wrongProofsPerMinute)
    }

    /// True if any device may ask with a ticket: without one the pairing protocol is not spoken.
    package var isOpen: Bool { store.hasOpenTicket(atMilliseconds: nowMilliseconds(), for: nil) }

    /// Returns true if this device may ask. Once a ticket is used, only the device that used it may, so that a lost answer can
    /// be asked for again.
    func isOpen(for device: DeviceID) -> Bool { store.hasOpenTicket(atMilliseconds: nowMilliseconds(), for: device) }

    /// A new ticket, in the store when this returns.
    ///
    /// - Parameter until: the end of the membership (`MemberFact.until`), and of the ticket at the latest.
    package func issue(
        addresses: [HostPort], role: MemberFact.Role = .writer, until: UInt64? = nil,
        lifetimeMilliseconds: Int64 = TicketInviter.lifetimeMilliseconds
    ) -> Ticket {
        let end = until.map { Int64(min($0, UInt64(Int64.max / 1_000))) * 1_000 }
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<Ticket.secretByteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let ticket = Ticket(
            inviter: identity.deviceID, secret: secret,
            expiresAtMilliseconds: min(nowMilliseconds() + lifetimeMilliseconds, end ?? .max), addresses: addresses)
        store.insert(
            IssuedTicket(
                id: ticket.id, secret: secret, expiresAtMilliseconds: ticket.expiresAtMilliseconds, role: role,
                until: until))
        return ticket
    }

    /// Judges a request. A ticket that passes is reserved for the device until `release`.
    func judge(_ request: TicketRequest, host: String) -> Result<IssuedTicket, JoinRefusal> {
        let now = NIODeadline.now()
        guard wrongProofs.mayTry(host, now: now) else { return .failure(.tooManyAttempts) }
        guard let id = TicketID(bytes: request.ticket), let ticket = store.ticket(id),
            request.isProven(secret: ticket.secret, inviterKey: identity.subjectPublicKeyInfo)
        else {
            if wrongProofs.record(host, now: now) { store.endAll(atMilliseconds: nowMilliseconds()) }
            return .failure(.unknownTicket)
        }
        let device = DeviceID(subjectPublicKeyInfo: request.joiner.subjectPublicKeyInfo)
        guard nowMilliseconds() < ticket.expiresAtMilliseconds else { return .failure(.expired) }
        guard (ticket.usedBy ?? device) == device, (reserved[id] ?? device) == device else {
            return .failure(.alreadyUsed)
        }
        reserved[id] = device
        return .success(ticket)
    }

    /// The admission of a judged ticket ended.
    func release(_ id: TicketID, usedBy device: DeviceID?) {
        reserved[id] = nil
        if let device { store.markUsed(id, by: device) }
    }

    /// The device that joined has our answer.
    func confirm(_ id: TicketID) { store.markConfirmed(id) }
}
