import FoundationEssentials
package import SyncModel

/// How values, deltas and operations travel in a history: always as bytes.
package struct Travel<Value: Lawful>: Sendable {
    package let bytes: @Sendable (Value) -> [UInt8]
    package let value: @Sendable ([UInt8]) throws -> Value
    let operationBytes: @Sendable (Value.Operation) -> [UInt8]
    let operation: @Sendable ([UInt8]) throws -> Value.Operation
    let deltaBytes: @Sendable (Value.Delta) -> [UInt8]
    let delta: @Sendable ([UInt8]) throws -> Value.Delta
    /// Whether equal values have equal bytes, and no others are taken.
    let isCanonical: Bool

    /// In their canonical bytes.
    package static func canonical() -> Travel
    where Value: ByteCoded, Value.Operation: ByteCoded, Value.Delta: ByteCoded {
        Travel(
            bytes: { $0.canonicalBytes }, value: { try Value(canonicalBytes: $0) },
            operationBytes: { $0.canonicalBytes }, operation: { try Value.Operation(canonicalBytes: $0) },
            deltaBytes: { $0.canonicalBytes }, delta: { try Value.Delta(canonicalBytes: $0) }, isCanonical: true)
    }

    /// As JSON: a struct has no other form.
    package static func json() -> Travel {
        Travel(
            bytes: { JSONForm.bytes($0) }, value: { try JSONForm.read($0) }, operationBytes: { JSONForm.bytes($0) },
            operation: { try JSONForm.read($0) }, deltaBytes: { JSONForm.bytes($0) },
            delta: { try JSONForm.read($0) }, isCanonical: false)
    }
}

/// What `Codable` makes of something.
enum JSONForm {
    static func bytes(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(value) else { return [] }
        return Array(data)
    }

    static func read<Value: Decodable>(_ bytes: [UInt8]) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(bytes))
    }
}
