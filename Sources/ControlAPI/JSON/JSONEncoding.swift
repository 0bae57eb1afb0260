/// Writes `Encodable` values as JSON in the order their keys are declared.
///
/// Unlike a general encoder it writes `null` for an absent optional (a reader of the API can rely on every key being
/// there) and splices `JSONText` byte for byte. It serves the types of this target and does not nest containers by hand.
package enum JSONEncoding {
    package static func bytes(_ value: some Encodable) -> [UInt8] {
        let output = JSONOutput()
        output.write(value)
        return output.writer.bytes
    }
}

/// A type that is written without calling its `encode(to:)`.
private protocol JSONLeaf { func write(to writer: inout JSONWriter) }

extension String: JSONLeaf {
    fileprivate func write(to writer: inout JSONWriter) { writer.string(self) }
}
extension Bool: JSONLeaf {
    fileprivate func write(to writer: inout JSONWriter) { writer.bool(self) }
}
extension Int: JSONLeaf {
    fileprivate func write(to writer: inout JSONWriter) { writer.integer(self) }
}
extension Int64: JSONLeaf {
    fileprivate func write(to writer: inout JSONWriter) { writer.integer(self) }
}
extension UInt32: JSONLeaf {
    fileprivate func write(to writer: inout JSONWriter) { writer.integer(self) }
}
extension UInt64: JSONLeaf {
    fileprivate func write(to writer: inout JSONWriter) { writer.integer(self) }
}
extension Double: JSONLeaf {
    fileprivate func write(to writer: inout JSONWriter) { writer.double(self) }
}
extension JSONText: JSONLeaf {
    fileprivate func write(to writer: inout JSONWriter) { writer.raw(bytes) }
}

private final class JSONOutput {
    var writer = JSONWriter()

    func write(_ value: some Encodable) {
        if let leaf = value as? any JSONLeaf { return leaf.write(to: &writer) }
        let encoder = JSONValueEncoder(output: self)
        do {
            try value.encode(to: encoder)
        } catch {
            // The types of this target throw nothing of their own, and this encoder neither.
            preconditionFailure("\(type(of: value)) threw \(type(of: error)) while it was written as JSON")
        }
        encoder.close()
    }
}

/// Encodes one value; `close` writes the bracket that the value's container left open.
private final class JSONValueEncoder: Encoder {
    let output: JSONOutput
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    private var closing: UInt8?
    private var count = 0

    init(output: JSONOutput) { self.output = output }

    func open(_ opening: UInt8, _ closing: UInt8) {
        precondition(self.closing == nil, "a type of the control API opened two containers")
        output.writer.byte(opening)
        self.closing = closing
    }

    func close() {
        if let closing { output.writer.byte(closing) }
    }

    func separate() {
        if count > 0 { output.writer.byte(UInt8(ascii: ",")) }
        count += 1
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        open(UInt8(ascii: "{"), UInt8(ascii: "}"))
        return KeyedEncodingContainer(JSONObjectContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        open(UInt8(ascii: "["), UInt8(ascii: "]"))
        return JSONArrayContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { JSONSingleContainer(encoder: self) }
}

private struct JSONObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: JSONValueEncoder
    var codingPath: [any CodingKey] { [] }

    private func key(_ key: Key) {
        encoder.separate()
        encoder.output.writer.string(key.stringValue)
        encoder.output.writer.byte(UInt8(ascii: ":"))
    }

    mutating func encodeNil(forKey key: Key) {
        self.key(key)
        encoder.output.writer.null()
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) {
        self.key(key)
        encoder.output.write(value)
    }

    private mutating func optional(_ value: (some Encodable)?, _ key: Key) {
        if let value { encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    // The defaults of the protocol would leave an absent key out.
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) { optional(value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) { optional(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) { optional(value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) { optional(value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) { optional(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) { optional(value, key) }
    mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) { optional(value, key) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { preconditionFailure("types of the control API do not nest by hand") }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        preconditionFailure("types of the control API do not nest by hand")
    }
    mutating func superEncoder() -> any Encoder { preconditionFailure("types of the control API do not inherit") }
    mutating func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

private struct JSONArrayContainer: UnkeyedEncodingContainer {
    let encoder: JSONValueEncoder
    var codingPath: [any CodingKey] { [] }
    private(set) var count = 0

    init(encoder: JSONValueEncoder) { self.encoder = encoder }

    mutating func encodeNil() {
        encoder.separate()
        encoder.output.writer.null()
    }

    mutating func encode<T: Encodable>(_ value: T) {
        encoder.separate()
        encoder.output.write(value)
        count += 1
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { preconditionFailure("types of the control API do not nest by hand") }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        preconditionFailure("types of the control API do not nest by hand")
    }
    mutating func superEncoder() -> any Encoder { preconditionFailure("types of the control API do not inherit") }
}

private struct JSONSingleContainer: SingleValueEncodingContainer {
    let encoder: JSONValueEncoder
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() { encoder.output.writer.null() }
    mutating func encode<T: Encodable>(_ value: T) { encoder.output.write(value) }
}
