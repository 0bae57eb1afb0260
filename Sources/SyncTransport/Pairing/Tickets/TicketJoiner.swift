package import NIOCore
import SyncModel

/// The joiner's side: dials the ticket's address and all others that are known at once, and goes on with the first where the
/// right device answers.
///
/// Keeps itself alive until its promise is done. Confined to the transport's event loop.
final class TicketJoiner: LinkDelegate {
    /// Makes the inviter a member, durably.
    typealias Admit = (JoinedDevice) -> EventLoopFuture<Void>

    /// Addresses that are dialled besides the ticket's; most of them may be of other devices.
    static let otherAddressLimit = 64

    private let ticket: Ticket
    private let addresses: [HostPort]
    /// True if the ticket is expired by this machine's clock, which may be wrong: it only helps to explain a refusal.
    private let isPastExpiry: Bool
    private let transport: SessionTransport
    private let introduction: Introduction
    private let admit: Admit
    private let promise: EventLoopPromise<JoinedDevice>
    private var pending = 0
    private var links: [Link] = []
    private var failures: [JoinError.Attempt] = []
    private var wrongDeviceAt: String?
    private var notInvitingAt: String?
    /// The link that answered as the right device.
    private var chosen: Link?
    /// The question that was sent on it.
    private var request: TicketRequest?
    /// The inviter proved itself and made us a member: from here on only our own store can fail.
    private var isAnswered = false
    private var outcome: Result<JoinedDevice, JoinError>?
    /// Keeps this object while links hold it weakly.
    private var alive: TicketJoiner?

    init(
        ticket: Ticket, alsoAt others: [HostPort], isPastExpiry: Bool, transport: SessionTransport,
        profile: PairingProfile, admit: @escaping Admit
    ) {
        self.ticket = ticket
        let unnamed = others.filter { $0 != ticket.address }.prefix(Self.otherAddressLimit)
        addresses = (ticket.address.map { [$0] } ?? []) + unnamed
        self.isPastExpiry = isPastExpiry
        self.transport = transport
        introduction = Introduction(transport.identity, profile)
        self.admit = admit
        promise = transport.eventLoop.makePromise(of: JoinedDevice.self)
    }

    func start() -> EventLoopFuture<JoinedDevice> {
        alive = self
        pending = addresses.count
        for address in addresses {
            Dialer.connect(address, on: transport.eventLoop, within: transport.limits.connectDeadline).assumeIsolated()
                .whenComplete { result in
                    switch result {
                    case .success(let channel): self.connected(address, channel)
                    case .failure(let error): self.failed(address, Dialer.reason(error))
                    }
                }
        }
        if pending == 0 { finish(.failure(.noAddresses)) }
        return promise.futureResult
    }

    private func connected(_ address: HostPort, _ channel: any Channel) {
        guard outcome == nil, chosen == nil else { return channel.close(promise: nil) }
        let link = Link(
            number: 0, direction: .outbound, remote: address, limits: transport.limits, eventLoop: transport.eventLoop)
        link.delegate = self
        links.append(link)
        let ticket = ticket
        do {
            let tls = try transport.handlers.client(
                protocols: [.pairing],
                verify: { [weak self] key in
                    guard ticket.isMade(by: key.device) else {
                        // Elsewhere other devices are expected.
                        if address == ticket.address { self?.wrongDeviceAt = address.description }
                        return .notPaired
                    }
                    return nil
                }, verdict: { [weak link] in link?.record($0) })
            try channel.pipeline.syncOperations.addHandlers([link.meter, tls, link])
            try channel.syncOptions?.setOption(.autoRead, value: true)
        } catch {
            // The link would count the same address once more when the channel's handlers go.
            link.delegate = nil
            channel.close(promise: nil)
            failed(address, .tlsFailed)
        }
    }

    private func failed(_ address: HostPort, _ reason: EndReason) {
        pending -= 1
        failures.append(JoinError.Attempt(address: address.description, reason: reason))
        guard pending == 0, chosen == nil else { return }
        finish(.failure(explanation))
    }

