/// The protocols of the port, by their ALPN names. TLS settles on one; it is checked again after the handshake.
package enum ApplicationProtocol: String, Sendable {
    /// Frames of a session between members.
    case session = "lanyard/1"
    /// The bytes of attachments, between members: on a connection of their own, so that changes never wait behind them.
    case bulk = "lanyard-bulk/1"
    /// A join by ticket. A key that is not trusted gets through TLS here only while an invitation is open.
    case pairing = "lanyard-pair/1"
    /// A pairing by typed codes. A key that is not trusted gets through TLS here only while a person at this device pairs.
    case codes = "lanyard-codes/1"
}
