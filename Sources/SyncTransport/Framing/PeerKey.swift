import NIOSSL
import SwiftASN1
import SyncModel
import X509

/// The public key a peer proved in TLS. Nothing else in its certificate is looked at.
struct PeerKey: Hashable {
    /// DER.
    let subjectPublicKeyInfo: [UInt8]
    let device: DeviceID

    /// Reads the key; nil for a certificate whose key cannot be read, or is of a kind that no device here has.
    ///
    /// NIOSSL's `extractPublicKey` is not used: it ends the process for a key that does not parse, say a point off its curve,
    /// and these bytes are a stranger's.
    init?(_ certificate: NIOSSLCertificate) {
        var serializer = DER.Serializer()
        guard let der = try? certificate.toDERBytes(), let parsed = try? Certificate(derEncoded: der),
            (try? serializer.serialize(parsed.publicKey)) != nil
        else { return nil }
        subjectPublicKeyInfo = serializer.serializedBytes
        device = DeviceID(subjectPublicKeyInfo: subjectPublicKeyInfo)
    }
}
