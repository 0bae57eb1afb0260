// The forms of what replicated values are made of. `String` has none: Swift calls strings equal whose bytes differ
// ("é" in one scalar and in two), so one value would have two forms. `ExactString` is the string to use.

extension [UInt8] {
    /// The sign in the lowest bit, then as a varint: small numbers of either sign are short.
    package mutating func append(signed value: Int64) {
        append(varint: UInt64(bitPattern: value << 1 ^ value >> 63))
    }
}

extension ByteReader {
    /// Reads a number that `append(signed:)` wrote.
    public mutating func signed() throws(CodecError) -> Int64 {
        let zigzag = try varint()
        return Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
    }

    /// Reads the number of parts that follow, of at least `bytesEach` bytes each. It is never more than there are bytes for,
    /// so a sender cannot make the reader reserve memory for bytes it did not send.
    public mutating func count(bytesEach: Int, _ field: String) throws(CodecError) -> Int {
        Int(try varint(upTo: UInt64(remainingCount / max(1, bytesEach)), field))
    }

    /// Reads a byte that must be 0 or 1.
    public mutating func flag(_ field: String) throws(CodecError) -> Bool {
        let byte = try byte()
        guard byte < 2 else { throw .outOfRange(field: field) }
        return byte == 1
    }

    /// Returns the value that the initializer reads from exactly these bytes.
    static func all<Value: ByteCoded>(of bytes: [UInt8], as type: Value.Type) throws(CodecError) -> Value {
        var reader = ByteReader(bytes)
        let value = try Value(reading: &reader)
        guard reader.isAtEnd else { throw .trailingBytes }
        return value
    }
}

extension ByteCoded {
    /// Reads exactly these bytes.
    public init(canonicalBytes bytes: [UInt8]) throws(CodecError) {
        self = try ByteReader.all(of: bytes, as: Self.self)
    }
}

extension Bool: ByteCoded {
    /// Appends the canonical form.
    public func append(to bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) { self = try reader.flag("bool") }
}

extension Int64: ByteCoded {
    /// Appends the canonical form.
    public func append(to bytes: inout [UInt8]) { bytes.append(signed: self) }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) { self = try reader.signed() }
}

extension Int: ByteCoded {
    /// Appends the canonical form.
    public func append(to bytes: inout [UInt8]) { bytes.append(signed: Int64(self)) }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        guard let value = Int(exactly: try reader.signed()) else { throw .outOfRange(field: "int") }
        self = value
    }
}

extension UInt64: ByteCoded {
    /// Appends the canonical form.
    public func append(to bytes: inout [UInt8]) { bytes.append(varint: self) }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) { self = try reader.varint() }
}

extension ExactString: ByteCoded {
    /// Layout: varint length, UTF-8.
    public func append(to bytes: inout [UInt8]) { bytes.append(lengthPrefixed: string.utf8) }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        let range = try reader.skip(try reader.count(bytesEach: 1, "string"))
        guard let string = String(validating: reader.bytes[range], as: UTF8.self) else {
            throw .outOfRange(field: "string")
        }
        self.init(string)
    }
}

extension Optional: ByteCoded where Wrapped: ByteCoded {
    /// Appends the canonical form.
    public func append(to bytes: inout [UInt8]) {
        bytes.append(self == nil ? 0 : 1)
        self?.append(to: &bytes)
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        self = try reader.flag("optional") ? try Wrapped(reading: &reader) : nil
    }
}
