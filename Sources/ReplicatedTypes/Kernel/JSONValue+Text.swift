extension JSONValue {
    /// Reads one JSON text (RFC 8259, UTF-8).
    ///
    /// A number without fraction and exponent is an integer and must fit 64 bits; any other is a double and must be
    /// finite. Throws `JSONValueError`, with the place of a fault in the text.
    public init(text: String) throws(JSONValueError) { try self.init(text: Array(text.utf8)) }

    /// The same from UTF-8.
    public init(text: [UInt8]) throws(JSONValueError) {
        var parser = JSONParser(bytes: text)
        self = try parser.text()
    }

    /// The shortest text: no spaces, members in order, every scalar that may stand for itself unescaped.
    public var text: String {
        var bytes: [UInt8] = []
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends `text`.
    public func appendText(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        // Swift prints the shortest digits that read back as the same number, always with a point or an exponent.
        case .double(let value): bytes.append(contentsOf: value.description.utf8)
        case .string(let value): Self.appendText(value, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.appendText(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.appendText(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.appendText(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func appendText(_ string: ExactString, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = string.string
        text.withUTF8 { utf8 in
            // With room for escapes: to grow ten megabytes for the last of the line ends copies them all.
            if utf8.count > bytes.count { bytes.reserveCapacity(bytes.count + utf8.count + utf8.count / 16 + 64) }
            // What needs no escape goes over in stretches: a book is more than its line ends.
            var start = 0
            while let index = utf8.firstEscaped(from: start) {
                bytes.append(contentsOf: utf8[start..<index])
                appendEscaped(utf8[index], to: &bytes)
                start = index + 1
            }
            bytes.append(contentsOf: utf8[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x0a: bytes.append(contentsOf: "\\n".utf8)
        case 0x0d: bytes.append(contentsOf: "\\r".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        case _:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(contentsOf: [byte].hexadecimal.utf8)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The first byte at or behind `start` that stands in no JSON string as it is. Eight bytes at a time: most texts have few.
    fileprivate func firstEscaped(from start: Int) -> Int? {
        guard let baseAddress else { return nil }
        var index = start
        while index + 8 <= count {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(baseAddress + index).loadUnaligned(as: UInt64.self))
            let high: UInt64 = 0x8080_8080_8080_8080
            // A high bit for each byte below 0x20, and for each that is a quote or a backslash; rarely for one behind it.
            let control = (word &- 0x2020_2020_2020_2020) & ~word & high
            let quote = word ^ 0x2222_2222_2222_2222
            let slash = word ^ 0x5c5c_5c5c_5c5c_5c5c
            let found =
                control | (quote &- 0x0101_0101_0101_0101) & ~quote & high
                | (slash &- 0x0101_0101_0101_0101) & ~slash & high
            if found != 0 {
                // The lowest is no mistake: what borrows comes from below.
                return index + found.trailingZeroBitCount / 8
            }
            index += 8
        }
        while index < count {
            let byte = self[index]
            if byte < 0x20 || byte == 0x22 || byte == 0x5c { return index }
            index += 1
        }
        return nil
    }
}

extension JSONValue: CustomStringConvertible {
    /// The JSON text.
    public var description: String { text }
}

/// The encoding as one string with the JSON text: a coder for JSON would make 5 of 5.0, and lose the difference.
extension JSONValue: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(JSONValueError) {
            try self.init(text: text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a JSON text: \(error)")
        }
    }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
