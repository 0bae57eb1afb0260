import NIOSSL
import SyncModel

/// The public key a peer proved in TLS. Nothing else in its certificate is looked at.
struct PeerKey: Hashable {
    /// DER.
    let subjectPublicKeyInfo: [UInt8]
    let device: DeviceID

    /// Nil for a certificate whose key cannot be read.
    init?(_ certificate: NIOSSLCertificate) {
        guard let bytes = try? certificate.extractPublicKey().toSPKIBytes() else { return nil }
        subjectPublicKeyInfo = bytes
        device = DeviceID(subjectPublicKeyInfo: bytes)
    }
}
