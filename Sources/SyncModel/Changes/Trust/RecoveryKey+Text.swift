/// The text form: `lanyard-key1-` and 56 characters of base32 in eight groups of seven, as in the text of a device id. Each
/// two groups end with a check character, so a wrong or swapped character is found, and where.
extension RecoveryKey {
    /// The reason why a text is no recovery key.
    package enum TextError: Error, Sendable, Equatable {
        case notAKey
        /// A key of another version.
        case otherVersion(Int)
        /// Characters are missing or too many.
        case length(Int)
        /// The check of these two groups, counted from 1, does not fit, or a character is none of base32.
        case mistyped(groups: ClosedRange<Int>)
    }

    /// The version of the text form; one digit.
    package static let textVersion = 1
    private static let prefix = "LANYARDKEY"
    private static let groupLength = 7
    /// 52 digits and 4 check characters.
    private static let characterCount = 56
    /// Longer texts are not looked at.
    private static let textBytes = 1_024

    /// 76 characters. With it everything can be done to the space: it is shown once, and written into no log.
    package var text: String {
        let digits = Base32.digits(of: bytes)
        var characters: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: Base32.partLength) {
            let part = digits[start..<min(start + Base32.partLength, digits.count)]
            characters += part.map { Base32.alphabet[Int($0)] }
            characters.append(Base32.alphabet[Int(Base32.checkDigit(of: part))])
        }
        let groups = stride(from: 0, to: characters.count, by: Self.groupLength).map {
            String(decoding: characters[$0..<$0 + Self.groupLength], as: UTF8.self)
        }
        return "lanyard-key\(Self.textVersion)-" + groups.joined(separator: "-")
    }

    /// Reads the text form; case, white space and hyphens do not matter.
    package init(text: String) throws(TextError) {
        guard text.utf8.count <= Self.textBytes else { throw .notAKey }
        let characters = text.utf8.filter { $0 > 0x20 && $0 != UInt8(ascii: "-") }
        let head = String(decoding: characters.prefix(Self.prefix.utf8.count), as: UTF8.self).uppercased()
        guard head == Self.prefix, characters.count > head.utf8.count else { throw .notAKey }
        let version = characters[head.utf8.count]
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(version) else { throw .notAKey }
        guard version == UInt8(ascii: "0") + UInt8(Self.textVersion) else { throw .otherVersion(Int(version) - 0x30) }
        try self.init(characters: Array(characters[(head.utf8.count + 1)...]))
    }

    private init(characters: [UInt8]) throws(TextError) {
        guard characters.count == Self.characterCount else { throw .length(characters.count) }
        var digits: [UInt8] = []
        let step = Base32.partLength + 1
        for start in stride(from: 0, to: characters.count, by: step) {
            let first = start / Self.groupLength + 1
            var part: [UInt8] = []
            for character in characters[start..<start + step] {
                guard let digit = Base32.digit(of: character) else { throw .mistyped(groups: first...first + 1) }
                part.append(digit)
            }
            guard let check = part.popLast(), Base32.checkDigit(of: part) == check else {
                throw .mistyped(groups: first...first + 1)
            }
            digits += part
        }
        guard let bytes = Base32.bytes(of: digits, count: Self.byteCount), let key = RecoveryKey(bytes: bytes) else {
            throw .mistyped(groups: 7...8)
        }
        self = key
    }
}
