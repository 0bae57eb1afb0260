import Crypto

/// The private key that outranks every device of a space. It is shown once, when it is made; the space keeps its public half.
package struct RecoveryKey: Hashable, Sendable {
    package static let byteCount = 32

    /// Ed25519, `byteCount` bytes.
    package let bytes: [UInt8]
    private let key: Key

    /// Any 32 bytes are a key. Equality is that of `bytes`.
    private struct Key: Hashable, Sendable {
        let value: Curve25519.Signing.PrivateKey

        static func == (left: Key, right: Key) -> Bool { left.value.rawRepresentation == right.value.rawRepresentation }

        func hash(into hasher: inout Hasher) { hasher.combine(value.rawRepresentation) }
    }

    /// A new key.
    package init() {
        let value = Curve25519.Signing.PrivateKey()
        (bytes, key) = (Array(value.rawRepresentation), Key(value: value))
    }

    /// Nil unless exactly `byteCount` bytes.
    package init?(bytes: [UInt8]) {
        guard let value = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes) else { return nil }
        (self.bytes, key) = (bytes, Key(value: value))
    }

    /// Ed25519, 32 bytes.
    package var publicKey: [UInt8] { Array(key.value.publicKey.rawRepresentation) }

    func sign(_ message: [UInt8]) -> [UInt8] {
        guard let signature = try? key.value.signature(for: message) else {
            preconditionFailure("a key of 32 bytes signs")
        }
        return Array(signature)
    }
}
