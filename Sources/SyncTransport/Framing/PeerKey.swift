import NIOSSL
import SyncModel

/// The public key a peer proved in TLS. Nothing else in its certificate is looked at.
struct PeerKey: Hashable {
    /// DER.
    let subjectPublicKeyInfo: [UInt8]
    let device: DeviceID

    /// Reads the key of a certificate that BoringSSL has taken as the leaf of a chain; nil when it cannot be written as DER.
    ///
    /// Never call it with other certificates: NIOSSL's `extractPublicKey` ends the process for a key that does not parse,
    /// say a point off its curve. A handshake parses the peer's key before it calls our verification and ends without one
    /// (`tls13_process_certificate`), since it checks the peer's signature with that key.
    init?(_ certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.extractPublicKey().toSPKIBytes() else { return nil }
        subjectPublicKeyInfo = bytes
        device = DeviceID(subjectPublicKeyInfo: bytes)
    }
}
