import NIOCore
import SyncCore
import SyncModel
import SyncTransport

/// The way to a member without a session, as one TCP handshake shows it.
package struct WayProbe: Sendable, Hashable {
    /// `HOST:PORT` that was dialled.
    package let address: String
    /// The time of the handshake; nil: none came about.
    package let microseconds: Int64?
    /// The code of the reason why none came about (`EndReason`).
    package let failure: String?
}

/// Measures the ways to members without a session. Confined to the event loop.
///
/// Bounds: one dial at a time to each member, however many ask; `maximumAddresses` addresses, one after the other. The addresses are
/// those at which this agent dials the member anyway: no question brings one.
final class WayProbes {
    static let maximumAddresses = 3

    private let transport: SessionTransport
    private var running: [DeviceID: EventLoopFuture<WayProbe?>] = [:]
    private var newest: [DeviceID: (at: NIODeadline, probe: WayProbe?)] = [:]

    init(_ transport: SessionTransport) { self.transport = transport }

    /// Returns the first handshake that came about, else the failure that tells most; nil if there is no address.
    ///
    /// - Parameters:
    ///   - addresses: the likeliest first.
    ///   - age: the greatest age of a measurement that answers as well.
    func probe(
        _ device: DeviceID, at addresses: [Endpoint], notOlderThan age: TimeAmount = .zero
    ) -> EventLoopFuture<WayProbe?> {
        if let probe = running[device] { return probe }
        let now = NIODeadline.now()
        if let last = newest[device], now - last.at < age {
            return transport.eventLoop.makeSucceededFuture(last.probe)
        }
        let promise = transport.eventLoop.makePromise(of: WayProbe?.self)
        running[device] = promise.futureResult
        promise.futureResult.assumeIsolated().whenSuccess { probe in
            self.running[device] = nil
            self.newest[device] = (.now(), probe)
        }
        attempt(addresses.prefix(Self.maximumAddresses), promise, failed: nil)
        return promise.futureResult
    }

    private func attempt(
        _ addresses: ArraySlice<Endpoint>, _ promise: EventLoopPromise<WayProbe?>, failed: WayProbe?
    ) {
        guard let endpoint = addresses.first else { return promise.succeed(failed) }
        guard let address = HostPort(host: endpoint.host, port: Int(endpoint.port)) else {
            return attempt(addresses.dropFirst(), promise, failed: failed)
        }
        // A probe does not fail: its failure is its outcome.
        transport.probe(address).assumeIsolated().whenSuccess { outcome in
            switch outcome {
            case .took(let nanoseconds):
                promise.succeed(
                    WayProbe(address: "\(address)", microseconds: max(1, nanoseconds / 1_000), failure: nil))
            case .failed(let reason):
                // A machine that answers is nearer to the member than silence.
                let tellsMore = failed == nil || reason == .refused
                let failure = WayProbe(address: "\(address)", microseconds: nil, failure: reason.rawValue)
                self.attempt(addresses.dropFirst(), promise, failed: tellsMore ? failure : failed)
            }
        }
    }
}
