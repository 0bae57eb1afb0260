/// Canonical typed bytes. Their order, byte by byte, is the order of the values (after the tuple layer of
/// FoundationDB), so a sorted column of them is sorted as people expect, and equal values are equal bytes.
///
/// Layout: a tag, then
/// - integer: the tag says the sign and how many bytes follow; big-endian, of a negative one all bits turned;
/// - double: IEEE 754 big-endian, a negative one with all bits turned, others with the sign bit turned;
/// - string: UTF-8, a 0 written as 01 01 and a 1 as 01 02, then 00 (so that it ends by itself, whatever follows);
/// - array: its elements, then 00; object: key (as string) and value of each member, then 00.
extension JSONValue: ByteCoded {
    private enum Tag {
        static let end: UInt8 = 0x00
        static let null: UInt8 = 0x01
        static let no: UInt8 = 0x02
        static let yes: UInt8 = 0x03
        /// ± number of bytes.
        static let zero: UInt8 = 0x14
        static let double: UInt8 = 0x21
        static let string: UInt8 = 0x22
        static let array: UInt8 = 0x23
        static let object: UInt8 = 0x24
    }

    /// Appends the canonical form.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(Tag.null)
        case .bool(let value): bytes.append(value ? Tag.yes : Tag.no)
        case .integer(let value): Self.append(value, to: &bytes)
        case .double(let value):
            let bits = value.bitPattern
            bytes.append(Tag.double)
            bytes.append(bigEndian: bits >> 63 == 1 ? ~bits : bits | 1 << 63)
        case .string(let value): Self.append(value, to: &bytes)
        case .array(let elements):
            bytes.append(Tag.array)
            for element in elements { element.append(to: &bytes) }
            bytes.append(Tag.end)
        case .object(let members):
            bytes.append(Tag.object)
            for member in members {
                Self.append(member.key, to: &bytes)
                member.value.append(to: &bytes)
            }
            bytes.append(Tag.end)
        }
    }

    private static func append(_ value: Int64, to bytes: inout [UInt8]) {
        let count = (64 - value.magnitude.leadingZeroBitCount + 7) / 8
        bytes.append(value < 0 ? Tag.zero - UInt8(count) : Tag.zero + UInt8(count))
        let bits = value < 0 ? ~value.magnitude : value.magnitude
        for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(index * 8))) }
    }

    private static func append(_ string: ExactString, to bytes: inout [UInt8]) {
        bytes.append(Tag.string)
        for byte in string.string.utf8 {
            if byte < 2 { bytes.append(1) }
            bytes.append(byte < 2 ? byte + 1 : byte)
        }
        bytes.append(Tag.end)
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        self = try Self.value(try reader.byte(), &reader, depth: 0)
    }

    private static func value(_ tag: UInt8, _ reader: inout ByteReader, depth: Int) throws(CodecError) -> JSONValue {
        switch tag {
        case Tag.null: return .null
        case Tag.no: return .bool(false)
        case Tag.yes: return .bool(true)
        case Tag.zero - 8...Tag.zero + 8: return .integer(try integer(tag, &reader))
        case Tag.double: return .double(try double(&reader))
        case Tag.string: return .string(try string(&reader))
        case Tag.array: return .array(try elements(&reader, depth: try deeper(depth)))
        case Tag.object: return .object(try members(&reader, depth: try deeper(depth)))
        case _: throw .outOfRange(field: "json.tag")
        }
    }

    private static func deeper(_ depth: Int) throws(CodecError) -> Int {
        guard depth < maximumDepth else { throw .outOfRange(field: "json.depth") }
        return depth + 1
    }

    private static func integer(_ tag: UInt8, _ reader: inout ByteReader) throws(CodecError) -> Int64 {
        let isNegative = tag < Tag.zero
        let count = Int(isNegative ? Tag.zero - tag : tag - Tag.zero)
        var magnitude: UInt64 = 0
        for index in try reader.skip(count) {
            let byte = reader.bytes[index]
            magnitude = magnitude << 8 | UInt64(isNegative ? ~byte : byte)
        }
        // Shortest form only, and within 64 signed bits.
        guard (64 - magnitude.leadingZeroBitCount + 7) / 8 == count,
            magnitude <= (isNegative ? Int64.min : Int64.max).magnitude
        else { throw .outOfRange(field: "json.integer") }
        return Int64(truncatingIfNeeded: isNegative ? 0 &- magnitude : magnitude)
    }

    private static func double(_ reader: inout ByteReader) throws(CodecError) -> Double {
        let bits = try reader.bigEndianUInt64()
        let value = Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
        guard value.isFinite, value != 0 || value.sign == .plus else { throw .outOfRange(field: "json.double") }
        return value
    }

    private static func string(_ reader: inout ByteReader) throws(CodecError) -> ExactString {
        var content: [UInt8] = []
        while true {
            let byte = try reader.byte()
            if byte == Tag.end { break }
            guard byte == 1 else {
                content.append(byte)
                continue
            }
            let escaped = try reader.byte()
            guard escaped == 1 || escaped == 2 else { throw .outOfRange(field: "json.string") }
            content.append(escaped - 1)
        }
        guard let string = String(validating: content, as: UTF8.self) else { throw .outOfRange(field: "json.string") }
        return ExactString(string)
    }

    private static func elements(_ reader: inout ByteReader, depth: Int) throws(CodecError) -> [JSONValue] {
        var elements: [JSONValue] = []
        while true {
            let tag = try reader.byte()
            if tag == Tag.end { return elements }
            elements.append(try value(tag, &reader, depth: depth))
        }
    }

    private static func members(_ reader: inout ByteReader, depth: Int) throws(CodecError) -> [Member] {
        var members: [Member] = []
        while true {
            let tag = try reader.byte()
            if tag == Tag.end { return members }
            guard tag == Tag.string else { throw .outOfRange(field: "json.key") }
            let key = try string(&reader)
            if let last = members.last, last.key >= key { throw .outOfRange(field: "json.key") }
            members.append(Member(key: key, value: try value(try reader.byte(), &reader, depth: depth)))
        }
    }
}
