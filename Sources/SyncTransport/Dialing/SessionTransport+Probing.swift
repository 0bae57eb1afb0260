package import NIOCore

/// The outcome of a probe.
package enum ProbeOutcome: Sendable, Hashable {
    /// The time of the TCP handshake: one round trip.
    case took(nanoseconds: Int64)
    case failed(EndReason)
}

extension SessionTransport {
    /// Measures one TCP handshake with an address: connects, sends nothing, and closes at once. What listens there is not asked
    /// who it is. Takes at most `probeDeadline`, and reports no event.
    package func probe(_ address: HostPort) -> EventLoopFuture<ProbeOutcome> {
        eventLoop.preconditionInEventLoop()
        guard !isStopped else { return eventLoop.makeSucceededFuture(.failed(.shutdown)) }
        let promise = eventLoop.makePromise(of: ProbeOutcome.self)
        Dialer.connect(address, on: eventLoop, within: limits.probeDeadline, isTimed: true)
            .assumeIsolated().whenComplete { result in
                switch result {
                case .success(let channel):
                    let clock = try? channel.pipeline.syncOperations.handler(type: HandshakeClock.self)
                    channel.close(promise: nil)
                    promise.succeed(clock?.nanoseconds.map(ProbeOutcome.took) ?? .failed(.dialFailed))
                case .failure(let error): promise.succeed(.failed(Dialer.reason(error)))
                }
            }
        return promise.futureResult
    }
}

/// Measures the time that the kernel takes to connect a socket, without that of a resolver before it.
final class HandshakeClock: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    /// Nil until the socket is connected.
    private(set) var nanoseconds: Int64?

    func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        let connected = context.eventLoop.makePromise(of: Void.self)
        let start = NIODeadline.now()
        // Before the caller hears of it.
        connected.futureResult.assumeIsolated().whenComplete { result in
            if case .success = result { self.nanoseconds = (NIODeadline.now() - start).nanoseconds }
            promise?.completeWith(result)
        }
        context.connect(to: address, promise: connected)
    }
}
