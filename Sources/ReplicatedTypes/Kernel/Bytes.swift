extension [UInt8] {
    @inlinable
    package mutating func append(bigEndian value: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }

    /// Shortest LEB128: seven bits a byte, least first.
    @inlinable
    package mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    @inlinable
    package mutating func append(lengthPrefixed bytes: some Collection<UInt8>) {
        append(varint: UInt64(bytes.count))
        append(contentsOf: bytes)
    }

    /// Lower case, two digits a byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension UInt64 {
    /// Bytes of the shortest LEB128.
    package var varintByteCount: Int { Swift.max(1, (64 - leadingZeroBitCount + 6) / 7) }
}

/// The reason why bytes that claim to be a change are none. Bytes come from peers and disks: reading them throws, never
/// traps.
public enum CodecError: Error, Hashable, Sendable {
    /// The bytes end inside a field.
    case truncated
    /// A varint longer than its value needs, or beyond 64 bits.
    case varintNotShortest
    /// A field's value is outside its limit; the name is the field's in PROTOCOL.md.
    case outOfRange(field: String)
    /// The format version is newer than this reader.
    case unknownVersion(UInt8)
    /// Bytes are left over inside a length-prefixed part.
    case trailingBytes
}

/// Reads a range of a byte array forward, without copying it.
public struct ByteReader {
    /// All bytes; the reader looks at a range of them.
    public let bytes: [UInt8]
    /// Index of the next byte.
    public private(set) var position: Int
    /// Index after the last byte of the range.
    public let end: Int
    /// True for bytes that this program wrote and stored itself. They cannot trap the reader either. Only the checks for
    /// another form of the same value are skipped, where the check costs more than reading.
    let isOurs: Bool
    /// The current depth of nested values; see `nested(_:)`.
    private var depth = 0

    /// Values that hold values may nest this deep, so that no bytes exhaust the stack.
    public static let maximumDepth = 64

    /// Creates a reader of all of `bytes`.
    public init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count) }

    /// The bytes at `range`, which lies inside.
    public init(_ bytes: [UInt8], _ range: Range<Int>) { self.init(bytes, range, isOurs: false) }

    /// Creates a reader of bytes that this program wrote and stored itself.
    package init(ownBytes bytes: [UInt8]) { self.init(bytes, 0..<bytes.count, isOurs: true) }

    private init(_ bytes: [UInt8], _ range: Range<Int>, isOurs: Bool) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a reader stays inside its bytes")
        self.isOurs = isOurs
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    /// True if no byte is left.
    public var isAtEnd: Bool { position == end }
    /// Bytes left.
    public var remainingCount: Int { end - position }

    /// The next byte.
    public mutating func byte() throws(CodecError) -> UInt8 {
        guard position < end else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }

    /// A varint in its shortest form.
    public mutating func varint() throws(CodecError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            if shift == 63, byte > 1 { throw .varintNotShortest }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 {
                if byte == 0, shift > 0 { throw .varintNotShortest }
                return value
            }
            shift += 7
            if shift > 63 { throw .varintNotShortest }
        }
    }

    /// A varint that must not exceed `limit`.
    public mutating func varint(upTo limit: UInt64, _ field: String) throws(CodecError) -> UInt64 {
        let value = try varint()
        guard value <= limit else { throw .outOfRange(field: field) }
        return value
    }

    /// Eight bytes, the greatest first.
    public mutating func bigEndianUInt64() throws(CodecError) -> UInt64 {
        let range = try skip(8)
        var value: UInt64 = 0
        for index in range { value = value << 8 | UInt64(bytes[index]) }
        return value
    }

    /// Reads what is inside a value that holds values. Deeper than `maximumDepth` is refused.
    public mutating func nested<Value>(
        _ read: (inout ByteReader) throws(CodecError) -> Value
    ) throws(CodecError) -> Value {
        try descend()
        defer { ascend() }
        return try read(&self)
    }

    mutating func descend() throws(CodecError) {
        guard depth < Self.maximumDepth else { throw .outOfRange(field: "depth") }
        depth += 1
    }

    mutating func ascend() { depth -= 1 }

    /// Steps over `count` bytes and says where they are.
    @discardableResult
    public mutating func skip(_ count: Int) throws(CodecError) -> Range<Int> {
        guard count >= 0, count <= end - position else { throw .truncated }
        defer { position += count }
        return position..<position + count
    }

    /// Steps over a length-prefixed part of at most `limit` bytes and says where it is.
    public mutating func lengthPrefixed(upTo limit: Int, _ field: String) throws(CodecError) -> Range<Int> {
        try skip(Int(try varint(upTo: UInt64(limit), field)))
    }
}
