/// The unit in which offsets and lengths in a text are counted.
public enum TextUnit: String, Codable, CaseIterable, Hashable, Sendable {
    /// Bytes of UTF-8, as in Go, Rust, Python's `bytes` and files.
    case utf8
    /// UTF-16 code units, as in JavaScript, Java, C# and `NSString`.
    case utf16
    /// Unicode scalars, as in Python's `str` and in `lanyard edit`.
    case scalars

    /// Returns the length of a text in this unit.
    public func count(_ text: String) -> Int { text.offset(of: text.endIndex, in: self) }

    /// Returns the units of the scalars that begin in a range of these bytes of UTF-8.
    fileprivate func count(_ bytes: borrowing RawSpan, _ range: Range<Int>) -> Int {
        if self == .utf8 { return range.count }
        var count = 0
        var place = range.lowerBound
        // Eight bytes at once: the lowest bit of each byte of a word says what the byte is.
        let ones: UInt64 = 0x0101_0101_0101_0101
        while range.upperBound - place >= 8 {
            // The word lies inside of the bytes, and each pattern of bits is a number.
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
            let (seventh, sixth) = (word >> 7, word >> 6)
            count += 8 - (seventh & ~sixth & ones).nonzeroBitCount
            if self == .utf16 { count += (seventh & sixth & (word >> 5) & (word >> 4) & ones).nonzeroBitCount }
            place += 8
        }
        while place < range.upperBound {
            let byte = bytes.byte(at: place)
            if byte & 0xC0 != 0x80 { count += self == .utf16 && byte >= 0xF0 ? 2 : 1 }
            place += 1
        }
        return count
    }
}

extension RawSpan {
    fileprivate func byte(at place: Int) -> UInt8 {
        unsafe unsafeLoad(fromByteOffset: place, as: UInt8.self)
    }
}

// Over the bytes, and not with the views of `String`: in a text of 1 MiB, an offset takes some tenths of a millisecond to find
// in place of some milliseconds, and a request has many.
extension String {
    /// The bytes that are counted in one go in search of an offset.
    private static let strideBytes = 1_024

    /// Returns the index at an offset in `unit`; nil outside of the text, and inside of a scalar.
    package func index(at offset: Int, in unit: TextUnit) -> Index? {
        guard offset >= 0 else { return nil }
        let bytes = unsafe utf8.span.bytes
        var (place, rest) = (0, offset)
        if unit == .utf8 {
            guard offset <= bytes.byteCount else { return nil }
            (place, rest) = (offset, 0)
            if place < bytes.byteCount, bytes.byte(at: place) & 0xC0 == 0x80 { return nil }
        } else {
            while bytes.byteCount - place > Self.strideBytes {
                let count = unit.count(bytes, place..<place + Self.strideBytes)
                guard count <= rest else { break }
                place += Self.strideBytes
                rest -= count
            }
            // The last stride may have ended inside of a scalar.
            while place < bytes.byteCount, rest > 0 || bytes.byte(at: place) & 0xC0 == 0x80 {
                rest -= unit.count(bytes, place..<place + 1)
                place += 1
            }
        }
        return rest == 0 ? utf8.index(startIndex, offsetBy: place) : nil
    }

    /// Returns the offset of an index in `unit`.
    package func offset(of index: Index, in unit: TextUnit) -> Int {
        unsafe unit.count(utf8.span.bytes, 0..<utf8.distance(from: startIndex, to: index))
    }
}
