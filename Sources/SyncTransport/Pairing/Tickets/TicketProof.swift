import Crypto
import SyncModel

/// Shows that a side of a join has the ticket's secret, and ties that to the keys that TLS proved and to every word the
/// side says of itself: a relay with keys of its own changes them, and cannot make a proof.
enum TicketProof {
    /// HMAC-SHA256(secret, "lanyard/join/v1/joiner" ‖ SPKI inviter ‖ SPKI joiner ‖ joiner's fields), lengths before all.
    static func joiner(secret: [UInt8], inviterKey: [UInt8], joiner: Introduction) -> [UInt8] {
        mac(secret, message("lanyard/join/v1/joiner", [inviterKey, joiner.subjectPublicKeyInfo, joiner.provenBytes]))
    }

    /// The same with "inviter", the inviter's fields, and the joiner's proof: it answers this request and no other.
    static func inviter(secret: [UInt8], inviter: Introduction, joinerKey: [UInt8], joinerProof: [UInt8]) -> [UInt8] {
        mac(
            secret,
            message(
                "lanyard/join/v1/inviter",
                [inviter.subjectPublicKeyInfo, joinerKey, inviter.provenBytes, joinerProof]))
    }

    static func isJoiner(_ proof: [UInt8], secret: [UInt8], inviterKey: [UInt8], joiner: Introduction) -> Bool {
        areEqual(proof, Self.joiner(secret: secret, inviterKey: inviterKey, joiner: joiner))
    }

    static func isInviter(
        _ proof: [UInt8], secret: [UInt8], inviter: Introduction, joinerKey: [UInt8], joinerProof: [UInt8]
    ) -> Bool {
        areEqual(
            proof,
            Self.inviter(secret: secret, inviter: inviter, joinerKey: joinerKey, joinerProof: joinerProof))
    }

    private static func mac(_ secret: [UInt8], _ message: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
    }

    private static func message(_ label: String, _ parts: [[UInt8]]) -> [UInt8] {
        var bytes = Array(label.utf8)
        for part in parts { bytes.append(lengthPrefixed: part) }
        return bytes
    }

    /// Compares in constant time: how far a guess was right must not show.
    private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
