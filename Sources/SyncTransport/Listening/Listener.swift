import NIOCore
import NIOPosix

/// Opens the port. What is accepted goes to `accept`, on the event loop, before its first byte is read.
enum Listener {
    static func open(
        _ address: HostPort, on eventLoop: any EventLoop,
        accept: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        guard case .address(let socketAddress) = address.dialTarget else {
            return eventLoop.makeFailedFuture(ListenError.notAnAddress(address.description))
        }
        var bootstrap = ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Out of descriptors: try again in a second; the control socket goes on meanwhile.
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        PortReleaseHandler(), AcceptBackoffHandler(shouldForwardIOErrorCaught: false))
                }
            }
            .childChannelInitializer(accept)
        for (option, value) in SocketTuning.connection {
            bootstrap = bootstrap.childChannelOption(option, value: value)
        }
        // NIO turns IPV6_V6ONLY off by itself: one socket serves both families.
        return bootstrap.bind(to: socketAddress)
    }
}

/// Socket options of every connection.
enum SocketTuning {
    /// linux/tcp.h; NIO has no names for them.
    private static let tcpUserTimeout = NIOBSDSocket.Option(rawValue: 18)
    private static let tcpNotSentLowWater = NIOBSDSocket.Option(rawValue: 25)

    /// The unsent bytes of a bulk socket below which it is writable: a chunk, so that the socket has work while the next turn
    /// of the loop makes more.
    static let bulkNotSentLowWaterBytes = 256 << 10
    /// The bytes that one turn of the loop may read at once from a bulk socket.
    static let bulkReadBytes = 256 << 10

    static let bulkNotSentLowWater = ChannelOptions.Types.SocketOption(
        level: .tcp, name: tcpNotSentLowWater)

    static let connection: [(ChannelOptions.Types.SocketOption, ChannelOptions.Types.SocketOption.Value)] = [
        (.tcpOption(.tcp_nodelay), 1),
        // Bytes unacknowledged for 15 s: the peer is gone. In milliseconds.
        (.tcpOption(tcpUserTimeout), 15_000),
        // The kernel holds little that is not sent, so `written` follows the wire and a ping is not stuck behind bulk.
        (.tcpOption(tcpNotSentLowWater), 128 << 10),
    ]
}
