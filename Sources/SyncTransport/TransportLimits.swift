package import NIOCore
import SyncModel

/// The transport's bounds. Tests shorten the deadlines; an agent uses the defaults.
package struct TransportLimits: Sendable {
    /// TCP's connect.
    package var connectDeadline: TimeAmount = .seconds(2)
    /// A probe's connect: shorter, since a person waits for it, and several addresses may be tried.
    package var probeDeadline: TimeAmount = .milliseconds(1_500)
    /// The time from accept (or connect) to `markEstablished`: TLS and the first frame together.
    package var greetingDeadline: TimeAmount = .seconds(5)
    /// A frame must be whole after this long plus its length at `frameBytesPerSecond`.
    package var frameDeadline: TimeAmount = .seconds(15)
    /// The slowest link on which a frame may come: 64 kbit/s.
    package var frameBytesPerSecond = 8_000
    /// The time for sent bytes to leave before a requested close.
    package var closeDeadline: TimeAmount = .seconds(1)
    /// The time for the other side of a pairing to answer; it commits a transaction meanwhile.
    package var pairingDeadline: TimeAmount = .seconds(15)
    /// The accepted connections whose device is not known yet, by the standing of their address. Connections of a pairing count
    /// until their end.
    package var unauthenticatedKnown = 32
    package var unauthenticatedNamed = 16
    package var unauthenticatedStrangers = 16
    package var unauthenticatedPerAddress = 4
    /// The accepted connections of strangers from one /24 of IPv4, or /64 of IPv6.
    package var strangersPerNetwork = 8
    /// Connections accepted from one device: one for the session, one to probe, one for bulk, and their successors while
    /// the old ones are not known to be dead.
    package var connectionsPerDevice = 8
    /// The payload held for one peer before its connection is closed as too slow: twice what may be in flight.
    package var bufferedBytes = 16 << 20
    package var frameBytes = Limits.frameBytes
    package var frameBytesBeforeHello = Limits.frameBytesBeforeHello
    /// Wrong proofs one address may show in a minute.
    package var wrongProofsPerMinute = 3

    package init() {}

    func unauthenticated(_ standing: AddressStanding) -> Int {
        switch standing {
        case .known: unauthenticatedKnown
        case .named: unauthenticatedNamed
        case .stranger: unauthenticatedStrangers
        }
    }
}
