package import Logging
package import NIOCore
import NIOSSL
package import SyncModel

/// The agent's network edge: listens, dials, and ships frames between devices that trust each other.
///
/// Confined to its event loop: every call is made there and every event arrives there, on a turn of its own. It decides nothing
/// about sessions. It refuses all but TLS 1.3 from a trusted key, and says why.
package final class SessionTransport {
    let identity: DeviceIdentity
    package let limits: TransportLimits
    package let eventLoop: any EventLoop
    let logger: Logger
    weak var events: (any TransportEvents)?
    let handlers: TLSHandlers

    private(set) var trusted: Set<DeviceID> = []
    /// Devices that may have a session only for its first frames.
    private(set) var heard: Set<DeviceID> = []
    /// Answers the pairing protocol; without one, or with no ticket open, that protocol is not spoken at all.
    package var inviter: TicketInviter?
    /// The pairing by typed codes that is open; without one, that protocol is not spoken at all.
    var codes: PairingLinks?
    package private(set) var refusals = RefusalCounters()
    private var refusalLog = RefusalLog()

    var links: [UInt64: Link] = [:]
    var caps: ConnectionCaps
    /// Links that hold a place in `caps`.
    var unauthenticated: [UInt64: ConnectionCaps.Place] = [:]
    /// Returns the standing of an address; called for each connection that is accepted.
    package var standing: (_ host: String) -> AddressStanding = { _ in .stranger }
    var exchanges: [UInt64: InviterExchange] = [:]
    /// Accepted links of a pairing by typed codes, with the pairing they belong to.
    var codeLinks: [UInt64: PairingLinks] = [:]
    /// Links whose `opened` was reported and whose `closed` was not.
    var opened: Set<UInt64> = []
    /// The bulk connections among them.
    var bulk: Set<UInt64> = []
    /// Dials that were neither opened nor failed.
    var dialing: Set<UInt64> = []
    var listening: [any Channel] = []
    private var lastAccepted: UInt64 = 0
    private var stopped: EventLoopPromise<Void>?

    package init(
        identity: DeviceIdentity, limits: TransportLimits = TransportLimits(), eventLoop: any EventLoop, logger: Logger,
        events: any TransportEvents
    ) {
        self.identity = identity
        self.limits = limits
        self.eventLoop = eventLoop
        self.logger = logger
        self.events = events
        handlers = TLSHandlers(identity: identity)
        caps = ConnectionCaps(limits)
    }

    /// The devices that may connect. Connections of devices left out are closed at once.
    ///
    /// - Parameter heard: devices that may have a session only to be refused there, or to be told something. Their sessions are the
    ///   caller's to close.
    package func trust(_ devices: Set<DeviceID>, hearing heard: Set<DeviceID> = []) {
        eventLoop.preconditionInEventLoop()
        trusted = devices
        self.heard = heard
        for link in links.values where opened.contains(link.number) {
            guard let device = link.peer?.device, device != identity.deviceID else { continue }
            if !mayPass(device, bulk.contains(link.number) ? .bulk : .session) { link.closeNow(.notPaired) }
        }
    }

    /// Connections with a trusted device: `opened` and not yet `closed`.
    package var connectionCount: Int { opened.count }

    /// The payload of one frame, 1 byte to the frame limit. Frames of one turn of the loop leave together; a connection
    /// that is gone or closing takes none.
    package func send(_ connection: UInt64, _ payload: [UInt8]) {
        eventLoop.preconditionInEventLoop()
        links[connection]?.send(payload)
    }

    /// The peer's first frame was accepted. To be called from within `received`, before the next frame is read.
    package func markEstablished(_ connection: UInt64) {
        eventLoop.preconditionInEventLoop()
        links[connection]?.markEstablished()
    }

    /// Closes after sent bytes have left, at most `closeDeadline` later. `closed` follows; nothing is received any more.
    package func close(_ connection: UInt64) {
        eventLoop.preconditionInEventLoop()
        links[connection]?.close(.closedHere)
    }

    /// Closes at once, whatever was sent. `closed` follows.
    package func closeNow(_ connection: UInt64) {
        eventLoop.preconditionInEventLoop()
        links[connection]?.closeNow(.closedHere)
    }

    /// Closes every connection at once whose local address is none of these: nothing can come through it any more.
    ///
    /// - Parameter addresses: of all interfaces that are running, network byte order, 4 or 16 bytes. Empty when the system did not
    ///   answer: nothing is closed then.
    package func closeLinks(besidesThoseAt addresses: Set<[UInt8]>) {
        eventLoop.preconditionInEventLoop()
        guard !addresses.isEmpty else { return }
        for link in links.values where LocalAddress(link.localAddress)?.isGone(from: addresses) ?? false {
            link.closeNow(.interfaceDown)
        }
    }

    /// Sets whether frames of this connection are read. The peer feels it as backpressure.
    package func setReading(_ connection: UInt64, _ isReading: Bool) {
        eventLoop.preconditionInEventLoop()
        links[connection]?.setReading(isReading)
    }

    package func state(of connection: UInt64) -> ConnectionState? {
        eventLoop.preconditionInEventLoop()
        return links[connection].map(ConnectionState.init)
    }

    /// Closes everything. Completes when the last connection is gone, within `closeDeadline` and a second.
    package func shutdown() -> EventLoopFuture<Void> {
        eventLoop.preconditionInEventLoop()
        if let stopped { return stopped.futureResult }
        let promise = eventLoop.makePromise(of: Void.self)
        stopped = promise
        for channel in listening { channel.close(promise: nil) }
        for link in links.values { link.close(.shutdown) }
        finishShutdown()
        return promise.futureResult
    }

    var isStopped: Bool { stopped != nil }

    func finishShutdown() {
        if links.isEmpty, dialing.isEmpty { stopped?.succeed(()) }
    }

    /// Accepted connections have even numbers, dialled ones odd.
    func nextAccepted() -> UInt64 {
        lastAccepted += 2
        return lastAccepted
    }

    /// Counts and logs one that was turned away.
    func refuse(_ remote: HostPort, _ device: DeviceID?, _ direction: Direction, _ reason: EndReason) {
        refusals.count(reason)
        guard let unlogged = refusalLog.admit(reason, now: .now()) else { return }
        var metadata = Logger.Metadata([
            .code: reason.rawValue, .address: remote.description, .device: device?.shortID ?? "unknown",
            .direction: direction == .inbound ? "inbound" : "outbound",
        ])
        if unlogged > 0 { metadata[LogKey.unlogged.rawValue] = "\(unlogged)" }
        // An echo of our own record just after a restart leads to ourselves: no action is needed.
        logger.log(level: reason == .ownDevice ? .debug : .warning, "Refused a connection.", metadata: metadata)
    }
}