    /// The most telling of the addresses' failures.
    private var explanation: JoinError {
        if let notInvitingAt { return isPastExpiry ? .expired : .notInviting(address: notInvitingAt) }
        if let wrongDeviceAt { return .wrongDevice(address: wrongDeviceAt) }
        let named = failures.filter { $0.address == ticket.address?.description }
        return .nobodyAnswered(named.isEmpty ? failures : named)
    }

    // MARK: LinkDelegate

    func linkSecured(_ link: Link, peer: PeerKey, negotiated: ApplicationProtocol?) {
        guard outcome == nil, chosen == nil else { return link.closeNow(.closedHere) }
        guard ticket.isMade(by: peer.device) else { return link.closeNow(.notPaired) }
        guard negotiated == .pairing else {
            notInvitingAt = link.remote.description
            return link.closeNow(.wrongProtocol)
        }
        chosen = link
        for other in links where other !== link { other.closeNow(.closedHere) }
        let request = TicketRequest(ticket, inviterKey: peer.subjectPublicKeyInfo, joiner: introduction)
        self.request = request
        link.extendGreeting(by: transport.limits.pairingDeadline)
        link.send(TicketFrame.request(request).encoded)
    }

    func linkReceived(_ link: Link, payload: [UInt8]) {
        guard link === chosen, outcome == nil, !isAnswered, let peer = link.peer else { return }
        switch TicketFrame(payload, key: peer.subjectPublicKeyInfo) {
        case .refused(let code):
            finish(.failure(.refused(code: JoinRefusal(rawValue: code) != nil ? code : "refused")))
        case .accepted(let acceptance): take(acceptance, over: link)
        case .request, .confirmed, nil: finish(.failure(.badAnswer))
        }
    }

    private func take(_ acceptance: TicketAcceptance, over link: Link) {
        guard let request,
            let device = acceptance.device(answering: request, secret: ticket.secret, metAt: link.remote)
        else { return finish(.failure(.badAnswer)) }
        isAnswered = true
        link.extendGreeting(by: transport.limits.pairingDeadline)
        admit(device).assumeIsolated().whenComplete { result in
            guard self.outcome == nil else { return }
            switch result {
            case .success:
                link.send(TicketFrame.confirmed.encoded)
                self.finish(.success(device))
            case .failure: self.finish(.failure(.notAdmitted))
            }
        }
    }

    func linkWrote(_ link: Link, byteCount: Int) {}

    func linkEnded(_ link: Link, reason: EndReason) {
        guard outcome == nil, !isAnswered else { return }
        if link === chosen {
            // TLS is up on this side before the inviter has looked at our key: its ticket was used by another device.
            let isTurnedAway = reason == .notPairedThere
            finish(.failure(isTurnedAway ? .notInviting(address: link.remote.description) : .interrupted(reason)))
        } else if chosen == nil {
            failed(link.remote, reason)
        }
    }

    private func finish(_ outcome: Result<JoinedDevice, JoinError>) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        for link in links { link.close(.pairingDone) }
        switch outcome {
        case .success(let device): promise.succeed(device)
        case .failure(let error): promise.fail(error)
        }
        alive = nil
    }
}

extension SessionTransport {
    /// Joins with a ticket. Whether it has expired is for the inviter to say: the clocks may differ. `admit` makes the inviter a member here, durably, before the inviter hears that it worked.
    ///
    /// - Parameter others: addresses that are dialled besides the ticket's, because the inviter may be there; at most 64.
    /// - Throws: `JoinError`.
    package func join(
        _ ticket: Ticket, alsoAt others: [HostPort] = [], as profile: PairingProfile, nowMilliseconds: Int64,
        admit: @escaping (JoinedDevice) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<JoinedDevice> {
        eventLoop.preconditionInEventLoop()
        guard !ticket.isMade(by: identity.deviceID) else { return eventLoop.makeFailedFuture(JoinError.ownTicket) }
        return TicketJoiner(
            ticket: ticket, alsoAt: others, isPastExpiry: nowMilliseconds >= ticket.expiresAtMilliseconds,
            transport: self, profile: profile, admit: admit
        ).start()
    }
}
