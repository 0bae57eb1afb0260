/// A machine's long-lived identity: the SHA-256 of its public key (SPKI, DER).
///
/// Text form: 52 base32 characters, a check character after each 13, in eight groups of seven.
/// One mistyped character, and every swap of two neighbours, is caught by the check character of its part.
public struct DeviceID: Hashable, Sendable, Comparable {
    /// The length of a SHA-256.
    public static let byteCount = 32

    /// The 32 bytes as big-endian words: ids are compared and hashed all the time, and words need no heap.
    private let word0, word1, word2, word3: UInt64

    /// Returns nil unless `bytes` are exactly 32.
    public init?(bytes: [UInt8]) { self.init(bytes: bytes[...]) }

    /// Returns nil unless `bytes` are exactly 32. No generic function: each id that is read comes through here, and across
    /// modules a generic one asks for each byte through a witness table.
    public init?(bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        (word0, word1, word2, word3) = bytes.withUnsafeBytes { bytes in
            func word(_ index: Int) -> UInt64 {
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
            }
            return (word(0), word(1), word(2), word(3))
        }
    }

    /// Exactly `byteCount` bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        for word in [word0, word1, word2, word3] { bytes.append(bigEndian: word) }
        return bytes
    }

    /// The order of the bytes.
    public static func < (left: DeviceID, right: DeviceID) -> Bool {
        (left.word0, left.word1, left.word2, left.word3) < (right.word0, right.word1, right.word2, right.word3)
    }
}

extension DeviceID: CustomStringConvertible {
    /// The first seven characters, for people; unique in any group of devices one person would own.
    public var shortID: String { String(description.prefix(7)) }

    /// The text form, check characters included.
    public var description: String {
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
    public init?(text: String) {
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
        self.init(bytes: bytes)
    }
}
