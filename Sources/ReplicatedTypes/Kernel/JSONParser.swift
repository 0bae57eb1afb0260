/// Builds a `JSONValue` from a text. One pass; recursion as deep as `JSONValue.maximumDepth` and no deeper.
struct JSONParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func text() throws(JSONValueError) -> JSONValue {
        let value = try value()
        skipWhitespace()
        guard position == bytes.count else { throw fault }
        return value
    }

    private var fault: JSONValueError { .syntax(offset: position) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipWhitespace() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }

    /// Steps over `byte` and the white space before it; says whether it was there.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipWhitespace()
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(JSONValueError) -> JSONValue {
        skipWhitespace()
        switch next {
        case UInt8(ascii: "{"): return try nested { parser throws(JSONValueError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { parser throws(JSONValueError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case _: return try number()
        }
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(JSONValueError) -> JSONValue
    ) throws(JSONValueError) -> JSONValue {
        guard depth < JSONValue.maximumDepth else { throw .tooDeep }
        depth += 1
        defer { depth -= 1 }
        position += 1
        return try body(&self)
    }

    private mutating func array() throws(JSONValueError) -> JSONValue {
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array([]) }
        while true {
            elements.append(try value())
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw fault }
        }
    }

    private mutating func object() throws(JSONValueError) -> JSONValue {
        var members: [JSONValue.Member] = []
        if take(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipWhitespace()
            guard next == UInt8(ascii: "\"") else { throw fault }
            let key = try string()
            guard take(UInt8(ascii: ":")) else { throw fault }
            members.append(JSONValue.Member(key: key, value: try value()))
            if take(UInt8(ascii: "}")) { return try .members(members) }
            guard take(UInt8(ascii: ",")) else { throw fault }
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONValueError) -> JSONValue {
        let letters = Array(word.description.utf8)
        guard bytes[position...].starts(with: letters) else { throw fault }
        position += letters.count
        return value
    }

    private mutating func digits() throws(JSONValueError) {
        let start = position
        while let byte = next, byte &- 0x30 < 10 { position += 1 }
        guard position > start else { throw fault }
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func number() throws(JSONValueError) -> JSONValue {
        let start = position
        var isInteger = true
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")) { try digits() }
        if skip(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            isInteger = false
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger {
            guard let value = Int64(text) else { throw .numberOutOfRange }
            return .integer(value)
        }
        guard let value = Double(text) else { throw .numberOutOfRange }
        return try .number(value)
    }

    private mutating func string() throws(JSONValueError) -> ExactString {
        let start = position
        position += 1
        var content: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let string = String(validating: content, as: UTF8.self) else { throw .syntax(offset: start) }
                return ExactString(string)
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &content)
            case 0..<0x20: throw fault
            case _:
                content.append(byte)
                position += 1
            }
        }
        throw fault
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONValueError) {
        guard let byte = next else { throw fault }
        let plain: UInt8
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = byte
        case UInt8(ascii: "b"): plain = 0x08
        case UInt8(ascii: "f"): plain = 0x0c
        case UInt8(ascii: "n"): plain = 0x0a
        case UInt8(ascii: "r"): plain = 0x0d
        case UInt8(ascii: "t"): plain = 0x09
        case UInt8(ascii: "u"): return content.append(contentsOf: String(try escapedScalar()).utf8)
        case _: throw fault
        }
        content.append(plain)
        position += 1
    }

    /// After the backslash; a pair of halves is one scalar, and a half alone none (RFC 8259, section 8.2).
    private mutating func escapedScalar() throws(JSONValueError) -> Character {
        let first = try codeUnit()
        var value = UInt32(first)
        if (0xd800...0xdbff).contains(first), skip(UInt8(ascii: "\\")) {
            let second = try codeUnit()
            guard (0xdc00...0xdfff).contains(second) else { throw fault }
            value = 0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw fault }
        return Character(scalar)
    }

    private mutating func codeUnit() throws(JSONValueError) -> UInt16 {
        guard skip(UInt8(ascii: "u")), bytes.count - position >= 4 else { throw fault }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt16(byte & 15)
            case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
                unit = unit << 4 | (UInt16(byte & 15) + 9)
            case _: throw fault
            }
            position += 1
        }
        return unit
    }
}
