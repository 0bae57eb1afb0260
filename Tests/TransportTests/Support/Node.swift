import Logging
import NIOCore
import NIOPosix
import SyncModel
import SyncTransport
import Testing

/// What a transport reported.
enum Event: Sendable, Equatable {
    case opened(UInt64, ApplicationProtocol, Direction, DeviceID, HostPort)
    case received(UInt64, [UInt8])
    case written(UInt64, Int)
    case closed(UInt64, EndReason)
    case dialFailed(UInt64, EndReason)
    case turnedAway(DeviceID?, EndReason)
}

/// A device with its transport on an event loop of its own.
final class Node: Sendable {
    /// What the node does by itself with the first frame of a connection.
    enum Manner: Sendable {
        /// Sends a frame when a connection opens, and accepts the first that comes: what an agent does.
        case greets
        /// Never accepts a first frame.
        case ignores
    }

    let identity: DeviceIdentity
    let directory: TemporaryDirectory
    let limits: TransportLimits
    let loop: any EventLoop
    let events = History<Event>()
    let lines = History<LogLines.Line>()
    private let inside: NIOLoopBound<Inside>

    /// What lives on the loop.
    private final class Inside: TransportEvents {
        var transport: SessionTransport!
        let events: History<Event>
        let manner: Manner
        var lastDialled: UInt64 = 0

        init(_ events: History<Event>, _ manner: Manner) {
            self.events = events
            self.manner = manner
        }

        func opened(
            _ connection: UInt64, _ protocol: ApplicationProtocol, direction: Direction, device: DeviceID,
            remote: HostPort
        ) {
            events.append(.opened(connection, `protocol`, direction, device, remote))
            switch manner {
            case .greets: transport.send(connection, Node.hello)
            case .ignores: break
            }
        }

        func received(_ connection: UInt64, payload: [UInt8]) {
            switch manner {
            case .greets: transport.markEstablished(connection)
            case .ignores: break
            }
            events.append(.received(connection, payload))
        }

        func written(_ connection: UInt64, byteCount: Int) { events.append(.written(connection, byteCount)) }
        func closed(_ connection: UInt64, reason: EndReason) { events.append(.closed(connection, reason)) }
        func dialFailed(_ connection: UInt64, reason: EndReason) { events.append(.dialFailed(connection, reason)) }
        func turnedAway(_ remote: HostPort, device: DeviceID?, reason: EndReason) {
            events.append(.turnedAway(device, reason))
        }
    }

    static let hello = Array("hello".utf8)

    init(_ manner: Manner = .greets, limits: TransportLimits = .patient) async throws {
        let directory = try TemporaryDirectory()
        let identity = try DeviceIdentity.loadOrCreate(in: directory.path)
        self.directory = directory
        self.identity = identity
        self.limits = limits
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        self.loop = loop
        let (events, lines) = (events, lines)
        inside = try await loop.submit {
            let inside = Inside(events, manner)
            inside.transport = SessionTransport(
                identity: identity, limits: limits, eventLoop: loop,
                logger: Logger(label: "test") { _ in LogLines(lines: lines) }, events: inside)
            return NIOLoopBound(inside, eventLoop: loop)
        }.get()
    }

    var device: DeviceID { identity.deviceID }

    /// Runs on the event loop, as an agent's loop would.
    func on<T: Sendable>(_ body: @escaping @Sendable (SessionTransport) throws -> T) async throws -> T {
        try await loop.submit { [inside] in try body(inside.value.transport) }.get()
    }

    func onFlat<T: Sendable>(_ body: @escaping @Sendable (SessionTransport) -> EventLoopFuture<T>) async throws -> T {
        try await loop.flatSubmit { [inside] in body(inside.value.transport) }.get()
    }

    /// Listens on a free port of `host` and gives it.
    func listen(_ host: String? = "127.0.0.1") async throws -> HostPort {
        try await onFlat { $0.listen(host: host, port: 0) }
    }

