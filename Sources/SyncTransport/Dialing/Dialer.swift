import Glibc
import NIOCore
import NIOPosix

/// Connects sockets. The channel comes with reading off: the caller adds its handlers and turns reading on.
enum Dialer {
    /// - Parameter isTimed: adds a `HandshakeClock` to the channel.
    static func connect(
        _ address: HostPort, on eventLoop: any EventLoop, within deadline: TimeAmount, isTimed: Bool = false
    ) -> EventLoopFuture<any Channel> {
        var bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(deadline)
            .channelOption(.autoRead, value: false)
        if isTimed {
            bootstrap = bootstrap.channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(HandshakeClock())
                }
            }
        }
        for (option, value) in SocketTuning.connection {
            bootstrap = bootstrap.channelOption(option, value: value)
        }
        switch address.dialTarget {
        case .address(let socketAddress): return bootstrap.connect(to: socketAddress)
        case .name(let host, let port): return bootstrap.connect(host: host, port: port)
        case .noSuchInterface:
            return eventLoop.makeFailedFuture(IOError(errnoCode: ENODEV, reason: "no such interface"))
        }
    }

    static func reason(_ error: any Error) -> EndReason {
        if let error = error as? IOError {
            // Before the connection is up a timeout is silence of the address, not of a peer.
            let reason = TLSFailure.reason(errno: error.errnoCode)
            return reason == .silent ? .timedOut : reason
        }
        if let error = error as? ChannelError, case .connectTimeout = error { return .timedOut }
        guard let error = error as? NIOConnectionError else { return .dialFailed }
        // Several addresses of one name: the most telling failure.
        let reasons = error.connectionErrors.map { reason($0.error) }
        for telling in [EndReason.refused, .timedOut, .hostUnreachable, .networkUnreachable]
        where reasons.contains(telling) {
            return telling
        }
        return reasons.first ?? .hostUnknown
    }
}
