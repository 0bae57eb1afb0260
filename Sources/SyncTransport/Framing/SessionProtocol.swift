/// The protocols of the port, by their ALPN names. TLS settles on one; it is checked again after the handshake.
enum SessionProtocol: String {
    /// Frames of a session between members.
    case session = "lanyard/1"
    /// A pairing: the only place where a key that is not trusted yet gets through TLS, and only while an invitation is open.
    case pairing = "lanyard-pair/1"
}
