/// Text that came from data, made safe for a terminal: the one place that says which characters a terminal, or a person who
/// reads it, could be fooled with.
///
/// Unsafe are control characters (C0, DEL, C1: they move the cursor, set titles, paste text), line and paragraph separators,
/// the bidirectional embeddings, overrides and isolates (they show text in another order than it has: CVE-2021-42574) and
/// noncharacters. Joiners, direction marks and variation selectors stay: languages and emoji need them.
package enum TerminalText {
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool { isUnsafe(scalar.value) }

    private static func isUnsafe(_ value: UInt32) -> Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x2028...0x202E, 0x2066...0x2069: true
        case 0xFDD0...0xFDEF: true
        case _: value & 0xFFFE == 0xFFFE
        }
    }

    /// Text on one line: what is unsafe is shown as U+FFFD.
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isUnsafe($0) ? "\u{FFFD}" : $0 }))
    }

    /// Text of several lines, with colours: as `line`, but line breaks, tabs and colours (`ESC [ digits m`) stay. What is
    /// printed passes here as a whole, so that a forgotten `line` lets colours through at worst.
    package static func page(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard scalars.contains(where: { isUnsafe($0) && $0 != "\n" }) else { return text }
        var safe = String.UnicodeScalarView()
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            if scalar == "\u{1B}", let end = endOfColor(scalars, from: index) {
                safe.append(contentsOf: scalars[index..<end])
                index = end
                continue
            }
            safe.append(isUnsafe(scalar) && scalar != "\n" && scalar != "\t" ? "\u{FFFD}" : scalar)
            index = scalars.index(after: index)
        }
        return String(safe)
    }

    private static func endOfColor(
        _ scalars: String.UnicodeScalarView, from start: String.Index
    ) -> String.Index? {
        var rest = scalars[start...].dropFirst()
        guard rest.popFirst() == "[" else { return nil }
        rest = rest.drop { ("0"..."9").contains($0) }
        return rest.popFirst() == "m" ? rest.startIndex : nil
    }

    /// Returns the JSON with unsafe characters in strings as `\uXXXX`: it stays valid, and means the same. Bytes below 0x20
    /// stay, since valid JSON has them only between its tokens.
    package static func json(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { length(of: $0) != nil }) else { return bytes }
        var safe: [UInt8] = []
        safe.reserveCapacity(bytes.count + 64)
        var index = 0
        while index < bytes.count {
            if let (value, length) = unsafeScalar(bytes, at: index) {
                for unit in String(Character(value)).utf16 { escape(unit, to: &safe) }
                index += length
            } else {
                safe.append(bytes[index])
                index += 1
            }
        }
        return safe
    }

    /// Returns the length of the UTF-8 sequence that a byte begins; nil if no unsafe sequence begins so.
    private static func length(of lead: UInt8) -> Int? {
        switch lead {
        case 0x7F: 1
        case 0xC2: 2
        case 0xE2, 0xEF: 3
        case 0xF0...0xF4: 4
        case _: nil
        }
    }

    private static func unsafeScalar(_ bytes: [UInt8], at index: Int) -> (value: Unicode.Scalar, length: Int)? {
        guard let length = length(of: bytes[index]), index + length <= bytes.count else { return nil }
        var value = length == 1 ? UInt32(bytes[index]) : UInt32(bytes[index]) & (0x7F >> UInt32(length))
        for byte in bytes[(index + 1)..<(index + length)] { value = value << 6 | UInt32(byte & 0x3F) }
        guard isUnsafe(value), value >= 0x7F, let scalar = Unicode.Scalar(value) else { return nil }
        return (scalar, length)
    }

    private static func escape(_ unit: UInt16, to bytes: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        bytes += Array("\\u".utf8)
        for shift in [12, 8, 4, 0] { bytes.append(digits[Int(unit >> UInt16(shift) & 15)]) }
    }
}
