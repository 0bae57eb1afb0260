import Logging
import NIOCore
import SyncCore
import SyncModel
import SyncStore
import SyncTransport

/// Invites and joins by ticket: carries tickets between the transport's exchange and the log, where members are made.
///
/// Confined to the agent's event loop.
final class PairingDriver {
    private let loop: AgentLoop
    private let writer: LocalWriter
    private let tickets: StoredTickets
    private let profile: @Sendable () -> PairingProfile

    init(
        loop: AgentLoop, writer: LocalWriter, identity: DeviceIdentity, tickets records: [TicketRecord],
        profile: @escaping @Sendable () -> PairingProfile
    ) {
        self.loop = loop
        self.writer = writer
        self.profile = profile
        let (store, journal, logger) = (loop.store, loop.journal, loop.loggers.pairing)
        tickets = StoredTickets(records) { record in
            _ = store.write { store throws(StoreError) in try store.save(record) }
            journal.record(code: "invitations_ended")
            logger.warning("Three wrong tickets were shown: all invitations were ended.")
        }
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let eventLoop = loop.eventLoop
        loop.transport.inviter = TicketInviter(
            identity: identity, store: tickets, nowMilliseconds: { WallClock.milliseconds }, profile: profile,
            founder: { driver.value.loop.founder },
            admit: { device, ticket in
                try await eventLoop.flatSubmit { driver.value.admit(device, with: ticket) }.get()
            },
            met: { device in driver.value.dial(device) })
    }

    /// A new ticket, durable before it is shown: a restart of the agent does not make it void.
    ///
    /// - Parameters:
    ///   - role: the role of the device that joins with it.
    ///   - until: the end of its membership. The ticket is good for no longer.
    /// - Throws: also `AgentError.roleTooGreat` and `untilPassed`.
    func invite(role: MemberFact.Role, until: UInt64?, lifetimeMilliseconds: Int64) -> EventLoopFuture<Ticket> {
        do throws(AgentError) { try loop.checkAdmission(as: role, until: until) } catch {
            return loop.eventLoop.makeFailedFuture(error)
        }
        guard let inviter = loop.transport.inviter else {
            return loop.eventLoop.makeFailedFuture(StoreError.closed)
        }
        let ticket = inviter.issue(
            addresses: profile().addresses, role: role, until: until,
            lifetimeMilliseconds: lifetimeMilliseconds)
        let record = TicketRecord(
            secret: ticket.secret, expiresMilliseconds: ticket.expiresAtMilliseconds, role: role, until: until,
            usedBy: nil)
        return loop.store.write { store throws(StoreError) in try store.save(record) }.map { ticket }
    }

    /// Joins the space of the device that made the ticket.
    ///
    /// - Parameter found: addresses of devices on the network that are no members: one of them may be the inviter.
    func join(_ ticket: Ticket, alsoAt found: [HostPort]) -> EventLoopFuture<JoinedDevice> {
        if let inviter = loop.core.blocked.first(where: { ticket.isMade(by: $0) && loop.core.isBlocked($0) }) {
            return loop.eventLoop.makeFailedFuture(AgentError.blocked(inviter))
        }
        let others = staticAddresses + found
        return loop.transport.join(
            ticket, alsoAt: others, as: profile(), nowMilliseconds: WallClock.milliseconds
        ) { [self] inviter in
            let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
            return admitHost(inviter).map { driver.value.dial(inviter) }
        }
    }

    /// Addresses that a person gave, at which no device answered yet.
    var staticAddresses: [HostPort] {
        loop.core.peers(at: loop.now).filter { $0.device == nil && $0.via == "static" }.compactMap { peer in
            peer.endpoint.flatMap { HostPort(host: $0.host, port: Int($0.port)) }
        }
    }

