import Glibc
package import NIOCore
import NIOSSL
import SyncModel

extension SessionTransport {
    /// Listens on `host`, or on all addresses of both families when there is none. Port 0 lets the system choose.
    /// - Returns: where it listens; fails with `ListenError` only.
    package func listen(host: String?, port: Int) -> EventLoopFuture<HostPort> {
        eventLoop.preconditionInEventLoop()
        guard let address = HostPort(host: host ?? "::", port: port) else {
            return eventLoop.makeFailedFuture(ListenError.notAnAddress("\(host ?? ""):\(port)"))
        }
        let transport = NIOLoopBound(self, eventLoop: eventLoop)
        let accept: @Sendable (any Channel) -> EventLoopFuture<Void> = { transport.value.accept($0) }
        let loop = eventLoop
        return Listener.open(address, on: loop, accept: accept).flatMapError { error in
            // A kernel without IPv6 still has IPv4.
            guard host == nil, (error as? IOError)?.errnoCode == EAFNOSUPPORT,
                let fallback = HostPort(host: "0.0.0.0", port: port)
            else { return loop.makeFailedFuture(error) }
            return Listener.open(fallback, on: loop, accept: accept)
        }.flatMapErrorThrowing { error in
            throw error as? ListenError ?? ListenError(error, address.description)
        }.map { transport.value.bound($0) }
    }

    /// Listens at another address, in place of those until now. What was accepted there stays connected.
    ///
    /// The new address is opened first. Where both cannot be open at once, as one port at all addresses and at one of them, the one
    /// before is closed, and opened again if the new one cannot be had.
    /// - Returns: where it listens; fails with `ListenMoveError` only.
    package func moveListener(host: String?, port: Int) -> EventLoopFuture<HostPort> {
        eventLoop.preconditionInEventLoop()
        let transport = NIOLoopBound(self, eventLoop: eventLoop)
        let loop = eventLoop
        let old = listening
        let kept = old.lazy.compactMap(\.localAddress).first.map(HostPort.init)
        return listen(host: host, port: port).flatMapError { error in
            let inTheWay = old.filter { port != 0 && $0.localAddress?.port == port }
            guard case .portInUse? = error as? ListenError, !inTheWay.isEmpty else {
                return loop.makeFailedFuture(ListenMoveError(error, goesOn: kept))
            }
            return transport.value.listen(host: host, port: port, inPlaceOf: inTheWay)
        }.flatMap { address in
            transport.value.stopListening(old).map { address }
        }
    }

    /// Listens once those in the way are closed; opens them again if it cannot.
    private func listen(
        host: String?, port: Int, inPlaceOf inTheWay: [any Channel]
    ) -> EventLoopFuture<HostPort> {
        let transport = NIOLoopBound(self, eventLoop: eventLoop)
        let loop = eventLoop
        // A channel that is closed knows its address no more.
        let addresses = inTheWay.compactMap(\.localAddress).map(HostPort.init)
        return stopListening(inTheWay).flatMap {
            transport.value.listen(host: host, port: port)
        }.flatMapError { error in
            let reopened = addresses.map { address in
                transport.value.listen(host: address.host, port: address.port).map(Optional.some).recover { _ in nil }
            }
            return EventLoopFuture.whenAllSucceed(reopened, on: loop).flatMapThrowing { reopened in
                throw ListenMoveError(error, goesOn: reopened.lazy.compactMap(\.self).first)
            }
        }
    }

    /// Completes once no client can connect there any more.
    private func stopListening(_ channels: [any Channel]) -> EventLoopFuture<Void> {
        listening.removeAll { open in channels.contains { $0 === open } }
        // One that is closed already is as it should be.
        return EventLoopFuture.whenAllComplete(channels.map { $0.close() }, on: eventLoop).map { _ in }
    }

    private func bound(_ channel: any Channel) -> HostPort {
        if isStopped { channel.close(promise: nil) }
        listening.append(channel)
        return channel.localAddress.map(HostPort.init) ?? HostPort.unknown
    }

    /// A socket was accepted: takes it or turns it away before its first byte.
    private func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
        let remote = channel.remoteAddress.map(HostPort.init) ?? HostPort.unknown
        if isStopped { return eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        let place: ConnectionCaps.Place
        do throws(ConnectionCaps.Refusal) { place = try caps.enter(remote.host, standing(remote.host)) } catch {
            refuse(remote, nil, .inbound, error.reason)
            events?.turnedAway(remote, device: nil, reason: error.reason)
            return eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        let link = Link(
            number: nextAccepted(), direction: .inbound, remote: remote, limits: limits, eventLoop: eventLoop)
        unauthenticated[link.number] = place
        return eventLoop.makeCompletedFuture {
            do {
                // The protocols that admit strangers are offered only while a ticket or a pairing is open.
                let inviting: [ApplicationProtocol] = inviter?.isOpen ?? false ? [.pairing] : []
                let pairing: [ApplicationProtocol] = codes == nil ? [] : [.codes]
                try install(
                    link, on: channel,
                    handlers.server(
                        protocols: [.session, .bulk] + inviting + pairing,
                        verify: { [weak self] key in
                            guard let self else { return .shutdown }
                            return objection(to: key, .inbound)
                        },
                        verdict: { [weak link] in link?.record($0) }))
            } catch {
                leaveCaps(link)
                throw error
            }
        }
    }
}
