import Logging
import NIOCore
import NIOSSL
import NIOTLS

/// The receiver of a link's reports; on the link's event loop.
protocol LinkDelegate: AnyObject {
    /// TLS is up and the peer's key passed the verification; the delegate looks once more and may `closeNow`.
    func linkSecured(_ link: Link, peer: PeerKey, negotiated: ApplicationProtocol?)
    func linkReceived(_ link: Link, payload: [UInt8])
    func linkWrote(_ link: Link, byteCount: Int)
    /// Reports the end of the link: once, and last.
    func linkEnded(_ link: Link, reason: EndReason)
}

/// A TLS connection that carries frames: the last handler of its channel, confined to its event loop.
///
/// Stages: `securing` → `greeting` → `established`; from each → `closing` → `ended`.
final class Link: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Stage {
        /// TLS is not up.
        case securing
        /// The first frame was not accepted: frames are small and the deadline runs.
        case greeting
        case established
        /// The link is closing, and reads no more.
        case closing
        case ended
    }

    let number: UInt64
    let direction: Direction
    let remote: HostPort
    let limits: TransportLimits
    let eventLoop: any EventLoop
    /// The protocol that we dialled for; nil for an accepted connection, whose peer chooses.
    let expected: ApplicationProtocol?
    let meter = WireMeter()
    weak var delegate: (any LinkDelegate)?

    private(set) var stage = Stage.securing
    private(set) var peer: PeerKey?
    /// The first reason given; later ones are consequences.
    private(set) var reason: EndReason?
    /// Payload bytes given to `send` and not yet written.
    private(set) var bufferedByteCount = 0

    private var context: ChannelHandlerContext?
    private var decoder = FrameDecoder()
    /// Plaintext that arrived while reading was paused.
    private var unread: ByteBuffer?
    private var isReading = true
    private var outbox = Outbox()
    private var isFlushScheduled = false
    private var greetingTimer: Scheduled<Void>?
    private var frameTimer: Scheduled<Void>?
    private var closeTimer: Scheduled<Void>?

    init(
        number: UInt64, direction: Direction, remote: HostPort, limits: TransportLimits, eventLoop: any EventLoop,
        expected: ApplicationProtocol? = nil
    ) {
        self.number = number
        self.direction = direction
        self.remote = remote
        self.limits = limits
        self.eventLoop = eventLoop
        self.expected = expected
    }

    var isOpen: Bool { stage == .greeting || stage == .established }
    var localAddress: SocketAddress? { context?.channel.localAddress }
    var isWritable: Bool { context?.channel.isWritable ?? false }

    /// The deadline for the first frame starts here, so that TLS counts against it.
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        greetingTimer = schedule(in: limits.greetingDeadline) { link in
            link.closeNow(link.stage == .securing ? .handshakeTimedOut : .helloTimedOut)
        }
    }

    /// Also the end of a channel that was closed before it was active, which is told nothing else.
    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        end()
    }

    /// The first frame was accepted: its deadline and the small limit end.
    func markEstablished() {
        guard stage == .greeting else { return }
        stage = .established
        greetingTimer?.cancel()
    }

    /// Gives the other side of a pairing time to commit.
    func extendGreeting(by amount: TimeAmount) {
        guard stage == .greeting else { return }
        greetingTimer?.cancel()
        greetingTimer = schedule(in: amount) { $0.closeNow(.pairingTimedOut) }
    }

    private func schedule(in amount: TimeAmount, _ body: @escaping (Link) -> Void) -> Scheduled<Void> {
        eventLoop.assumeIsolated().scheduleTask(in: amount) { [weak self] in
            if let self { body(self) }
        }
    }
}

// MARK: - Inbound

