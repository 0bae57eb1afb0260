import NIOCore
import NIOSSL
import SyncModel

extension SessionTransport: LinkDelegate {
    /// The pipeline of a connection: the socket's bytes, TLS, frames.
    func install(_ link: Link, on channel: any Channel, _ tls: NIOSSLHandler) throws {
        link.delegate = self
        // It throws where the channel is closed already; such a link is told of nothing.
        try channel.pipeline.syncOperations.addHandlers([link.meter, tls, link])
        links[link.number] = link
    }

    /// Returns the reason why a key may not pass TLS; nil when it may. While an unused ticket or a pairing is open, any key of a
    /// peer that dials us may: its purpose is known only after the handshake.
    func objection(to key: PeerKey, _ direction: Direction) -> EndReason? {
        // Our own key: ourselves, or a copy of our disk that runs elsewhere. A session tells which by its first frame.
        if key.device == identity.deviceID || trusted.contains(key.device) { return nil }
        if heard.contains(key.device) { return nil }
        let isOpen = codes != nil || inviter?.isOpen(for: key.device) ?? false
        return direction == .inbound && isOpen ? nil : .notPaired
    }

    func linkSecured(_ link: Link, peer: PeerKey, negotiated: ApplicationProtocol?) {
        switch negotiated {
        case .session: admitMember(link, peer.device, .session)
        case .bulk: admitMember(link, peer.device, .bulk)
        case .pairing: admitPairing(link, peer)
        case .codes: admitCodes(link, peer)
        case nil: link.closeNow(.wrongProtocol)
        }
    }

    /// The second look at the key: the one that also a resumed TLS session, or a device removed a moment ago, must pass.
    private func admitMember(_ link: Link, _ device: DeviceID, _ negotiated: ApplicationProtocol) {
        if device == identity.deviceID, negotiated != .session { return link.closeNow(.ownDevice) }
        guard mayPass(device, negotiated) || device == identity.deviceID else { return link.closeNow(.notPaired) }
        guard link.expected.map({ $0 == negotiated }) ?? true else { return link.closeNow(.wrongProtocol) }
        guard link.direction == .outbound || acceptedCount(from: device) < limits.connectionsPerDevice else {
            return link.closeNow(.tooManyFromDevice)
        }
        leaveCaps(link)
        dialing.remove(link.number)
        opened.insert(link.number)
        if negotiated == .bulk {
            link.expectBulk()
            bulk.insert(link.number)
        }
        events?.opened(
            link.number, negotiated, direction: link.direction, device: device, remote: link.remote)
    }

    func mayPass(_ device: DeviceID, _ negotiated: ApplicationProtocol) -> Bool {
        trusted.contains(device) || negotiated == .session && heard.contains(device)
    }

    /// Returns the number of connections that the device dialled; the core decides how many we dial.
    private func acceptedCount(from device: DeviceID) -> Int {
        opened.count { links[$0]?.direction == .inbound && links[$0]?.peer?.device == device }
    }

    private func admitPairing(_ link: Link, _ peer: PeerKey) {
        if peer.device == identity.deviceID { return link.closeNow(.ownDevice) }
        guard link.direction == .inbound, let inviter, inviter.isOpen(for: peer.device) else {
            return link.closeNow(.wrongProtocol)
        }
        exchanges[link.number] = InviterExchange(link: link, peer: peer, inviter: inviter)
    }

    private func admitCodes(_ link: Link, _ peer: PeerKey) {
        guard link.direction == .inbound, let codes else { return link.closeNow(.wrongProtocol) }
        codeLinks[link.number] = codes
        codes.accept(link, peer)
    }

    func linkReceived(_ link: Link, payload: [UInt8]) {
        if let codes = codeLinks[link.number] {
            codes.acceptedReceived(link, payload: payload)
        } else if let exchange = exchanges[link.number] {
            exchange.received(payload)
        } else {
            events?.received(link.number, payload: payload)
        }
    }

    func linkWrote(_ link: Link, byteCount: Int) {
        if opened.contains(link.number) { events?.written(link.number, byteCount: byteCount) }
    }

    func linkEnded(_ link: Link, reason: EndReason) {
        links[link.number] = nil
        leaveCaps(link)
        exchanges.removeValue(forKey: link.number)?.ended()
        codeLinks.removeValue(forKey: link.number)?.acceptedEnded(link, reason: reason)
        if reason.isRefusal { refuse(link.remote, link.peer?.device, link.direction, reason) }
        bulk.remove(link.number)
        if opened.remove(link.number) != nil {
            events?.closed(link.number, reason: reason)
        } else if dialing.remove(link.number) != nil {
            events?.dialFailed(link.number, reason: reason)
        } else if reason.isRefusal {
            events?.turnedAway(link.remote, device: link.peer?.device, reason: reason)
        }
        finishShutdown()
    }

    func leaveCaps(_ link: Link) {
        if let place = unauthenticated.removeValue(forKey: link.number) { caps.leave(place) }
    }
}