    /// Admits a device; called by the transport when the device proved to hold one of our tickets. The ticket is used before
    /// the member is made: after a crash in between the same device may come again, and no other. A blocked device uses up no
    /// ticket.
    private func admit(_ device: JoinedDevice, with ticket: IssuedTicket) -> EventLoopFuture<Void> {
        guard !loop.core.isBlocked(device.deviceID) else {
            return loop.eventLoop.makeFailedFuture(AgentError.blocked(device.deviceID))
        }
        // The role of this device may have become a lesser one since it made the ticket.
        do throws(AgentError) {
            try loop.checkAdmission(of: device.deviceID, as: ticket.role, until: ticket.until)
            // The ticket that it joined with says nothing of what happened since.
            if ticket.usedBy != nil, loop.core.cuts.isRevoked(device.deviceID) { throw .revoked(device.deviceID) }
        } catch {
            return loop.eventLoop.makeFailedFuture(error)
        }
        let record = TicketRecord(
            secret: ticket.secret, expiresMilliseconds: ticket.expiresAtMilliseconds, role: ticket.role,
            until: ticket.until, usedBy: device.deviceID)
        let driver = NIOLoopBound(self, eventLoop: loop.eventLoop)
        return loop.store.write { store throws(StoreError) in try store.save(record) }
            .flatMap { driver.value.admit(device, as: ticket.role, until: ticket.until) }
    }

    /// Makes a guest a member with this role. Idempotent. One that was revoked is admitted again where this device is an admin: a
    /// member fact alone undoes no revocation. The fact comes behind it: a re-admission speaks over each end that it knows.
    func admit(_ guest: JoinedDevice, as role: MemberFact.Role, until: UInt64?) -> EventLoopFuture<Void> {
        let device = guest.deviceID
        func fact(_ role: MemberFact.Role, _ until: UInt64?) -> MemberFact {
            guest.memberFact(role: role, founder: loop.founder, until: until)
        }
        let added = loop.core.membership[device]?.fact.role
        guard loop.core.cuts.isRevoked(device) else {
            // Another invitation, which says nothing of an end, does not take away the one that holds.
            let known = (try? loop.store.store.logState()).flatMap { $0.cuts.until(of: device, in: $0.members) }
            guard role > .reader, loop.ownRole == .admin, let added,
                let present = loop.core.cuts.verdicts?.roles[device], added == .reader || role > present
            else {
                return write(fact(role, until ?? known))
            }
            // A fact that makes a reader a writer would have its old history count again, which nodes may have forgotten. And
            // none raises a device that a statement made less.
            var writes: [LocalWrite] = role > present ? [.trust(TrustOrder(.role(device, role)))] : []
            if let until, until != known { writes.append(.operations([.addMember(fact(added, until))])) }
            return writes.isEmpty ? loop.eventLoop.makeSucceededVoidFuture() : commit(writes)
        }
        return commit([
            .trust(TrustOrder(.readmission(device, role))),
            .operations([.addMember(fact(added == .reader ? .reader : role, until))]),
        ])
    }

    /// Makes the host a member through which this device joins. The store adopts the host's founder, unless it follows one or has
    /// members (`LogState.adoptFounder`). The host has its role by the facts of its space, and this one does not lower it. Idempotent.
    func admitHost(_ host: JoinedDevice) -> EventLoopFuture<Void> {
        let founder = loop.adoptedFounder ?? host.grant?.founder
        return write(host.memberFact(role: .writer, isHost: true, founder: founder))
    }

    private func write(_ fact: MemberFact) -> EventLoopFuture<Void> {
        // Where the words that admitted the device are void, it is admitted with the same words by this one.
        guard loop.core.membership[fact.device]?.fact != fact || loop.core.cuts.isBarred(fact.device) else {
            return loop.eventLoop.makeSucceededVoidFuture()
        }
        return commit([.operations([.addMember(fact)])])
    }

    private func commit(_ writes: [LocalWrite]) -> EventLoopFuture<Void> {
        let made = loop.eventLoop.makePromise(of: Void.self)
        made.completeWithTask { [writer] in
            for case .failure(let refusal) in try await writer.write(writes) { throw refusal.reason }
        }
        return made.futureResult
    }

    func dial(_ device: JoinedDevice) {
        for address in device.addresses {
            let endpoint = Endpoint(host: address.host, port: UInt16(clamping: address.port))
            loop.step(.addressAdded(endpoint, device: device.deviceID, isStatic: false))
        }
    }
}
