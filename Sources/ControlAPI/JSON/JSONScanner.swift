/// The fault by which a text is not JSON (RFC 8259), and its place.
public struct JSONSyntaxError: Error, Equatable, Sendable {
    /// Bytes from the start of the text.
    public let offset: Int
    /// The cause in a few words: what was expected or found at that place.
    public let reason: String

    package enum Cause: Sendable {
        case syntax
        case notUTF8
        case tooDeep
    }

    /// The kind of fault; each has an error code of its own.
    package let cause: Cause

    /// An error at `offset`.
    public init(offset: Int, reason: String) {
        self.init(offset: offset, reason: reason, cause: .syntax)
    }

    package init(offset: Int, reason: String, cause: Cause) {
        self.offset = offset
        self.reason = reason
        self.cause = cause
    }
}

/// Finds where a JSON value ends, and with that says whether a text is JSON at all.
///
/// It builds nothing: a million payloads pass through it on their way in. Bounds: containers nest at most
/// `maximumDepth` deep, so a line of brackets cannot exhaust the stack. Strings must be UTF-8 (RFC 3629).
package enum JSONScanner {
    package static let maximumDepth = 128

    /// The index behind the one JSON value that starts at or after `start`, and behind the white space that follows it.
    ///
    /// - Parameter envelope: the levels that come on top of `maximumDepth`.
    package static func endOfDocument(
        _ text: Span<UInt8>, from start: Int = 0, envelope: Int = 0
    ) throws(JSONSyntaxError) -> Int {
        let end = try endOfValue(text, from: skipWhitespace(text, from: start), depth: -envelope)
        return skipWhitespace(text, from: end)
    }

    package static func skipWhitespace(_ text: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < text.count {
            switch text[index] {
            case 0x20, 0x0A, 0x0D, 0x09: index += 1
            case _: return index
            }
        }
        return index
    }

    package static func endOfValue(_ text: Span<UInt8>, from start: Int, depth: Int) throws(JSONSyntaxError) -> Int {
        guard start < text.count else { throw JSONSyntaxError(offset: start, reason: "a value is missing") }
        switch text[start] {
        case UInt8(ascii: "\""): return try endOfString(text, from: start)
        case UInt8(ascii: "{"): return try endOfObject(text, from: start, depth: depth + 1)
        case UInt8(ascii: "["): return try endOfArray(text, from: start, depth: depth + 1)
        case UInt8(ascii: "t"): return try endOfWord("true", text, from: start)
        case UInt8(ascii: "f"): return try endOfWord("false", text, from: start)
        case UInt8(ascii: "n"): return try endOfWord("null", text, from: start)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try endOfNumber(text, from: start)
        case _: throw JSONSyntaxError(offset: start, reason: "a value cannot start here")
        }
    }

    private static func endOfWord(
        _ word: StaticString, _ text: Span<UInt8>, from start: Int
    ) throws(JSONSyntaxError) -> Int {
        var index = start
        for scalar in word.description.utf8 {
            guard index < text.count, text[index] == scalar else {
                throw JSONSyntaxError(offset: start, reason: "not a JSON word (true, false and null are)")
            }
            index += 1
        }
        return index
    }

    private static func endOfNumber(_ text: Span<UInt8>, from start: Int) throws(JSONSyntaxError) -> Int {
        var index = start
        if text[index] == UInt8(ascii: "-") { index += 1 }
        guard index < text.count, isDigit(text[index]) else {
            throw JSONSyntaxError(offset: index, reason: "a digit is missing")
        }
        if text[index] == UInt8(ascii: "0") { index += 1 } else { index = endOfDigits(text, from: index) }
        if index < text.count, isDigit(text[index]) {
            throw JSONSyntaxError(offset: index, reason: "a number has no leading zeros")
        }
        if index < text.count, text[index] == UInt8(ascii: ".") {
            let end = endOfDigits(text, from: index + 1)
            guard end > index + 1 else { throw JSONSyntaxError(offset: end, reason: "a digit is missing") }
            index = end
        }
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < text.count, text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") { index += 1 }
            let end = endOfDigits(text, from: index)
            guard end > index else { throw JSONSyntaxError(offset: end, reason: "a digit is missing") }
            index = end
        }
        return index
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func endOfDigits(_ text: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < text.count, isDigit(text[index]) { index += 1 }
        return index
    }

    private static func endOfArray(_ text: Span<UInt8>, from start: Int, depth: Int) throws(JSONSyntaxError) -> Int {
        try checkDepth(depth, at: start)
        var index = skipWhitespace(text, from: start + 1)
        if index < text.count, text[index] == UInt8(ascii: "]") { return index + 1 }
        while true {
            index = skipWhitespace(text, from: try endOfValue(text, from: index, depth: depth))
            guard try continues(text, at: index, closing: UInt8(ascii: "]")) else { return index + 1 }
            index = skipWhitespace(text, from: index + 1)
        }
    }

    private static func endOfObject(_ text: Span<UInt8>, from start: Int, depth: Int) throws(JSONSyntaxError) -> Int {
        try checkDepth(depth, at: start)
        var index = skipWhitespace(text, from: start + 1)
        if index < text.count, text[index] == UInt8(ascii: "}") { return index + 1 }
        while true {
            guard index < text.count, text[index] == UInt8(ascii: "\"") else {
                throw JSONSyntaxError(offset: index, reason: "a key in double quotes is missing")
            }
            index = skipWhitespace(text, from: try endOfString(text, from: index))
            guard index < text.count, text[index] == UInt8(ascii: ":") else {
                throw JSONSyntaxError(offset: index, reason: "a colon is missing")
            }
            index = skipWhitespace(text, from: index + 1)
            index = skipWhitespace(text, from: try endOfValue(text, from: index, depth: depth))
            guard try continues(text, at: index, closing: UInt8(ascii: "}")) else { return index + 1 }
            index = skipWhitespace(text, from: index + 1)
        }
    }

    private static func checkDepth(_ depth: Int, at offset: Int) throws(JSONSyntaxError) {
        guard depth <= maximumDepth else {
            throw JSONSyntaxError(offset: offset, reason: "nested more than \(maximumDepth) deep", cause: .tooDeep)
        }
    }

    /// True at a comma, false at `closing`.
    private static func continues(
        _ text: Span<UInt8>, at index: Int, closing: UInt8
    ) throws(JSONSyntaxError) -> Bool {
        guard index < text.count else { throw JSONSyntaxError(offset: index, reason: "the text ends too early") }
        if text[index] == UInt8(ascii: ",") { return true }
        if text[index] == closing { return false }
        throw JSONSyntaxError(offset: index, reason: "a comma or a closing bracket is missing")
    }

    /// `start` is the opening quote.
    package static func endOfString(_ text: Span<UInt8>, from start: Int) throws(JSONSyntaxError) -> Int {
        var index = start + 1
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "\"") { return index + 1 }
            if byte == UInt8(ascii: "\\") {
                index = try endOfEscape(text, from: index)
            } else if byte < 0x20 {
                throw JSONSyntaxError(offset: index, reason: "a control character in a string must be escaped")
            } else if byte < 0x80 {
                index += 1
            } else {
                guard let end = UTF8Sequence.end(text, from: index) else {
                    throw JSONSyntaxError(offset: index, reason: "not UTF-8", cause: .notUTF8)
                }
                index = end
            }
        }
        throw JSONSyntaxError(offset: start, reason: "a string is not closed")
    }

    private static func endOfEscape(_ text: Span<UInt8>, from start: Int) throws(JSONSyntaxError) -> Int {
        guard start + 1 < text.count else { throw JSONSyntaxError(offset: start, reason: "an escape is cut off") }
        switch text[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start + 2
        case UInt8(ascii: "u"): return try endOfUnicodeEscape(text, from: start)
        case _: throw JSONSyntaxError(offset: start, reason: "not an escape that JSON knows")
        }
    }

    /// Stricter than the grammar: an escaped surrogate without its other half names no scalar, and many parsers would
    /// refuse the whole answer for it (RFC 8259, section 8.2).
    private static func endOfUnicodeEscape(_ text: Span<UInt8>, from start: Int) throws(JSONSyntaxError) -> Int {
        switch try unit(text, at: start) {
        case 0xD800...0xDBFF:
            guard start + 7 < text.count, text[start + 6] == UInt8(ascii: "\\"), text[start + 7] == UInt8(ascii: "u"),
                (0xDC00...0xDFFF).contains(try unit(text, at: start + 6))
            else { throw JSONSyntaxError(offset: start, reason: "half a surrogate pair") }
            return start + 12
        case 0xDC00...0xDFFF: throw JSONSyntaxError(offset: start, reason: "half a surrogate pair")
        case _: return start + 6
        }
    }

    /// The code unit of the `\uXXXX` at `start`.
    private static func unit(_ text: Span<UInt8>, at start: Int) throws(JSONSyntaxError) -> UInt16 {
        guard start + 6 <= text.count else { throw JSONSyntaxError(offset: start, reason: "an escape is cut off") }
        var unit: UInt16 = 0
        for index in start + 2..<start + 6 {
            guard let digit = hexDigit(text[index]) else {
                throw JSONSyntaxError(offset: index, reason: "not a hexadecimal digit")
            }
            unit = unit << 4 | digit
        }
        return unit
    }

    package static func hexDigit(_ byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        case _: nil
        }
    }
}

/// Well-formed UTF-8 as RFC 3629 section 4 lists it: no overlong forms, no surrogates, nothing above U+10FFFF.
enum UTF8Sequence {
    /// The index behind the sequence that starts at `start` with a byte ≥ 0x80; nil if it is not well-formed.
    static func end(_ text: Span<UInt8>, from start: Int) -> Int? {
        let (count, second): (Int, ClosedRange<UInt8>)
        switch text[start] {
        case 0xC2...0xDF: (count, second) = (2, 0x80...0xBF)
        case 0xE0: (count, second) = (3, 0xA0...0xBF)
        case 0xE1...0xEC, 0xEE...0xEF: (count, second) = (3, 0x80...0xBF)
        case 0xED: (count, second) = (3, 0x80...0x9F)
        case 0xF0: (count, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (count, second) = (4, 0x80...0xBF)
        case 0xF4: (count, second) = (4, 0x80...0x8F)
        case _: return nil
        }
        guard start + count <= text.count, second.contains(text[start + 1]) else { return nil }
        for index in start + 2..<start + count where text[index] & 0xC0 != 0x80 { return nil }
        return start + count
    }
}
