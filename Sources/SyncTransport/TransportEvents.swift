package import SyncModel

package enum Direction: Sendable, Equatable {
    case inbound
    case outbound
}

/// The reports of a `SessionTransport`, always on its event loop and never from inside a call into the transport.
///
/// Connections are of `ApplicationProtocol.session` or `.bulk`; those of a pairing are not reported.
/// For each connection: `opened` once, then any number of `received` and `written`, then `closed` once and nothing
/// more. A dial that never opened ends in `dialFailed` alone. A connection accepted and turned away before its device
/// was known ends in `turnedAway` alone.
package protocol TransportEvents: AnyObject {
    /// TLS is up and the device's key is trusted. The caller's deadline to `markEstablished` runs since accept or connect.
    func opened(
        _ connection: UInt64, _ protocol: ApplicationProtocol, direction: Direction, device: DeviceID, remote: HostPort)
    /// Reports a whole frame, without its length.
    func received(_ connection: UInt64, payload: [UInt8])
    /// Reports that `byteCount` bytes given to `send` (lengths not counted) left our buffers.
    func written(_ connection: UInt64, byteCount: Int)
    func closed(_ connection: UInt64, reason: EndReason)
    func dialFailed(_ connection: UInt64, reason: EndReason)
    func turnedAway(_ remote: HostPort, device: DeviceID?, reason: EndReason)
}
