import Crypto
package import SyncModel

/// The keys of the n-th simulated device: the same in every process, so that the same seed gives the same bytes.
package struct SimulatedDevice: Sendable {
    package let fact: MemberFact
    private let signingKey: Curve25519.Signing.PrivateKey

    package var id: DeviceID { fact.device }

    /// Ed25519 (RFC 8032) signs deterministically.
    package var sign: @Sendable ([UInt8]) -> [UInt8] {
        { [signingKey] message in
            guard let signature = try? signingKey.signature(for: message) else {
                preconditionFailure("Ed25519 signs any message")
            }
            return Array(signature)
        }
    }

    package static let all: [SimulatedDevice] = (0..<bindings.count).map { SimulatedDevice(number: $0) }

    private init(number: Int) {
        func secret(_ label: String) -> [UInt8] { Array(SHA256.hash(data: Array("\(label) \(number)".utf8))) }
        guard let deviceKey = try? P256.Signing.PrivateKey(rawRepresentation: secret("simulated device")),
            let signingKey = try? Curve25519.Signing.PrivateKey(rawRepresentation: secret("simulated signer"))
        else { preconditionFailure("any 32 bytes of SHA-256 are keys, but for one chance in 2^32") }
        self.signingKey = signingKey
        fact = MemberFact(
            subjectPublicKeyInfo: Array(deviceKey.publicKey.derRepresentation),
            signingKey: Array(signingKey.publicKey.rawRepresentation), binding: Self.bindings[number],
            discoveryKey: secret("simulated discovery"), role: .writer, name: "node\(number)")
        precondition(fact.isBound, "the binding of device \(number) was made with other keys")
    }
}
