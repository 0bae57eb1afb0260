package import NIOCore
package import SyncModel

/// The connections of one pairing by typed codes: those that other devices dial, and those dialled to devices on the network.
/// While it is installed in a `SessionTransport`, keys that are not trusted get through TLS on its protocol, and on no other.
///
/// It carries frames and decides nothing. Each link sends its offer first; links that answer with a valid one are reported, and
/// their messages after it. Confined to the transport's event loop; reports come on a turn of their own.
package final class PairingLinks: LinkDelegate {
    /// A device that pairs right now.
    package struct Offer: Sendable {
        package let device: JoinedDevice
        package let side: PairingTranscript.Side
        /// The number of members of its space, by its own statement.
        package let memberCount: UInt64
        package let remote: HostPort
    }

    /// Links at once, of both directions; the machine keeps fewer.
    private static let linkLimit = 64

    private let transport: SessionTransport
    private let ownOffer: [UInt8]
    private let isRefused: (DeviceID) -> Bool
    /// The time that a link may last after its offer.
    private let lifetime: TimeAmount
    private var links: [UInt64: Link] = [:]
    /// Links whose offer came.
    private var offered: Set<UInt64> = []
    private var lastNumber: UInt64 = 0
    /// The numbers of links that others dialled, by their number in the transport.
    private var accepted: [UInt64: UInt64] = [:]
    private var isClosed = false

    /// Reports the device behind a link that TLS brought up; before its offer.
    package var secured: (_ link: UInt64, DeviceID) -> Void = { _, _ in }
    package var offer: (_ link: UInt64, Offer) -> Void = { _, _ in }
    package var received: (_ link: UInt64, PairingMessage) -> Void = { _, _ in }
    /// Reports the end of a link, or of a dial that came to nothing.
    package var ended: (_ link: UInt64, EndReason) -> Void = { _, _ in }

    /// - Parameters:
    ///   - memberCount: the number of members of this device's space.
    ///   - grant: what the other device becomes if it joins that space.
    ///   - isRefused: true for a device that does not take part, say a blocked one.
    package init(
        transport: SessionTransport, profile: PairingProfile, memberCount: UInt64, grant: MembershipGrant? = nil,
        lifetime: TimeAmount, isRefused: @escaping (DeviceID) -> Bool
    ) {
        self.transport = transport
        self.lifetime = lifetime
        self.isRefused = isRefused
        ownOffer = CodesFrames.offer(
            Introduction(transport.identity, profile), memberCount: memberCount, grant: grant)
    }

    /// This device's side, as the codes take it.
    package var ownSide: PairingTranscript.Side {
        PairingTranscript.Side(
            subjectPublicKeyInfo: transport.identity.subjectPublicKeyInfo, statement: ownOffer)
    }

    /// Dials an address. `secured` and `offer`, or `ended`, follow with this number.
    package func dial(_ address: HostPort) -> UInt64 {
        let number = nextNumber()
        // On a turn of its own: a dial that fails at once is reported after the caller has its number.
        transport.eventLoop.assumeIsolated().execute { self.connect(number, address) }
        return number
    }

    private func connect(_ number: UInt64, _ address: HostPort) {
        guard !isClosed, !transport.isStopped else { return }
        Dialer.connect(address, on: transport.eventLoop, within: transport.limits.connectDeadline).assumeIsolated()
            .whenComplete {
                switch $0 {
                case .success(let channel): self.connected(number, address, channel)
                case .failure(let error): self.endDial(number, Dialer.reason(error))
                }
            }
    }

    package func send(_ link: UInt64, _ message: PairingMessage) {
        links[link]?.send(CodesFrames.encode(.message(message)))
    }

    /// Closes a link after sent bytes have left. No more is reported of it.
    package func close(_ link: UInt64) { drop(link)?.close(.pairingDone) }

    /// Closes all links, and ends the time in which strangers get through TLS.
    package func close() {
        isClosed = true
        if transport.codes === self { transport.codes = nil }
        for link in Array(links.keys) { close(link) }
    }

    private func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    private func drop(_ number: UInt64) -> Link? {
        offered.remove(number)
        return links.removeValue(forKey: number)
    }

    private func endDial(_ number: UInt64, _ reason: EndReason) {
        guard !isClosed else { return }
        ended(number, reason)
    }

    private func connected(_ number: UInt64, _ address: HostPort, _ channel: any Channel) {
        guard !isClosed, !transport.isStopped else { return channel.close(promise: nil) }
        let link = Link(
            number: number, direction: .outbound, remote: address, limits: transport.limits,
            eventLoop: transport.eventLoop)
        link.delegate = self
        links[number] = link
        let own = transport.identity.deviceID
        do {
            let tls = try transport.handlers.client(
                protocols: [.codes], verify: { $0.device == own ? .ownDevice : nil },
                verdict: { [weak link] in link?.record($0) })
            try channel.pipeline.syncOperations.addHandlers([link.meter, tls, link])
            try channel.syncOptions?.setOption(.autoRead, value: true)
        } catch {
            link.delegate = nil
            links[number] = nil
            channel.close(promise: nil)
            endDial(number, .tlsFailed)
        }
    }

    // MARK: Links that others dialled, handed over by the transport

    func accept(_ link: Link, _ peer: PeerKey) {
        guard links.count < Self.linkLimit else { return link.closeNow(.tooManyUnauthenticated) }
        let number = nextNumber()
        accepted[link.number] = number
        links[number] = link
        begin(number, link, peer)
    }

    func acceptedReceived(_ link: Link, payload: [UInt8]) {
        if let number = accepted[link.number] { receive(number, link, payload) }
    }

    func acceptedEnded(_ link: Link, reason: EndReason) {
        if let number = accepted.removeValue(forKey: link.number) { end(number, reason) }
    }

    // MARK: LinkDelegate, for links dialled here

    func linkSecured(_ link: Link, peer: PeerKey, negotiated: ApplicationProtocol?) {
        guard negotiated == .codes else { return link.closeNow(.wrongProtocol) }
        begin(link.number, link, peer)
    }

    func linkReceived(_ link: Link, payload: [UInt8]) { receive(link.number, link, payload) }
    func linkWrote(_ link: Link, byteCount: Int) {}
    func linkEnded(_ link: Link, reason: EndReason) { end(link.number, reason) }

    // MARK: Both

    private func begin(_ number: UInt64, _ link: Link, _ peer: PeerKey) {
        guard links[number] === link else { return link.closeNow(.closedHere) }
        guard peer.device != transport.identity.deviceID else { return link.closeNow(.ownDevice) }
        guard !isRefused(peer.device) else { return link.closeNow(.notPaired) }
        link.send(CodesFrames.encode(.offer(ownOffer)))
        secured(number, peer.device)
    }

    private func receive(_ number: UInt64, _ link: Link, _ payload: [UInt8]) {
        guard links[number] === link, let peer = link.peer else { return }
        switch (CodesFrames.decode(payload), offered.contains(number)) {
        case (.offer(let bytes), false):
            let metAt = link.direction == .outbound ? link.remote : nil
            guard let (introduction, memberCount, grant) = CodesFrames.readOffer(bytes, key: peer.subjectPublicKeyInfo),
                let device = introduction.joined(metAt: metAt, grant: grant)
            else { return link.closeNow(.pairingMalformed) }
            offered.insert(number)
            link.extendGreeting(by: lifetime)
            // The pairing bounds the links with an offer; places for strangers are for those without.
            if link.direction == .inbound { transport.leaveCaps(link) }
            offer(
                number,
                Offer(
                    device: device,
                    side: PairingTranscript.Side(subjectPublicKeyInfo: peer.subjectPublicKeyInfo, statement: bytes),
                    memberCount: memberCount, remote: link.remote))
        case (.message(let message), true): received(number, message)
        case (_, _): link.closeNow(.pairingMalformed)
        }
    }

    private func end(_ number: UInt64, _ reason: EndReason) {
        guard drop(number) != nil else { return }
        ended(number, reason)
    }
}

extension SessionTransport {
    /// Opens this device for a pairing by typed codes, in place of an earlier one.
    package func open(_ codes: PairingLinks) {
        eventLoop.preconditionInEventLoop()
        self.codes?.close()
        self.codes = codes
    }
}
