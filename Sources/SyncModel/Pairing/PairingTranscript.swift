import Crypto

/// The common view of two devices that pair by typed codes: the keys that TLS proved and the statements that each made about
/// itself. Both derive the two codes from it, so a relay with a key of its own gives each side another transcript.
///
/// The scheme is the message authentication with short strings of S. Vaudenay, "Secure Communications over Insecure Channels
/// Based on Short Authenticated Strings" (CRYPTO 2005), in the form of Bluetooth's numeric comparison (Core Specification,
/// volume 2, part H, section 7.2): one side commits to a nonce before it sees the other's. PROTOCOL.md derives the bound.
package struct PairingTranscript: Hashable, Sendable {
    package static let nonceByteCount = 32
    /// The number of values that a code has: six digits.
    package static let codeCount: UInt64 = 1_000_000

    /// A device in a pairing.
    package struct Side: Hashable, Sendable {
        /// DER, P-256, proven by TLS.
        package let subjectPublicKeyInfo: [UInt8]
        /// The bytes of the `PairingOffer` that the device sent, as they came.
        package let statement: [UInt8]

        package init(subjectPublicKeyInfo: [UInt8], statement: [UInt8]) {
            self.subjectPublicKeyInfo = subjectPublicKeyInfo
            self.statement = statement
        }

        var device: DeviceID { DeviceID(subjectPublicKeyInfo: subjectPublicKeyInfo) }
    }

    /// The codes that both screens show. They always differ: the code of the own screen is never right.
    package struct Codes: Hashable, Sendable {
        /// Six digits, shown by the committing device.
        package let committer: String
        /// Six digits, shown by the answering device.
        package let answerer: String
    }

    /// The device with the lesser id; it commits.
    package let committer: Side
    package let answerer: Side

    /// - Precondition: the two sides have different keys.
    package init(_ one: Side, _ other: Side) {
        precondition(one.device != other.device, "a device does not pair with itself")
        (committer, answerer) = one.device < other.device ? (one, other) : (other, one)
    }

    /// Returns the commitment to the committer's nonce: 32 bytes.
    package func commitment(to nonce: [UInt8]) -> [UInt8] {
        Array(hash("lanyard/codes/v1/commitment", [nonce]))
    }

    /// Returns the codes of both screens.
    package func codes(committerNonce: [UInt8], answererNonce: [UInt8]) -> Codes {
        let hash = hash("lanyard/codes/v1/codes", [committerNonce, answererNonce])
        // The remainder of 64 bits favours no value by more than 2^-44.
        let value = hash.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % Self.codeCount
        return Codes(committer: Self.digits(value), answerer: Self.digits(Self.counterpart(of: value)))
    }

    /// The code of the other screen: an involution of the codes without a fixed point.
    ///
    /// One value decides both codes, and each code decides the other in the same way. So whichever roles a relay has towards the
    /// two sides, it must hit one chance in 10^6 for both screens together, and not one for each. `2 * value = 617_283` has no
    /// solution modulo 2, hence none modulo 10^6: the codes differ.
    private static func counterpart(of value: UInt64) -> UInt64 { (codeCount + 617_283 - value) % codeCount }

    private static func digits(_ value: UInt64) -> String {
        let text = String(value)
        return String(repeating: "0", count: 6 - text.utf8.count) + text
    }

    private func hash(_ label: String, _ nonces: [[UInt8]]) -> SHA256.Digest {
        var bytes = Array(label.utf8)
        for side in [committer, answerer] {
            bytes.append(lengthPrefixed: side.subjectPublicKeyInfo)
            bytes.append(lengthPrefixed: side.statement)
        }
        for nonce in nonces { bytes.append(lengthPrefixed: nonce) }
        return SHA256.hash(data: bytes)
    }
}
