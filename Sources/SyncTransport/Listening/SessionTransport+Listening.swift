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
