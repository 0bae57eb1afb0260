/// The protocols of the port, by their ALPN names. TLS settles on one; it is checked again after the handshake.
package enum ApplicationProtocol: String, Sendable {
    /// Frames of a session between members.
    case session = "lanyard/1"
    /// The bytes of attachments, between members: on a connection of their own, so that changes never wait behind them.
    case bulk = "lanyard-bulk/1"
    /// A pairing: the only place where a key that is not trusted yet gets through TLS, and only while an invitation is open.
    case pairing = "lanyard-pair/1"
}
