import Crypto
import SyncModel

/// A device with keys made from a number, so that every run has the same ones.
struct TestDevice: Sendable {
    let fact: MemberFact
    let signingKey: Curve25519.Signing.PrivateKey

    init(_ number: UInt8, name: String = "device") {
        let seed = [UInt8](repeating: number, count: 31) + [1]
        guard let deviceKey = try? P256.Signing.PrivateKey(rawRepresentation: seed),
            let signingKey = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed)
        else { preconditionFailure("32 bytes below the order are a key") }
        let publicKey = Array(signingKey.publicKey.rawRepresentation)
        guard let binding = try? deviceKey.signature(for: MemberFact.bindingMessage(signingKey: publicKey)) else {
            preconditionFailure("signing works")
        }
        self.signingKey = signingKey
        fact = MemberFact(
            subjectPublicKeyInfo: Array(deviceKey.publicKey.derRepresentation), signingKey: publicKey,
            binding: Array(binding.rawRepresentation), discoveryKey: seed, role: .writer, name: name)
    }

    var id: DeviceID { fact.device }

    func sign(_ message: [UInt8]) -> [UInt8] {
        guard let signature = try? signingKey.signature(for: message) else { preconditionFailure("signing works") }
        return Array(signature)
    }
}

extension Operation {
    static func event(_ stream: String, _ payload: String = "1", type: String? = nil) -> Operation {
        .appendEvent(Event(stream: stream, type: type, payload: Array(payload.utf8)))
    }
}

/// A generator with a seed: a failure is repeated by running the test again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    /// xorshift64* (Vigna 2014).
    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_f491_4f6c_dd1d
    }
}
