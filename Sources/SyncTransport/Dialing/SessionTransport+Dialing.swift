import NIOCore
import NIOSSL
import SyncModel

extension SessionTransport {
    /// Dials an address, for a session or for bulk. `opened` or `dialFailed` follows, with the caller's number, which must
    /// be odd and new.
    package func dial(_ connection: UInt64, _ address: HostPort, _ protocol: ApplicationProtocol = .session) {
        eventLoop.preconditionInEventLoop()
        precondition(connection & 1 == 1 && links[connection] == nil, "a dial has an odd number that is new")
        dialing.insert(connection)
        guard !isStopped else { return endDial(connection, .shutdown) }
        Dialer.connect(address, on: eventLoop, within: limits.connectDeadline).assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel): self.connected(connection, address, `protocol`, channel)
            case .failure(let error): self.endDial(connection, Dialer.reason(error))
            }
        }
    }

    private func connected(
        _ connection: UInt64, _ address: HostPort, _ protocol: ApplicationProtocol, _ channel: any Channel
    ) {
        let remote = channel.remoteAddress.map(HostPort.init) ?? address
        let link = Link(
            number: connection, direction: .outbound, remote: remote, limits: limits, eventLoop: eventLoop,
            expected: `protocol`)
        guard !isStopped, dialing.contains(connection) else {
            channel.close(promise: nil)
            return endDial(connection, isStopped ? .shutdown : .closedHere)
        }
        do {
            try install(
                link, on: channel,
                handlers.client(
                    protocols: [`protocol`],
                    verify: { [weak self] key in
                        guard let self else { return .shutdown }
                        return objection(to: key, .outbound)
                    },
                    verdict: { [weak link] in link?.record($0) }))
            try channel.syncOptions?.setOption(.autoRead, value: true)
        } catch {
            channel.close(promise: nil)
            endDial(connection, .dialFailed)
        }
    }

    /// Ends a dial on a turn of its own: a dial may fail inside the call that asked for it.
    private func endDial(_ connection: UInt64, _ reason: EndReason) {
        eventLoop.assumeIsolated().execute {
            guard self.dialing.remove(connection) != nil else { return }
            self.events?.dialFailed(connection, reason: reason)
            self.finishShutdown()
        }
    }
}
