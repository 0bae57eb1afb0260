package import SyncModel

/// The state of one connection.
package struct ConnectionState: Sendable, Equatable {
    package let device: DeviceID?
    package let remote: HostPort
    package let direction: Direction
    /// Payload bytes given to `send` and not yet written.
    package let bufferedByteCount: Int
    /// True if the socket takes more without buffering.
    package let isWritable: Bool
    /// Bytes of the socket, below TLS. The kernel adds about 66 for each segment of IPv6, 52 of IPv4.
    package let bytesIn: UInt64
    package let bytesOut: UInt64

    init(_ link: Link) {
        device = link.peer?.device
        remote = link.remote
        direction = link.direction
        bufferedByteCount = link.bufferedByteCount
        isWritable = link.isWritable
        bytesIn = link.meter.bytesIn
        bytesOut = link.meter.bytesOut
    }
}
