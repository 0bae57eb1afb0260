import NIOCore

/// Sits below TLS: counts the bytes of the socket, and closes it the way the moment asks for.
final class WireMeter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// The longest time that a refused peer may keep the socket to read why.
    static let lingerTime = TimeAmount.milliseconds(300)

    private(set) var bytesIn: UInt64 = 0
    private(set) var bytesOut: UInt64 = 0
    /// True once TLS sent an alert. Closing a socket that holds unread bytes resets the connection, and the peer may lose the
    /// alert that says why: so only our half is closed, and what still comes is dropped for `lingerTime`.
    var lingers = false
    private var isLingering = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytesIn += UInt64(unwrapInboundIn(data).readableBytes)
        if !isLingering { context.fireChannelRead(data) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        bytesOut += UInt64(unwrapOutboundIn(data).readableBytes)
        context.write(data, promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard lingers, mode == .all, context.channel.isActive else {
            return context.close(mode: mode, promise: promise)
        }
        promise?.succeed(())
        guard !isLingering else { return }
        isLingering = true
        context.close(mode: .output, promise: nil)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerTime) { [weak self] in self?.close() }
    }

    /// Closes the socket at once. TLS's farewell would wait for a peer that has no reason to answer.
    func close() { context?.close(promise: nil) }
}
