import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// A connection of the metrics' port: one request, one answer. It is closed after its time, so that a scrape that never
/// reads, or never asks, holds a descriptor and its answer for some seconds and no longer.
struct MetricsChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let connection: HTTP1Channel.Value
        let hasPlace: Bool
        var channel: any Channel { connection.channel }
    }

    /// The number of open connections.
    private final class Count: Sendable {
        private let count = Mutex(0)

        func enter(limit: Int) -> Bool {
            count.withLock { count in
                count += 1
                return count <= limit
            }
        }

        func leave() { count.withLock { $0 -= 1 } }
    }

    private let limit: Int
    private let patience: TimeAmount
    private let count = Count()
    private let page: HTTP1Channel
    private let turnedAway: HTTP1Channel

    init(limit: Int, patience: TimeAmount, answer: @escaping @Sendable (Request) async -> Response) {
        self.limit = limit
        self.patience = patience
        var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
        decoder.maxHeaderListSize = 16_384
        decoder.maxHeaderFieldSize = 8_192
        decoder.maxHeaderFieldCount = 64
        let configuration = HTTP1Channel.Configuration(httpDecoderConfiguration: decoder)
        page = HTTP1Channel(
            responder: { request, writer, _ in
                var response = await answer(request)
                response.headers[.connection] = "close"
                try await writer.write(response: response.head, body: response.body)
            }, configuration: configuration)
        turnedAway = HTTP1Channel(
            responder: { _, writer, _ in
                var response = Response.plain(.serviceUnavailable, "There are too many connections.\n")
                response.headers[.connection] = "close"
                try await writer.write(response: response.head, body: response.body)
            }, configuration: configuration)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let hasPlace = count.enter(limit: limit)
        let closing = channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [count] _ in
            closing.cancel()
            count.leave()
        }
        return page.setup(channel: channel, logger: logger).map { Value(connection: $0, hasPlace: hasPlace) }
    }

    func handle(value: Value, logger: Logger) async {
        await (value.hasPlace ? page : turnedAway).handle(value: value.connection, logger: logger)
    }
}
