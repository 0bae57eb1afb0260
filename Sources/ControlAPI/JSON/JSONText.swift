/// A JSON value as its author wrote it: numbers, escapes and the order of keys pass through byte for byte.
///
/// Invariant: valid JSON (RFC 8259) in UTF-8, without white space around it and without line breaks, so that it is
/// one line of an NDJSON file. Line breaks can only stand between tokens; each becomes a space.
public struct JSONText: Hashable, Sendable {
    /// The bytes, as stored and shipped.
    public let bytes: [UInt8]

    /// Checks `bytes` and takes them over. Throws with the offset of the first byte that is not JSON.
    public init(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        let (start, end, hasLineBreak) = try Self.scan(bytes)
        var text = start == 0 && end == bytes.count ? bytes : Array(bytes[start..<end])
        if hasLineBreak {
            for index in text.indices where text[index] == 0x0A || text[index] == 0x0D { text[index] = 0x20 }
        }
        self.bytes = text
    }

    /// The same from a string.
    public init(_ text: String) throws(JSONSyntaxError) {
        try self.init(Array(text.utf8))
    }

    /// Wraps bytes that were checked before they were stored; they are not checked again.
    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }

    private static func scan(_ bytes: [UInt8]) throws(JSONSyntaxError) -> (Int, Int, Bool) {
        let text = bytes.span
        let start = JSONScanner.skipWhitespace(text, from: 0)
        let end = try JSONScanner.endOfValue(text, from: start, depth: 0)
        guard JSONScanner.skipWhitespace(text, from: end) == text.count else {
            throw JSONSyntaxError(offset: end, reason: "something follows the value")
        }
        for index in start..<end where text[index] == 0x0A || text[index] == 0x0D { return (start, end, true) }
        return (start, end, false)
    }
}

extension JSONText: CustomStringConvertible {
    /// The text itself.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
