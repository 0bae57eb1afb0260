/// Bytes in hexadecimal digits, as people and other programs compare digests.
package enum Hexadecimal {
    /// Returns two small digits a byte.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the bytes; nil unless the text is an even number of digits, small or capital.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.compactMap(JSONScanner.hexDigit)
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
