/// The TXT part of a record: `v=1`, `t=<hex tag>`, and `p=1` while the device pairs by typed codes. Reading never fails: what makes no sense is left out.
///
/// Bounds: the first 16 strings of at most 64 bytes are looked at, the first of each key counts (RFC 6763 §6.4).
package struct DiscoveryText: Sendable, Equatable {
    static let ownVersion = 1
    private static let maximumStrings = 16
    private static let maximumStringBytes = 64

    package var version: Int?
    package var tag: [UInt8]?
    package var isPairing = false

    package init(version: Int?, tag: [UInt8]?, isPairing: Bool = false) {
        self.version = version
        self.tag = tag
        self.isPairing = isPairing
    }

    package init(strings: some Sequence<[UInt8]>) {
        var seen: (version: Bool, tag: Bool, pairing: Bool) = (false, false, false)
        for string in strings.prefix(Self.maximumStrings) where string.count <= Self.maximumStringBytes {
            guard let (key, value) = Self.split(string) else { continue }
            if key == UInt8(ascii: "v"), !seen.version {
                seen.version = true
                version = Self.number(value)
            } else if key == UInt8(ascii: "t"), !seen.tag {
                seen.tag = true
                tag = Hexadecimal.bytes(value, count: DiscoveryTag.byteCount)
            } else if key == UInt8(ascii: "p"), !seen.pairing {
                seen.pairing = true
                isPairing = Self.number(value) == 1
            }
        }
    }

    package var strings: [String] {
        (version.map { ["v=\($0)"] } ?? []) + (tag.map { ["t=" + Hexadecimal.text($0)] } ?? [])
            + (isPairing ? ["p=1"] : [])
    }

    /// Keys are one letter, either case (RFC 6763 §6.4); a string without `=` says nothing to us.
    private static func split(_ string: [UInt8]) -> (key: UInt8, value: ArraySlice<UInt8>)? {
        guard string.count >= 2, string[1] == UInt8(ascii: "=") else { return nil }
        return (string[0] | 0x20, string[2...])
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard (1...4).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
    }
}

enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns exactly `count` bytes, or nil.
    static func bytes(_ text: ArraySlice<UInt8>, count: Int) -> [UInt8]? {
        let values = text.compactMap { digits.firstIndex(of: $0) }
        guard values.count == text.count, text.count == 2 * count else { return nil }
        return (0..<count).map { UInt8(values[2 * $0] << 4 | values[2 * $0 + 1]) }
    }
}
