import FoundationEssentials

/// JSON as the page reads and writes it.
enum JSON {
    static func bytes(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { preconditionFailure("all values here can be written") }
        return Array(data)
    }

    static func text(_ value: some Encodable) -> String { String(decoding: bytes(value), as: UTF8.self) }

    static func value<Value: Decodable>(_ type: Value.Type, _ bytes: some Collection<UInt8>) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}
