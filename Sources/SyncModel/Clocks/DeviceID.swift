package import Crypto

/// A machine's long-lived identity: the SHA-256 of its public key (SPKI, DER).
///
/// Text form: 52 base32 characters, a Luhn check character after each 13, in eight groups of seven.
/// One mistyped character, and every swap of two neighbours, is caught by the check character of its part.
package struct DeviceID: Hashable, Sendable, Comparable {
    package static let byteCount = 32

    /// Exactly `byteCount` bytes.
    package let bytes: [UInt8]

    /// Returns nil unless `bytes` are exactly 32.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// The device that holds the key with this SPKI (DER).
    package init(subjectPublicKeyInfo: [UInt8]) {
        bytes = Array(SHA256.hash(data: subjectPublicKeyInfo))
    }

    package static func < (left: DeviceID, right: DeviceID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension DeviceID: CustomStringConvertible {
    /// The first seven characters, for people; unique in any group of devices one person would own.
    package var shortID: String { String(description.prefix(7)) }

    package var description: String {
        let digits = Base32.digits(of: bytes)
        var characters: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: Base32.partLength) {
            let part = digits[start..<min(start + Base32.partLength, digits.count)]
            characters += part.map { Base32.alphabet[Int($0)] }
            characters.append(Base32.alphabet[Int(Base32.checkDigit(of: part))])
        }
        let groups = stride(from: 0, to: characters.count, by: 7).map { start in
            String(decoding: characters[start..<min(start + 7, characters.count)], as: UTF8.self)
        }
        return groups.joined(separator: "-")
    }

    /// Reads the text form; upper or lower case, hyphens and spaces ignored. Nil when a character or a check is wrong.
    package init?(text: String) {
        var digits: [UInt8] = []
        for character in text.utf8 where character != UInt8(ascii: "-") && character != UInt8(ascii: " ") {
            guard let digit = Base32.digit(of: character) else { return nil }
            digits.append(digit)
        }
        guard digits.count == 56 else { return nil }
        var data: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: Base32.partLength + 1) {
            let part = digits[start..<start + Base32.partLength]
            guard Base32.checkDigit(of: part) == digits[start + Base32.partLength] else { return nil }
            data += part
        }
        guard let bytes = Base32.bytes(of: data, count: Self.byteCount) else { return nil }
        self.bytes = bytes
    }
}
