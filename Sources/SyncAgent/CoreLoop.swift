import Logging
import NIOCore
import SyncCore
import SyncModel
import SyncTransport

/// A machine that is stepped with inputs and answers with effects.
protocol SteppedCore: SendableMetatype {
    associatedtype Input: ConnectionInput
    associatedtype Effect

    var nextDeadline: Tick? { get }
    mutating func step(_ input: Input, at now: Tick) -> [Effect]
    mutating func stop(at now: Tick) -> [Effect]
}

/// The inputs that every core has: its deadline, and the events of connections that carry no frame.
protocol ConnectionInput: SendableMetatype {
    static var deadlinePassed: Self { get }
    static func dialFailed(_ connection: ConnectionID, code: String) -> Self
    static func malformed(_ connection: ConnectionID, code: String) -> Self
    static func written(_ connection: ConnectionID, bytes: Int) -> Self
    static func closed(_ connection: ConnectionID, code: String) -> Self
}

extension AgentCore: SteppedCore {}
extension BulkCore: SteppedCore {}
extension Input: ConnectionInput {}
extension BulkInput: ConnectionInput {}

/// An interpreter of one core on the event loop that the sockets share. It decides nothing.
///
/// Confined to that loop. Reads and writes run elsewhere, and their results come back as inputs.
protocol CoreLoop: TransportEvents, SendableMetatype {
    associatedtype Core: SteppedCore

    var eventLoop: any EventLoop { get }
    var transport: SessionTransport { get }
    var journal: AgentJournal { get }
    var loggers: AgentLoggers { get }
    /// The logger of what the core itself does.
    var logger: Logger { get }
    var timer: DeadlineTimer { get }
    var core: Core { get set }
    /// True once the core has said goodbye: it is not stepped any more.
    var isStopped: Bool { get set }

    func step(_ input: Core.Input)
    func perform(_ effects: [Core.Effect])
}

extension CoreLoop {
    var now: Tick { Tick(nanoseconds: Int64(NIODeadline.now().uptimeNanoseconds)) }

    /// Steps the core, carries out its effects and sets the timer to its next deadline. Does nothing once stopped.
    func stepCore(_ input: Core.Input) {
        guard !isStopped else { return }
        perform(core.step(input, at: now))
        timer.schedule(core.nextDeadline)
    }

    /// Says goodbye to every peer; the core is not stepped afterwards. Returns false if that was done before.
    func stopCore() -> Bool {
        guard !isStopped else { return false }
        perform(core.stop(at: now))
        isStopped = true
        timer.cancel()
        return true
    }

    /// Returns the address to dial; nil for one that no host can have, which the core hears on a later turn of the loop.
    func address(of endpoint: Endpoint, dialling id: ConnectionID) -> HostPort? {
        if let address = HostPort(host: endpoint.host, port: Int(endpoint.port)) { return address }
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { loop.value.step(.dialFailed(id, code: EndReason.hostUnknown.rawValue)) }
        return nil
    }

    /// Sends the bytes of a frame. Closes the connection if there are none: the frame is beyond what the protocol carries.
    func send(_ id: ConnectionID, _ encode: () throws(WireError) -> [UInt8]) {
        do throws(WireError) { transport.send(id.rawValue, try encode()) } catch {
            logger.error("A frame could not be encoded.", metadata: ["code": "\(error)"])
            transport.closeNow(id.rawValue)
        }
    }

    /// Hands a payload's frame to `handle`. Passes over a kind of a later version; reports bytes that are no frame.
    func receive<Message>(
        _ connection: UInt64, _ payload: [UInt8], as decode: ([UInt8]) throws(WireError) -> Message?,
        _ handle: (ConnectionID, Message) -> Void
    ) {
        let id = ConnectionID(rawValue: connection)
        do throws(WireError) {
            guard let frame = try decode(payload) else { return }
            handle(id, frame)
        } catch {
            step(.malformed(id, code: error.code))
        }
    }

    // MARK: TransportEvents

    func written(_ connection: UInt64, byteCount: Int) {
        step(.written(ConnectionID(rawValue: connection), bytes: byteCount))
    }

    func handleClosed(_ connection: UInt64, reason: EndReason) {
        if reason.isRefusal { journal.record(code: reason.rawValue) }
        loggers.transport.debug(
            "A connection closed.", metadata: ["connection": "\(connection)", "code": "\(reason.rawValue)"])
        step(.closed(ConnectionID(rawValue: connection), code: reason.rawValue))
    }

    func handleDialFailed(_ connection: UInt64, reason: EndReason) {
        journal.record(code: reason.rawValue)
        loggers.transport.debug(
            "No connection came of a dial.", metadata: ["connection": "\(connection)", "code": "\(reason.rawValue)"])
        step(.dialFailed(ConnectionID(rawValue: connection), code: reason.rawValue))
    }
}

/// The one timer of a core, set to its next deadline. Confined to the event loop.
final class DeadlineTimer {
    /// Called when the deadline has come.
    var onDeadline: () -> Void = {}
    private let eventLoop: any EventLoop
    private var wake: (at: Tick, task: Scheduled<Void>)?

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Schedules the next wake-up; none for nil. An early one is harmless (the core looks at the time), so it is only replaced
    /// by an earlier one.
    func schedule(_ deadline: Tick?) {
        guard let deadline else { return }
        if let wake, wake.at <= deadline { return }
        wake?.task.cancel()
        let at = NIODeadline.uptimeNanoseconds(UInt64(max(0, deadline.nanoseconds)))
        let timer = NIOLoopBound(self, eventLoop: eventLoop)
        wake = (deadline, eventLoop.scheduleTask(deadline: at) { timer.value.fire() })
    }

    func cancel() { wake?.task.cancel() }

    private func fire() {
        wake = nil
        onDeadline()
    }
}
