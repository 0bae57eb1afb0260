/// Takes a tar archive apart while its bytes come.
///
/// It reads what `TarEntry` writes, and what GNU and BSD tar make when the same files are packed again. Anything but files and
/// directories is refused: a link could lead anywhere. No file is held in memory; headers are bounded.
package struct TarReader: Sendable {
    /// The next part of the archive. Every byte of the archive is in exactly one piece.
    package enum Piece: Hashable, Sendable {
        /// A file begins.
        case entry(TarEntry, raw: [UInt8])
        /// Bytes of the file that began last.
        case bytes([UInt8])
        /// Bytes between files.
        case filler([UInt8])
        /// The mark behind the last file; what comes behind it is not looked at.
        case end
    }

    private enum State {
        case header
        /// Reading the contents of a header that describes the next file.
        case extra(kind: UInt8, size: Int)
        case contents(rest: UInt64, size: UInt64)
        case padding(Int)
        case ended
    }

    /// A name has 4 KiB at most on any system; a header of other tools may say more.
    private static let extraBytes = 64 << 10

    private var state = State.header
    private var pending: [UInt8] = []
    private var position = 0
    /// The headers that describe the next file, as they were read.
    private var raw: [UInt8] = []
    private var name: String?

    package init() {}

    /// True if the archive is complete.
    package var isAtEnd: Bool {
        switch state {
        case .ended: true
        case .header, .extra, .contents, .padding: false
        }
    }

    package mutating func append(_ bytes: [UInt8]) {
        if position > 0 {
            pending.removeFirst(position)
            position = 0
        }
        pending += bytes
    }

    /// Nil: it wants more bytes.
    ///
    /// - Throws: `not_an_archive` for what is none, or holds something else than files.
    package mutating func next() throws(ControlError) -> Piece? {
        while true {
            switch state {
            case .ended:
                position = pending.count
                return nil
            case .header:
                guard let block = take(TarEntry.blockBytes) else { return nil }
                if block.allSatisfy({ $0 == 0 }) {
                    state = .ended
                    return .end
                }
                if let piece = try begin(block) { return piece }
            case .extra(let kind, let size):
                guard let bytes = take(size + TarEntry.padding(behind: UInt64(size)).count) else { return nil }
                raw += bytes
                state = .header
                if kind == TarKind.extended { name = try Self.path(in: bytes.prefix(size)) ?? name }
                if kind == TarKind.longName { name = try Self.text(bytes.prefix(size).prefix { $0 != 0 }) }
            case .contents(let rest, let size):
                guard rest > 0 else {
                    state = .padding(TarEntry.padding(behind: size).count)
                    continue
                }
                let count = Int(min(rest, UInt64(pending.count - position)))
                guard count > 0, let bytes = take(count) else { return nil }
                state = .contents(rest: rest - UInt64(count), size: size)
                return .bytes(bytes)
            case .padding(let count):
                guard let bytes = take(count) else { return nil }
                state = .header
                if !bytes.isEmpty { return .filler(bytes) }
            }
        }
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        guard pending.count - position >= count else { return nil }
        defer { position += count }
        return Array(pending[position..<position + count])
    }

    private mutating func begin(_ block: [UInt8]) throws(ControlError) -> Piece? {
        guard try Self.number(block[148..<156]) == TarEntry.checksum(of: block[...]) else { throw Self.notAnArchive }
        let size = try Self.number(block[124..<136])
        raw += block
        switch block[156] {
        case TarKind.file, 0:
            let plain = try Self.name(of: block)
            let entry = TarEntry(name ?? plain, size: size)
            defer { (raw, name) = ([], nil) }
            state = .contents(rest: size, size: size)
            return .entry(entry, raw: raw)
        case TarKind.directory where size == 0:
            defer { (raw, name) = ([], nil) }
            return .filler(raw)
        case TarKind.extended, TarKind.extendedForAll, TarKind.longName:
            guard size <= UInt64(Self.extraBytes), raw.count <= 4 * Self.extraBytes else { throw Self.notAnArchive }
            state = .extra(kind: block[156], size: Int(size))
            return nil
        case _: throw Self.notAnArchive
        }
    }

    private static func name(of block: [UInt8]) throws(ControlError) -> String {
        let name = try text(block[0..<100].prefix { $0 != 0 })
        // GNU tar has other things in place of the prefix.
        guard Array(block[257..<263]) == Array("ustar\u{0}".utf8) else { return name }
        let prefix = try text(block[345..<500].prefix { $0 != 0 })
        return prefix.isEmpty ? name : "\(prefix)/\(name)"
    }

    private static func text(_ bytes: some Sequence<UInt8>) throws(ControlError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw notAnArchive }
        return text
    }

    /// Octal digits, with blanks or zeros around; or base 256.
    private static func number(_ field: ArraySlice<UInt8>) throws(ControlError) -> UInt64 {
        if let first = field.first, first & 0x80 != 0 {
            var value = UInt64(first & 0x7F)
            for byte in field.dropFirst() {
                guard value < 1 << 55 else { throw notAnArchive }
                value = value << 8 | UInt64(byte)
            }
            return value
        }
        let digits = field.drop { $0 == 0x20 }.prefix { $0 != 0x20 && $0 != 0 }
        guard let text = String(validating: digits, as: UTF8.self), let value = UInt64(text, radix: 8) else {
            throw notAnArchive
        }
        return value
    }

    /// Returns the path named in the records of a `pax` header: `LENGTH key=value
    /// `.
    private static func path(in records: ArraySlice<UInt8>) throws(ControlError) -> String? {
        var rest = records
        var path: String?
        while !rest.isEmpty {
            guard let blank = rest.firstIndex(of: 0x20),
                let length = Int(String(decoding: rest[rest.startIndex..<blank], as: UTF8.self)),
                length > blank - rest.startIndex + 1, length <= rest.count
            else { throw notAnArchive }
            let record = rest[(blank + 1)..<(rest.startIndex + length)]
            rest = rest[(rest.startIndex + length)...]
            guard record.last == 0x0A, let equals = record.firstIndex(of: UInt8(ascii: "=")) else { throw notAnArchive }
            if Array(record[..<equals]) == Array("path".utf8) { path = try text(record[(equals + 1)...].dropLast()) }
        }
        return path
    }

    private static let notAnArchive = ControlError(
        .notAnArchive, "This is no archive that Lanyard can read.",
        hint: "Give a file that lanyard backup or lanyard export wrote.")
}
