/// A look at a frame's bytes before anything is built from them.
///
/// A repeated message costs a peer two bytes and us about sixty; counting them first keeps what a hostile frame makes
/// us allocate near its own size. One pass over tags and lengths, no allocation; never traps.
enum FrameShape {
    /// Throws when the tags do not add up, or there are more fields than any frame needs.
    static func check(_ bytes: [UInt8]) throws(WireError) {
        var frame = ByteReader(bytes)
        var count = 0
        while !frame.isAtEnd {
            guard let body = try field(&frame) else { continue }
            var reader = ByteReader(bytes, body)
            while !reader.isAtEnd {
                // A body of an unknown kind may be anything; whether a known one can be read, the parser says.
                do { _ = try field(&reader) } catch { break }
                count += 1
                guard count <= Limits.fieldsPerFrame else { throw .outOfRange(field: "frame.fields") }
            }
        }
    }

    /// Steps over one field; the range of its bytes if it is length-delimited.
    private static func field(_ reader: inout ByteReader) throws(WireError) -> Range<Int>? {
        do {
            let tag = try reader.protobufVarint()
            switch tag & 7 {
            case 0: _ = try reader.protobufVarint()
            case 1: try reader.skip(8)
            case 2: return try reader.skip(Int(clamping: reader.protobufVarint()))
            case 5: try reader.skip(4)
            default: throw WireError.malformed  // Groups are not used, and would nest.
            }
            return nil
        } catch {
            throw .malformed
        }
    }
}

extension ByteReader {
    /// Protobuf varints need not be shortest.
    fileprivate mutating func protobufVarint() throws(CodecError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let byte = try byte()
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        throw .varintNotShortest
    }
}
