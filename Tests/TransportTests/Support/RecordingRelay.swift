import NIOCore
import NIOPosix
import SyncTransport

/// A relay in the middle of a connection, which keeps what the side that dialled sent.
final class RecordingRelay: Sendable {
    let address: HostPort
    /// What the side that dialled sent, in the pieces in which it came.
    let recorded = History<[UInt8]>()
    private let onward = History<any Channel>()
    private let listener: any Channel

    init(to server: HostPort) async throws {
        let (recorded, onward) = (recorded, onward)
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .childChannelInitializer { dialled in
                ClientBootstrap(group: dialled.eventLoop)
                    .channelInitializer { $0.pipeline.addHandler(Passing(to: dialled)) }
                    .connect(host: server.host, port: server.port)
                    .flatMap { channel in
                        onward.append(channel)
                        return dialled.pipeline.addHandler(Passing(to: channel, recording: recorded))
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port, let address = HostPort(host: "127.0.0.1", port: port) else {
            throw ChannelError.unknownLocalAddress
        }
        self.address = address
    }

    /// Sends the piece that came last once more on the same connection.
    func repeatLast() async throws {
        guard let piece = recorded.all.last, let channel = onward.all.last else { throw ChannelError.inputClosed }
        try await channel.writeAndFlush(ByteBuffer(bytes: piece))
    }

    func close() async throws { try await listener.close() }

    private final class Passing: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        private let other: any Channel
        private let recorded: History<[UInt8]>?

        init(to other: any Channel, recording recorded: History<[UInt8]>? = nil) {
            self.other = other
            self.recorded = recorded
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            recorded?.append(Array(buffer: bytes))
            other.writeAndFlush(bytes, promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
    }
}
