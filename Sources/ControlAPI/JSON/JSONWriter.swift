/// Appends JSON tokens to a byte array. It does not check that they nest well; `JSONEncoding` and `EventLine` do.
package struct JSONWriter {
    package var bytes: [UInt8] = []

    package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    package mutating func raw(_ text: StaticString) {
        // `description` would build a string each time. Safe: a literal lives as long as the process.
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    package mutating func raw(_ text: [UInt8]) {
        // With room for what follows it: to grow ten megabytes for a closing brace copies them all.
        if text.count > bytes.capacity { bytes.reserveCapacity(bytes.count + text.count + 4_096) }
        bytes.append(contentsOf: text)
    }

    package mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    package mutating func null() { raw("null") }

    package mutating func bool(_ value: Bool) {
        if value { raw("true") } else { raw("false") }
    }

    package mutating func integer(_ value: some FixedWidthInteger) {
        if value >= 0 { unsigned(UInt64(value)) } else { bytes.append(contentsOf: String(value).utf8) }
    }

    private mutating func unsigned(_ value: UInt64) {
        if value < 10 { return bytes.append(UInt8(ascii: "0") + UInt8(value)) }
        let start = bytes.count
        var rest = value
        while rest > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        bytes[start...].reverse()
    }

    /// JSON has no infinities; they become `null`.
    package mutating func double(_ value: Double) {
        if value.isFinite { bytes.append(contentsOf: "\(value)".utf8) } else { null() }
    }

    /// A string with its quotes. Only what must be escaped is.
    package mutating func string(_ value: String) {
        bytes.append(UInt8(ascii: "\""))
        stringContent(value)
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func stringContent(_ value: String) {
        if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            bytes.append(contentsOf: value.utf8)
        } else {
            for unit in value.utf8 { escaped(unit) }
        }
    }

    private mutating func escaped(_ unit: UInt8) {
        switch unit {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0x0A: raw("\\n")
        case 0x0D: raw("\\r")
        case 0x09: raw("\\t")
        case 0x00..<0x20:
            raw("\\u00")
            let digits: [UInt8] = Array("0123456789abcdef".utf8)
            bytes.append(digits[Int(unit >> 4)])
            bytes.append(digits[Int(unit & 15)])
        case _: bytes.append(unit)
        }
    }
}