    /// Listens at a port below those that Linux gives to connections, and to listeners that name none, and below those of other
    /// tests. So none of these takes it when it is closed and opened again, or opened at a second address.
    func listenApart(_ host: String? = "127.0.0.1") async throws -> HostPort {
        for _ in 0..<100 {
            let port = Int.random(in: 10_000...16_383)
            do { return try await onFlat { $0.listen(host: host, port: port) } } catch ListenError.portInUse {}
        }
        throw ListenError.portInUse("each of 100 ports")
    }

    func trust(_ nodes: Node...) async throws {
        let devices = Set(nodes.map(\.device))
        try await on { $0.trust(devices) }
    }

    /// Dials and gives the connection's number.
    @discardableResult
    func dial(_ address: HostPort, _ protocol: ApplicationProtocol = .session) async throws -> UInt64 {
        try await loop.submit { [inside] in
            let number = inside.value.lastDialled + 1
            inside.value.lastDialled += 2
            inside.value.transport.dial(number, address, `protocol`)
            return number
        }.get()
    }

    /// Throws `Overdue` where the transport does not stop: a future that nothing completes cannot be cancelled.
    func shutdown() async throws {
        try await onFlat { transport in
            let stopped = transport.eventLoop.makePromise(of: Void.self)
            transport.shutdown().cascade(to: stopped)
            let overdue = transport.eventLoop.scheduleTask(in: .init(patience)) {
                stopped.fail(Overdue(what: "the transport to stop"))
            }
            stopped.futureResult.whenComplete { _ in overdue.cancel() }
            return stopped.futureResult
        }
    }
}

extension TransportLimits {
    /// The usual bounds without those of time: tests that are not about these run on machines that may be busy.
    static var patient: TransportLimits {
        var limits = TransportLimits()
        limits.connectDeadline = .minutes(1)
        limits.probeDeadline = .minutes(1)
        limits.greetingDeadline = .minutes(10)
        limits.frameDeadline = .minutes(10)
        limits.pairingDeadline = .minutes(10)
        return limits
    }
}

// MARK: - Waiting

extension Node {
    /// The number of the first connection that opened in this direction.
    func opened(
        _ direction: Direction, _ protocol: ApplicationProtocol = .session
    ) async throws -> UInt64 {
        try await events.first("opened \(direction)") { events in
            for case .opened(let number, `protocol`, direction, _, _) in events { return number }
            return nil
        }
    }

    func received(_ payload: [UInt8]) async throws {
        try await events.first("a frame of \(payload.count) bytes") { events in
            for case .received(_, payload) in events { return () }
            return nil
        }
    }

    func ended(_ connection: UInt64) async throws -> EndReason {
        try await events.first("the end of \(connection)") { events in
            for event in events {
                switch event {
                case .closed(connection, let reason), .dialFailed(connection, let reason): return reason
                case .closed, .dialFailed, .opened, .received, .written, .turnedAway: continue
                }
            }
            return nil
        }
    }

    /// Somebody was refused for this reason: a line in the log, and counted.
    func expectRefused(_ reason: EndReason, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let line = try await lines.first("a refusal for \(reason.rawValue)") { lines in
            lines.first { $0.metadata["reason.code"] == reason.rawValue }
        }
        #expect(line.message == "Refused a connection.", sourceLocation: sourceLocation)
        #expect(line.level == (reason == .ownDevice ? .debug : .warning), sourceLocation: sourceLocation)
        #expect(line.metadata["peer.address"]?.isEmpty == false, sourceLocation: sourceLocation)
        let count = try await on { $0.refusals[reason] }
        #expect(count > 0, sourceLocation: sourceLocation)
    }

    /// An accepted connection was turned away before its device was known.
    func expectTurnedAway(_ reason: EndReason, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await events.first("turned away for \(reason.rawValue)") { events in
            for case .turnedAway(_, reason) in events { return () }
            return nil
        }
        try await expectRefused(reason, sourceLocation: sourceLocation)
    }
}
