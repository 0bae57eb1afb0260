package import Crypto
import Foundation
import NIOSSL
package import SyncModel

/// The keys that make this machine a device: a P-256 device key for TLS, an Ed25519 signing key for its changes, and the
/// device key's signature that binds the two. They live in one file, so there is never half an identity.
package struct DeviceIdentity: Sendable {
    package let deviceID: DeviceID
    /// The device key's public half, DER.
    package let subjectPublicKeyInfo: [UInt8]
    package let signingKey: Curve25519.Signing.PrivateKey
    /// ECDSA over `MemberFact.bindingMessage`, raw r ‖ s, 64 bytes.
    package let binding: [UInt8]
    let certificate: NIOSSLCertificate
    let privateKey: NIOSSLPrivateKey

    /// Reads the keys in `directory`; on a device's first start makes them. Durable when it returns.
    package static func loadOrCreate(in directory: String) throws(IdentityError) -> DeviceIdentity {
        let file = IdentityFile(directory: directory)
        try file.prepareDirectory()
        if let bytes = try file.read() { return try DeviceIdentity(pem: bytes, path: file.path) }
        let bytes = try newKeys(path: file.path)
        let identity = try DeviceIdentity(pem: bytes, path: file.path)
        try file.write(bytes)
        return identity
    }

    /// Signs with the signing key; 64 bytes.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        guard let signature = try? signingKey.signature(for: message) else {
            preconditionFailure("Ed25519 signs any message")
        }
        return Array(signature)
    }

    /// The file of keys as it is, for a backup.
    package static func fileBytes(in directory: String) throws(IdentityError) -> [UInt8] {
        let file = IdentityFile(directory: directory)
        guard let bytes = try file.read() else { throw .failed(path: file.path, operation: "Opening", errno: ENOENT) }
        return bytes
    }

    /// Returns true if `directory` holds keys. A store that has data and no keys beside it lost them.
    package static func exists(in directory: String) throws(IdentityError) -> Bool {
        try IdentityFile(directory: directory).read() != nil
    }
}

// MARK: - The file

extension DeviceIdentity {
    /// The blocks of the file, in its order.
    private enum Block: String, CaseIterable {
        case deviceKey = "PRIVATE KEY"
        case certificate = "CERTIFICATE"
        case signingKey = "LANYARD SIGNING KEY"
        case binding = "LANYARD BINDING"
    }

    private init(pem bytes: [UInt8], path: String) throws(IdentityError) {
        func damaged(_ part: String) -> IdentityError { .damaged(path: path, part: part) }
        guard let text = String(validating: bytes, as: UTF8.self),
            let blocks = PEMBlock.blocks(of: text), blocks.map(\.label) == Block.allCases.map(\.rawValue)
        else { throw damaged("its parts are not the four expected") }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: blocks[0].text) else {
            throw damaged("the device key cannot be read")
        }
        guard let signingKey = try? Curve25519.Signing.PrivateKey(rawRepresentation: blocks[2].bytes) else {
            throw damaged("the signing key cannot be read")
        }
        self.signingKey = signingKey
        subjectPublicKeyInfo = Array(key.publicKey.derRepresentation)
        deviceID = DeviceID(subjectPublicKeyInfo: subjectPublicKeyInfo)
        binding = blocks[3].bytes
        guard Self.isBound(binding, to: key.publicKey, signingKey) else {
            throw damaged("the signing key is not bound to the device key")
        }
        guard let certificate = try? NIOSSLCertificate(bytes: blocks[1].bytes, format: .der),
            let privateKey = try? NIOSSLPrivateKey(bytes: Array(key.derRepresentation), format: .der),
            Self.isPair(certificate, privateKey),
            PeerKey(certificate)?.subjectPublicKeyInfo == subjectPublicKeyInfo
        else { throw damaged("the certificate is not the device key's") }
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// Returns true if `certificate` is for the public half of `key`: BoringSSL takes only such two into one context.
    private static func isPair(_ certificate: NIOSSLCertificate, _ key: NIOSSLPrivateKey) -> Bool {
        let pair = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        return (try? NIOSSLContext(configuration: pair)) != nil
    }

    private static func isBound(
        _ binding: [UInt8], to key: P256.Signing.PublicKey, _ signingKey: Curve25519.Signing.PrivateKey
    ) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: binding) else { return false }
        let message = MemberFact.bindingMessage(signingKey: Array(signingKey.publicKey.rawRepresentation))
        return key.isValidSignature(signature, for: message)
    }

    private static func newKeys(path: String) throws(IdentityError) -> [UInt8] {
        let deviceKey = P256.Signing.PrivateKey()
        let signingKey = Curve25519.Signing.PrivateKey()
        let message = MemberFact.bindingMessage(signingKey: Array(signingKey.publicKey.rawRepresentation))
        do {
            let binding = try deviceKey.signature(for: message).rawRepresentation
            let blocks: [(Block, [UInt8])] = [
                (.deviceKey, Array(deviceKey.derRepresentation)), (.certificate, try DeviceCertificate.der(deviceKey)),
                (.signingKey, Array(signingKey.rawRepresentation)), (.binding, Array(binding)),
            ]
            let texts = blocks.map { PEMBlock(label: $0.0.rawValue, bytes: $0.1).text + "\n" }
            return Array(texts.joined().utf8)
        } catch {
            throw .damaged(path: path, part: "new keys could not be made")
        }
    }
}
