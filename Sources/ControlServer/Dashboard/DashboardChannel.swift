import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

/// A connection of the dashboard. One beyond the limit is told so, and nothing else; one whose reader is slow is closed.
struct DashboardChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let connection: HTTP1Channel.Value
        let hasPlace: Bool
        var channel: any Channel { connection.channel }
    }

    /// The time in which the head of a request must come, and in which a connection may ask nothing.
    private static let idleTime = TimeAmount.seconds(60)

    private let connections: ControlConnections
    private let patience: TimeAmount
    private let page: HTTP1Channel
    private let turnedAway: HTTP1Channel

    init(
        connections: ControlConnections, patience: TimeAmount, responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.connections = connections
        self.patience = patience
        var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
        decoder.maxHeaderListSize = 16_384
        decoder.maxHeaderFieldSize = 16_384
        decoder.maxHeaderFieldCount = 64
        let configuration = HTTP1Channel.Configuration(idleTimeout: Self.idleTime, httpDecoderConfiguration: decoder)
        page = HTTP1Channel(responder: responder, configuration: configuration)
        turnedAway = HTTP1Channel(
            responder: { _, writer, _ in
                var response = Response.dashboardRefusal(.serviceUnavailable)
                response.headers[.retryAfter] = "1"
                try await writer.write(response: response.head, body: response.body)
            }, configuration: configuration)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let hasPlace = connections.enter(channel)
        let (page, patience) = (page, patience)
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(SlowReaderHandler(patience: patience))
        }.flatMap { page.setup(channel: channel, logger: logger) }.map { Value(connection: $0, hasPlace: hasPlace) }
    }

    func handle(value: Value, logger: Logger) async {
        await (value.hasPlace ? page : turnedAway).handle(value: value.connection, logger: logger)
    }
}

/// Closes a connection whose reader did not make room for more in time: what is written for it would wait in memory.
final class SlowReaderHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let patience: TimeAmount
    private var closing: Scheduled<Void>?

    init(patience: TimeAmount) { self.patience = patience }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let channel = context.channel
        closing?.cancel()
        closing =
            channel.isWritable
            ? nil : channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        context.fireChannelWritabilityChanged()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        closing?.cancel()
        closing = nil
    }
}
