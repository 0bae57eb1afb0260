/// Percent-encoding of a path segment, a query part or a header's value (RFC 3986, section 2.1).
package enum PercentEncoding {
    /// Encodes everything but RFC 3986's unreserved characters.
    package static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            case _: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text of a key or a value in a query, where `+` is a blank, as browsers, curl and HTTP libraries write it
    /// (WHATWG URL, section 5.1); a plus is `%2B`. Nil as for `decode`.
    package static func decodeQuery(_ text: some Sequence<UInt8>) -> String? {
        decode(text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }

    /// Returns the text; nil when an escape is cut off or the result is not UTF-8. A `+` stays a plus.
    package static func decode(_ text: some Sequence<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(JSONScanner.hexDigit),
                let low = iterator.next().flatMap(JSONScanner.hexDigit)
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
