/// A file in a tar archive, as it is written (POSIX.1-1988 `ustar`; a name that does not fit is said before it, in a `pax`
/// header of POSIX.1-2001; a size beyond 8 GiB in the base 256 that GNU and BSD tar read).
///
/// Archives are read by tools that people have, in twenty years too. Times and owners are left out: equal contents give
/// equal bytes.
package struct TarEntry: Hashable, Sendable {
    /// Parts with `/` between them, relative.
    package var name: String
    /// The size in bytes.
    package var size: UInt64

    package init(_ name: String, size: UInt64) {
        self.name = name
        self.size = size
    }

    /// The header blocks that precede the bytes of the file.
    package var header: [UInt8] {
        let plain = Array(name.utf8)
        guard plain.count > Self.nameBytes || !plain.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            return Self.block(plain, size: size, kind: TarKind.file)
        }
        let record = Self.record("path", name)
        let length = UInt64(record.count)
        return Self.block(Array("pax".utf8), size: length, kind: TarKind.extended) + record
            + Self.padding(behind: length) + Self.block(Array("long".utf8), size: size, kind: TarKind.file)
    }

    /// Zeros up to the next block.
    package var padding: [UInt8] { Self.padding(behind: size) }

    /// The blocks that end an archive, after the last file.
    package static let end = [UInt8](repeating: 0, count: 2 * TarEntry.blockBytes)

    static let blockBytes = 512
    private static let nameBytes = 100

    static func padding(behind size: UInt64) -> [UInt8] {
        let over = Int(size % UInt64(blockBytes))
        return [UInt8](repeating: 0, count: over == 0 ? 0 : blockBytes - over)
    }

    /// `LENGTH key=value\n`, where LENGTH counts itself.
    private static func record(_ key: String, _ value: String) -> [UInt8] {
        let rest = " \(key)=\(value)\n"
        var length = rest.utf8.count + 1
        while "\(length)".utf8.count + rest.utf8.count != length { length += 1 }
        return Array("\(length)\(rest)".utf8)
    }

    private static func block(_ name: [UInt8], size: UInt64, kind: UInt8) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockBytes)
        func put(_ bytes: [UInt8], at offset: Int) { block.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        put(name, at: 0)
        // Readable by the owner only: what is unpacked may be private.
        put(octal(0o600, digits: 7), at: 100)
        put(octal(0, digits: 7), at: 108)
        put(octal(0, digits: 7), at: 116)
        put(size < 1 << 33 ? octal(size, digits: 11) : base256(size), at: 124)
        put(octal(0, digits: 11), at: 136)
        block[156] = kind
        put(Array("ustar\u{0}00".utf8), at: 257)
        put(octal(checksum(of: block[...]), digits: 6) + [0, 0x20], at: 148)
        return block
    }

    /// The sum of the bytes, its own eight counted as blanks.
    static func checksum(of block: ArraySlice<UInt8>) -> UInt64 {
        block.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 0x20 : UInt64($1.element)) }
    }

    private static func octal(_ value: UInt64, digits: Int) -> [UInt8] {
        let text = Array(String(value, radix: 8).utf8)
        return [UInt8](repeating: UInt8(ascii: "0"), count: max(0, digits - text.count)) + text
    }

    private static func base256(_ value: UInt64) -> [UInt8] {
        [0x80, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }
    }
}

/// The type flags of archive headers.
enum TarKind {
    static let file = UInt8(ascii: "0")
    static let directory = UInt8(ascii: "5")
    /// `pax`: about the next file.
    static let extended = UInt8(ascii: "x")
    /// `pax`: about all that follow.
    static let extendedForAll = UInt8(ascii: "g")
    /// GNU tar: the name of the next file.
    static let longName = UInt8(ascii: "L")
}
