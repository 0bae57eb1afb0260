/// A JSON text under any coder, such as Foundation's: as the value that it is. This project's own coder does not come through
/// here; it takes and splices the bytes.
///
/// Other coders have no way to the bytes, so numbers pass as `Int64`, `UInt64` or `Double`, and come back as those are written;
/// blanks, escapes and the order of keys are the coder's.
extension JSONText: Codable {
    /// Reads any value. Throws `DecodingError` for what JSON does not have, such as an infinite number.
    public init(from decoder: any Decoder) throws {
        var writer = JSONWriter()
        try Self.write(decoder, to: &writer)
        do throws(JSONSyntaxError) { try self.init(writer.bytes) } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "the value is \(error.reason)"))
        }
    }

    /// Writes the value. Throws `EncodingError` for a number that is outside of what a `Double` holds.
    public func encode(to encoder: any Encoder) throws {
        let document: JSONDocument
        do throws(JSONSyntaxError) { document = try JSONDocument(bytes) } catch {
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "the text is \(error.reason)"))
        }
        try Value(node: document.root, document: document).encode(to: encoder)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    // MARK: Writing

    private struct Value: Encodable {
        let node: JSONNode
        let document: JSONDocument

        func encode(to encoder: any Encoder) throws {
            switch node.kind {
            case .null:
                var container = encoder.singleValueContainer()
                try container.encodeNil()
            case .bool(let value):
                var container = encoder.singleValueContainer()
                try container.encode(value)
            case .number: try encodeNumber(to: encoder)
            case .string:
                var container = encoder.singleValueContainer()
                try container.encode(document.string(of: node) ?? "")
            case .array(let elements):
                var container = encoder.unkeyedContainer()
                for element in elements { try container.encode(Value(node: element, document: document)) }
            case .object(let members):
                var container = encoder.container(keyedBy: Key.self)
                for member in members {
                    try container.encode(
                        Value(node: member.value, document: document), forKey: Key(stringValue: member.key))
                }
            }
        }

        private func encodeNumber(to encoder: any Encoder) throws {
            let text = String(decoding: document.text(of: node), as: UTF8.self)
            var container = encoder.singleValueContainer()
            if let number = Int64(text) { return try container.encode(number) }
            if let number = UInt64(text) { return try container.encode(number) }
            guard let number = Double(text), number.isFinite else {
                throw EncodingError.invalidValue(
                    text, .init(codingPath: encoder.codingPath, debugDescription: "the number is too large"))
            }
            try container.encode(number)
        }
    }

    // MARK: Reading

    /// A value within a container: the decoder of each is only lent while it is read.
    private struct Element: Decodable {
        let bytes: [UInt8]

        init(from decoder: any Decoder) throws {
            var writer = JSONWriter()
            try JSONText.write(decoder, to: &writer)
            bytes = writer.bytes
        }
    }

    private static func write(_ decoder: any Decoder, to writer: inout JSONWriter) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            writer.byte(UInt8(ascii: "{"))
            for (index, key) in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }).enumerated() {
                if index > 0 { writer.byte(UInt8(ascii: ",")) }
                writer.string(key.stringValue)
                writer.byte(UInt8(ascii: ":"))
                writer.raw(try container.decode(Element.self, forKey: key).bytes)
            }
            writer.byte(UInt8(ascii: "}"))
        } else if var container = try? decoder.unkeyedContainer() {
            writer.byte(UInt8(ascii: "["))
            while !container.isAtEnd {
                if container.currentIndex > 0 { writer.byte(UInt8(ascii: ",")) }
                writer.raw(try container.decode(Element.self).bytes)
            }
            writer.byte(UInt8(ascii: "]"))
        } else {
            try writeScalar(try decoder.singleValueContainer(), to: &writer)
        }
    }

    private static func writeScalar(
        _ container: any SingleValueDecodingContainer, to writer: inout JSONWriter
    ) throws {
        if container.decodeNil() { return writer.null() }
        if let value = try? container.decode(Bool.self) { return writer.bool(value) }
        if let value = try? container.decode(Int64.self) { return writer.integer(value) }
        if let value = try? container.decode(UInt64.self) { return writer.integer(value) }
        if let value = try? container.decode(String.self) { return writer.string(value) }
        let value = try container.decode(Double.self)
        guard value.isFinite else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "JSON has no infinite numbers")
        }
        writer.double(value)
    }
}
