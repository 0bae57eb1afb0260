/// Tells whether bytes are one JSON text (RFC 8259) in UTF-8, without building anything.
///
/// Payloads pass through as the bytes their author wrote; this is what lets every node splice them into its answers.
/// Stricter than the grammar in one place: an escaped surrogate without its other half names no scalar, and many parsers
/// would refuse the whole answer for it (RFC 8259, section 8.2).
/// Promise: one pass, no recursion, no allocation beyond a bit per level; nesting up to `Limits.jsonDepth`.
package enum JSONSyntax {
    package static func isValid(_ bytes: [UInt8]) -> Bool { isValid(bytes, 0..<bytes.count) }

    package static func isValid(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return false }
        return bytes.withUnsafeBufferPointer { buffer in
            var scanner = JSONScanner(bytes: UnsafeBufferPointer(rebasing: buffer[range]))
            return scanner.text()
        }
    }
}

/// Bounds: every read is guarded by `position < bytes.count`.
private struct JSONScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    /// The open containers, one bit each, innermost last: 1 is an object, 0 an array.
    var levels: (UInt64, UInt64) = (0, 0)
    var depth = 0

    private enum Expectation {
        case value
        case valueOrEnd
        case keyOrEnd
        case key
        case commaOrEnd
    }

    mutating func text() -> Bool {
        var expectation = Expectation.value
        while true {
            skipWhitespace()
            if depth == 0, case .commaOrEnd = expectation { return position == bytes.count }
            guard position < bytes.count else { return false }
            let byte = bytes[position]
            switch expectation {
            case .valueOrEnd where byte == UInt8(ascii: "]"), .keyOrEnd where byte == UInt8(ascii: "}"):
                position += 1
                depth -= 1
                expectation = .commaOrEnd
            case .value, .valueOrEnd:
                guard let next = value(byte) else { return false }
                expectation = next
            case .key, .keyOrEnd:
                guard byte == UInt8(ascii: "\""), string() else { return false }
                skipWhitespace()
                guard take(UInt8(ascii: ":")) else { return false }
                expectation = .value
            case .commaOrEnd:
                position += 1
                if byte == UInt8(ascii: ",") {
                    expectation = isInObject ? .key : .value
                } else if byte == (isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    depth -= 1
                } else {
                    return false
                }
            }
        }
    }

    private var isInObject: Bool {
        let level = depth - 1
        return level < 64 ? levels.0 >> UInt64(level) & 1 == 1 : levels.1 >> UInt64(level - 64) & 1 == 1
    }

    /// Reads the value that starts with `byte`. Returns what may follow it; nil if the bytes are no value.
    private mutating func value(_ byte: UInt8) -> Expectation? {
        switch byte {
        case UInt8(ascii: "{"): return open(isObject: true) ? .keyOrEnd : nil
        case UInt8(ascii: "["): return open(isObject: false) ? .valueOrEnd : nil
        case UInt8(ascii: "\""): return string() ? .commaOrEnd : nil
        case UInt8(ascii: "t"): return literal("true") ? .commaOrEnd : nil
        case UInt8(ascii: "f"): return literal("false") ? .commaOrEnd : nil
        case UInt8(ascii: "n"): return literal("null") ? .commaOrEnd : nil
        default: return number() ? .commaOrEnd : nil
        }
    }

    private mutating func open(isObject: Bool) -> Bool {
        guard depth < Limits.jsonDepth else { return false }
        let bit: UInt64 = 1 << UInt64(depth % 64)
        if depth < 64 {
            levels.0 = isObject ? levels.0 | bit : levels.0 & ~bit
        } else {
            levels.1 = isObject ? levels.1 | bit : levels.1 & ~bit
        }
        depth += 1
        position += 1
        return true
    }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0a, 0x0d, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func literal(_ word: StaticString) -> Bool {
        guard bytes.count - position >= word.utf8CodeUnitCount else { return false }
        for index in 0..<word.utf8CodeUnitCount where bytes[position + index] != word.utf8Start[index] { return false }
        position += word.utf8CodeUnitCount
        return true
    }

    private mutating func digits() -> Bool {
        let start = position
        while position < bytes.count, bytes[position] &- 0x30 < 10 { position += 1 }
        return position > start
    }

    private mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) {
            guard digits() else { return false }
        }
        if take(UInt8(ascii: ".")) {
            guard digits() else { return false }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() else { return false }
        }
        return true
    }

    private mutating func string() -> Bool {
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return true
            }
            if byte < 0x20 { return false }
            if byte < 0x80 {
                position += 1
                if byte == UInt8(ascii: "\\"), !escape() { return false }
            } else if !multibyteScalar(byte) {
                return false
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        guard position < bytes.count else { return false }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            guard let unit = codeUnit() else { return false }
            switch unit {
            case 0xd800...0xdbff:
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = codeUnit() else { return false }
                return (0xdc00...0xdfff).contains(low)
            case 0xdc00...0xdfff: return false
            default: return true
            }
        default: return false
        }
    }

    /// Four hexadecimal digits.
    private mutating func codeUnit() -> UInt16? {
        guard bytes.count - position >= 4 else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[position..<position + 4] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt16(byte & 15)
            case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
                unit = unit << 4 | UInt16(byte & 15) + 9
            default: return nil
            }
        }
        position += 4
        return unit
    }

    /// Unicode 16.0, table 3-7: no overlong form, no surrogate, nothing beyond U+10FFFF.
    private mutating func multibyteScalar(_ lead: UInt8) -> Bool {
        let count: Int
        var second: ClosedRange<UInt8> = 0x80...0xbf
        switch lead {
        case 0xc2...0xdf: count = 1
        case 0xe0: (count, second) = (2, 0xa0...0xbf)
        case 0xe1...0xec, 0xee...0xef: count = 2
        case 0xed: (count, second) = (2, 0x80...0x9f)
        case 0xf0: (count, second) = (3, 0x90...0xbf)
        case 0xf1...0xf3: count = 3
        case 0xf4: (count, second) = (3, 0x80...0x8f)
        default: return false
        }
        guard bytes.count - position > count, second.contains(bytes[position + 1]) else { return false }
        for index in 1..<count where !(0x80...0xbf).contains(bytes[position + 1 + index]) { return false }
        position += count + 1
        return true
    }
}
