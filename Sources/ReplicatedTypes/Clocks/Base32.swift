/// RFC 4648 base32 without padding, and a check digit that catches what people get wrong.
package enum Base32 {
    package static let alphabet: [UInt8] = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    /// Digits that share one check digit in a device's text form.
    package static let partLength = 13

    package static func digits(of bytes: [UInt8]) -> [UInt8] {
        var digits: [UInt8] = []
        var buffer: UInt16 = 0
        var bitCount: UInt16 = 0
        for byte in bytes {
            buffer = (buffer << 8) | UInt16(byte)
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                digits.append(UInt8((buffer >> bitCount) & 31))
            }
            buffer &= (1 << bitCount) - 1
        }
        if bitCount > 0 { digits.append(UInt8((buffer << (5 - bitCount)) & 31)) }
        return digits
    }

    /// Nil when the digits do not hold exactly `count` bytes, or the unused low bits are not zero.
    package static func bytes(of digits: [UInt8], count: Int) -> [UInt8]? {
        guard digits.count == (count * 8 + 4) / 5 else { return nil }
        var bytes: [UInt8] = []
        var buffer: UInt16 = 0
        var bitCount: UInt16 = 0
        for digit in digits {
            buffer = (buffer << 5) | UInt16(digit)
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8((buffer >> bitCount) & 255))
            }
            buffer &= (1 << bitCount) - 1
        }
        guard buffer == 0, bytes.count == count else { return nil }
        return bytes
    }

    /// Nil for a character outside the alphabet; lower case is read as upper.
    package static func digit(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a")
        case UInt8(ascii: "2")...UInt8(ascii: "7"): character - UInt8(ascii: "2") + 26
        default: nil
        }
    }

    /// The digit that makes the weighted sum zero in GF(32), x⁵ + x² + 1, where the n-th digit from the end weighs xⁿ.
    ///
    /// Up to 31 digits, itself included, have different weights other than zero: so every single wrong digit and every
    /// swap of two is seen. (Luhn's digit in base 32 misses the swap of `A` and `7`.)
    package static func checkDigit(of digits: some Collection<UInt8>) -> UInt8 {
        digits.reduce(0) { sum, digit in
            let doubled = (sum ^ digit) << 1
            return doubled & 32 == 0 ? doubled : doubled ^ 0b100101
        }
    }
}