extension Link {
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted(let name)? = event as? TLSUserEvent, stage == .securing else {
            return context.fireUserInboundEventTriggered(event)
        }
        // Asked of TLS itself and not of the verification, which a resumed session would not have called.
        let handler = try? context.pipeline.syncOperations.handler(type: NIOSSLHandler.self)
        guard let peer = handler?.peerCertificate.flatMap(PeerKey.init) else { return closeNow(.noCertificate) }
        self.peer = peer
        stage = .greeting
        delegate?.linkSecured(self, peer: peer, negotiated: name.flatMap(ApplicationProtocol.init))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isOpen else { return }
        var buffer = unwrapInboundIn(data)
        if var kept = unread {
            unread = nil
            kept.writeBuffer(&buffer)
            buffer = kept
        }
        decode(&buffer)
    }

    /// Stops or resumes reading. Frames that are already here wait with the rest.
    func setReading(_ reading: Bool) {
        guard isOpen, reading != isReading else { return }
        isReading = reading
        try? context?.channel.syncOptions?.setOption(.autoRead, value: reading)
        frameTimer?.cancel()
        frameTimer = nil
        // Not from inside the caller's call: its delegate hears of frames on the next turn of the loop.
        if reading { eventLoop.assumeIsolated().execute { self.resume() } }
    }

    private func resume() {
        guard isOpen, isReading else { return }
        var buffer = unread ?? ByteBuffer()
        unread = nil
        decode(&buffer)
    }

    private func decode(_ buffer: inout ByteBuffer) {
        do throws(FrameError) {
            while isOpen, isReading {
                let limit = stage == .established ? limits.frameBytes : limits.frameBytesBeforeHello
                guard let payload = try decoder.next(&buffer, limit: limit) else { break }
                frameTimer?.cancel()
                frameTimer = nil
                delegate?.linkReceived(self, payload: payload)
            }
        } catch {
            return closeNow(error.reason)
        }
        if isOpen, buffer.readableBytes > 0 { unread = buffer }
        watchFrame()
    }

    /// Starts a deadline for the frame that has begun, long enough for the slowest link.
    private func watchFrame() {
        guard isOpen, isReading, decoder.isInsideFrame, frameTimer == nil else { return }
        let byteCount = decoder.missingByteCount ?? limits.frameBytes
        let transfer = TimeAmount.milliseconds(Int64(byteCount * 1000 / limits.frameBytesPerSecond))
        frameTimer = schedule(in: limits.frameDeadline + transfer) { $0.closeNow(.frameTimedOut) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard stage == .securing else {
            return closeNow(error is BoringSSLError ? TLSFailure.reason(error) : lossReason(error))
        }
        // TLS closes by itself after a failed handshake, by way of the meter, so that the peer reads the alert.
        let reason = TLSFailure.reason(error)
        record(reason == .closedInHandshake ? endOfStreamReason : reason)
        stage = .closing
        meter.lingers = true
    }

    /// An error of a connection that was up. An end without TLS's farewell is an end all the same.
    private func lossReason(_ error: any Error) -> EndReason {
        let reason = TLSFailure.reason(error)
        // A peer that turns us away right after the handshake may do so by a reset.
        let isEnd = reason == .closedByPeer || (stage == .greeting && reason == .reset)
        return isEnd ? endOfStreamReason : reason
    }

    /// The reason that an end of the stream means at this stage.
    private var endOfStreamReason: EndReason {
        switch stage {
        case .securing: direction == .inbound && meter.bytesIn == 0 ? .closedUnused : .closedInHandshake
        case .greeting: decoder.isInsideFrame ? .truncatedFrame : .closedBeforeHello
        case .established: decoder.isInsideFrame ? .truncatedFrame : .closedByPeer
        case .closing, .ended: .closedByPeer
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    /// Tells the delegate, once, that nothing comes or goes any more.
    private func end() {
        guard stage != .ended else { return }
        let reason = self.reason ?? endOfStreamReason
        stage = .ended
        greetingTimer?.cancel()
        frameTimer?.cancel()
        closeTimer?.cancel()
        outbox = Outbox()
        delegate?.linkEnded(self, reason: reason)
    }
}

// MARK: - Outbound

extension Link {
    /// Many bytes will come and go: fewer and larger reads, and more that waits in the socket.
    func expectBulk() {
        guard let options = context?.channel.syncOptions else { return }
        // Without them it is slower, and as right.
        try? options.setOption(SocketTuning.bulkNotSentLowWater, value: SocketTuning.bulkNotSentLowWaterBytes)
        try? options.setOption(
            .recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(
                minimum: 2 << 10, initial: 64 << 10, maximum: SocketTuning.bulkReadBytes))
    }

    /// Frames of one turn of the loop leave together.
    func send(_ payload: [UInt8]) {
        guard isOpen else { return }
        precondition((1...limits.frameBytes).contains(payload.count), "a frame has 1 to \(limits.frameBytes) bytes")
        guard bufferedByteCount + payload.count <= limits.bufferedBytes else { return closeNow(.tooSlow) }
        outbox.add(payload)
        bufferedByteCount += payload.count
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        eventLoop.assumeIsolated().execute { self.flush() }
    }

    private func flush() {
        isFlushScheduled = false
        guard stage != .ended, let context else { return }
        let parts = outbox.take()
        guard !parts.isEmpty else { return }
        for part in parts {
            // The head of a large payload, alone: its write is not reported.
            guard part.payloadByteCount > 0 else {
                context.write(wrapOutboundOut(part.bytes), promise: nil)
                continue
            }
            let promise = eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenComplete { result in
                self.wrote(part.payloadByteCount, result)
            }
            context.write(wrapOutboundOut(part.bytes), promise: promise)
        }
        context.flush()
    }

    private func wrote(_ count: Int, _ result: Result<Void, any Error>) {
        bufferedByteCount -= count
        guard case .success = result else { return }
        if isOpen { delegate?.linkWrote(self, byteCount: count) }
        if stage == .closing, bufferedByteCount == 0, closeTimer != nil { farewell() }
    }

    /// Closes the link: sent bytes may leave, for a bounded time, then TLS says farewell.
    func close(_ reason: EndReason) {
        guard isOpen else { return closeNow(reason) }
        self.reason = self.reason ?? reason
        stage = .closing
        greetingTimer?.cancel()
        frameTimer?.cancel()
        closeTimer = schedule(in: limits.closeDeadline) { $0.meter.close() }
        flush()
        if bufferedByteCount == 0 { farewell() }
    }

    private func farewell() { context?.close(promise: nil) }

    /// Closes at once, whatever was sent. `linkEnded` follows on a later turn of the loop.
    func closeNow(_ reason: EndReason) {
        guard stage != .ended else { return }
        self.reason = self.reason ?? reason
        stage = .closing
        greetingTimer?.cancel()
        frameTimer?.cancel()
        meter.close()
    }

    /// Keeps the first reason, for the verification, whose own error would say only that it failed.
    func record(_ reason: EndReason) { self.reason = self.reason ?? reason }
}
