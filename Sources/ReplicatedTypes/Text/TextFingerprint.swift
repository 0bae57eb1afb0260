/// A fingerprint of a long text: it tells the text from another without reading all of it after every keystroke.
///
/// It is a polynomial over the scalars at two fixed points modulo 2^61 − 1. The fingerprint of two stretches in a row follows
/// from theirs, so after an edit only the stretch around it is read again (`StretchTree`). It depends only on the scalars in
/// their order. Two texts that differ by chance have the same fingerprint with a probability below 10^-20. An attacker can
/// make two such texts, so the fingerprint serves to find mistakes, not to establish trust.
package struct TextFingerprint: StretchSummary, Hashable {
    /// The number of scalars from which on the state digest holds a fingerprint in place of the text.
    package static let leastCount = 1 << 16

    package static let mostScalars = 1_024
    package static let partsAnywhere = true

    /// A value at both points.
    struct Values: Hashable, Sendable {
        var first: UInt64
        var second: UInt64
    }

    private static let points = Values(first: 0x0c3f_5a1d_94e7_2b86, second: 0x1713_88f0_6d2e_a4b9)

    private(set) var sum = Values(first: 0, second: 0)
    /// The points to the power of how many scalars there are: what puts something before these.
    private var shift = Values(first: 1, second: 1)

    package init() {}

    package init(_ string: String, count: Int) {
        for scalar in string.unicodeScalars {
            // Not the value itself: a text may begin with zeros.
            let term = UInt64(scalar.value) + 1
            sum.first = Self.add(Self.multiply(sum.first, Self.points.first), term)
            sum.second = Self.add(Self.multiply(sum.second, Self.points.second), term)
        }
        shift = Values(first: Self.power(Self.points.first, count), second: Self.power(Self.points.second, count))
    }

    package mutating func append(_ next: Self) {
        sum.first = Self.add(Self.multiply(sum.first, next.shift.first), next.sum.first)
        sum.second = Self.add(Self.multiply(sum.second, next.shift.second), next.sum.second)
        shift.first = Self.multiply(shift.first, next.shift.first)
        shift.second = Self.multiply(shift.second, next.shift.second)
    }

    package static func mayPart(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool { true }

    // MARK: Modulo 2^61 − 1

    private static let prime: UInt64 = (1 << 61) - 1

    private static func power(_ base: UInt64, _ exponent: Int) -> UInt64 {
        var (result, square, rest): (UInt64, UInt64, Int) = (1, base, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result = multiply(result, square) }
            square = multiply(square, square)
            rest >>= 1
        }
        return result
    }

    @inline(__always)
    private static func multiply(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (high, low) = left.multipliedFullWidth(by: right)
        return add(low & prime, (high << 3) | (low >> 61))
    }

    /// Returns the sum of two numbers below 2^61.
    @inline(__always)
    private static func add(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let sum = left &+ right
        return sum >= prime ? sum &- prime : sum
    }
}

// What the state digest holds of a text: the whole, or of a long one its fingerprint.

extension [UInt8] {
    package mutating func append(visible text: ReplicatedText) {
        if text.count < TextFingerprint.leastCount {
            append(lengthPrefixed: Array(text.string.utf8))
        } else {
            append(text.storage.fingerprint, of: text.count)
        }
    }

    /// Appends the texts of several lives, one behind the other.
    package mutating func append(visible string: String) {
        let count = string.unicodeScalars.count
        if count < TextFingerprint.leastCount {
            append(lengthPrefixed: Array(string.utf8))
        } else {
            append(TextFingerprint(string, count: count), of: count)
        }
    }

    private mutating func append(_ fingerprint: TextFingerprint, of count: Int) {
        // No text that is written out has as many bytes, so it is none of those.
        append(varint: UInt64(count) + (1 << 40))
        append(varint: fingerprint.sum.first)
        append(varint: fingerprint.sum.second)
    }
}
