/// A parsed JSON text: nodes point into the source, so a value can be taken out byte for byte.
package final class JSONDocument: Sendable {
    package let source: [UInt8]
    package let root: JSONNode

    /// - Parameter envelope: the levels around a value that come on top of `JSONScanner.maximumDepth`.
    package init(_ source: [UInt8], envelope: Int = 0) throws(JSONSyntaxError) {
        self.source = source
        root = try JSONNode.parse(source, envelope: envelope)
    }

    /// The bytes of `node` as they stand in the source.
    package func text(of node: JSONNode) -> [UInt8] { Array(source[node.range]) }

    /// The string of a string node; nil for any other node.
    package func string(of node: JSONNode) -> String? {
        guard case .string = node.kind else { return nil }
        return JSONNode.unescape(source[node.range.lowerBound + 1..<node.range.upperBound - 1])
    }
}

/// A value of a JSON text.
package struct JSONNode: Sendable {
    package enum Kind: Sendable {
        case null
        case bool(Bool)
        case number
        case string
        case array([JSONNode])
        case object([(key: String, value: JSONNode)])
    }

    package let kind: Kind
    package let range: Range<Int>

    /// The syntax is checked first by `JSONScanner` as a whole; building can then rely on it.
    static func parse(_ source: [UInt8], envelope: Int) throws(JSONSyntaxError) -> JSONNode {
        let text = source.span
        let end = try JSONScanner.endOfDocument(text, envelope: envelope)
        guard end == text.count else {
            throw JSONSyntaxError(offset: end, reason: "something follows the value")
        }
        return try node(source, from: JSONScanner.skipWhitespace(text, from: 0))
    }

    private static func node(_ source: [UInt8], from start: Int) throws(JSONSyntaxError) -> JSONNode {
        switch source[start] {
        case UInt8(ascii: "{"): return try object(source, from: start)
        case UInt8(ascii: "["): return try array(source, from: start)
        case _: break
        }
        let end = try JSONScanner.endOfValue(source.span, from: start, depth: 0)
        let kind: Kind =
            switch source[start] {
            case UInt8(ascii: "\""): .string
            case UInt8(ascii: "t"): .bool(true)
            case UInt8(ascii: "f"): .bool(false)
            case UInt8(ascii: "n"): .null
            case _: .number
            }
        return JSONNode(kind: kind, range: start..<end)
    }

    private static func array(_ source: [UInt8], from start: Int) throws(JSONSyntaxError) -> JSONNode {
        var elements: [JSONNode] = []
        var index = JSONScanner.skipWhitespace(source.span, from: start + 1)
        while source[index] != UInt8(ascii: "]") {
            let element = try node(source, from: index)
            elements.append(element)
            index = JSONScanner.skipWhitespace(source.span, from: element.range.upperBound)
            if source[index] == UInt8(ascii: ",") {
                index = JSONScanner.skipWhitespace(source.span, from: index + 1)
            }
        }
        return JSONNode(kind: .array(elements), range: start..<index + 1)
    }

    private static func object(_ source: [UInt8], from start: Int) throws(JSONSyntaxError) -> JSONNode {
        var members: [(key: String, value: JSONNode)] = []
        var index = JSONScanner.skipWhitespace(source.span, from: start + 1)
        while source[index] != UInt8(ascii: "}") {
            let keyEnd = try JSONScanner.endOfString(source.span, from: index)
            let key = unescape(source[index + 1..<keyEnd - 1])
            let colon = JSONScanner.skipWhitespace(source.span, from: keyEnd)
            let value = try node(source, from: JSONScanner.skipWhitespace(source.span, from: colon + 1))
            members.append((key, value))
            index = JSONScanner.skipWhitespace(source.span, from: value.range.upperBound)
            if source[index] == UInt8(ascii: ",") {
                index = JSONScanner.skipWhitespace(source.span, from: index + 1)
            }
        }
        return JSONNode(kind: .object(members), range: start..<index + 1)
    }

    /// The scalars of a string's content (without its quotes), whose syntax was checked.
    static func unescape(_ content: ArraySlice<UInt8>) -> String {
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
        var bytes: [UInt8] = []
        var units: [UInt16] = []
        var index = content.startIndex
        while index < content.endIndex {
            if content[index] != UInt8(ascii: "\\") {
                bytes.append(content[index])
                index += 1
            } else if content[index + 1] == UInt8(ascii: "u") {
                units.append(content[index + 2..<index + 6].reduce(0) { $0 << 4 | (JSONScanner.hexDigit($1) ?? 0) })
                index += 6
                // The first half of a pair waits for the second, which follows at once.
                if units.count == 1, (0xD800...0xDBFF).contains(units[0]) { continue }
                bytes.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
                units.removeAll()
            } else {
                bytes.append(character(of: content[index + 1]))
                index += 2
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func character(of escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        case _: escape
        }
    }
}
