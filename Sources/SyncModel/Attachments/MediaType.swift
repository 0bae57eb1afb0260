/// The media type of a file, by its first bytes: names lie, and not every file has one.
package struct MediaType: Hashable, Sendable {
    /// The registered name: type, slash, subtype.
    package let name: String

    /// Creates a media type that a person gave. Nil unless it has the form of one (RFC 6838), 3 to 128 bytes, without
    /// parameters.
    package init?(_ name: String) {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isRestricted = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            case _: "!#$&-^_.+".utf8.contains(byte)
            }
        }
        guard parts.count == 2, name.utf8.count <= 128,
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isRestricted) })
        else { return nil }
        self.name = name.lowercased()
    }

    private init(known name: String) { self.name = name }

    package static let unknown = MediaType(known: "application/octet-stream")

    /// Finds the media type by content.
    ///
    /// - Parameters:
    ///   - head: The first bytes, some 4 KiB.
    ///   - isWhole: True if that is the whole file: else a text may end inside a scalar.
    package init(head: [UInt8], isWhole: Bool) {
        let found = Self.signatures.first { head.has($0.mark, at: $0.position) }?.name
        if let found {
            self = MediaType(known: found)
        } else if let brand = Self.container(head) {
            self = MediaType(known: brand)
        } else {
            self = Self.isText(head, isWhole: isWhole) ? MediaType(known: "text/plain") : .unknown
        }
    }

    private struct Signature {
        let mark: String
        let position: Int
        let name: String

        init(_ mark: String, _ name: String, at position: Int = 0) {
            (self.mark, self.position, self.name) = (mark, position, name)
        }
    }

    private static let signatures = [
        Signature("GIF87a", "image/gif"), Signature("GIF89a", "image/gif"), Signature("%PDF-", "application/pdf"),
        Signature("PK\u{03}\u{04}", "application/zip"), Signature("OggS", "audio/ogg"), Signature("fLaC", "audio/flac"),
        Signature("ID3", "audio/mpeg"), Signature("BZh", "application/x-bzip2"),
        Signature("SQLite format 3", "application/vnd.sqlite3"),
    ]

    /// Formats whose mark is no text, or stands behind a length.
    private static func container(_ head: [UInt8]) -> String? {
        if head.begins(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return "image/png" }
        if head.begins(with: [0xff, 0xd8, 0xff]) { return "image/jpeg" }
        if head.begins(with: [0x1f, 0x8b]) { return "application/gzip" }
        if head.begins(with: [0x28, 0xb5, 0x2f, 0xfd]) { return "application/zstd" }
        if head.begins(with: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]) { return "application/x-xz" }
        if head.begins(with: [0x1a, 0x45, 0xdf, 0xa3]) { return "video/webm" }
        if head.begins(with: [0x49, 0x49, 0x2a, 0x00]) || head.begins(with: [0x4d, 0x4d, 0x00, 0x2a]) {
            return "image/tiff"
        }
        if head.has("RIFF", at: 0) {
            if head.has("WEBP", at: 8) { return "image/webp" }
            if head.has("WAVE", at: 8) { return "audio/wav" }
        }
        if head.has("ftyp", at: 4) {
            if head.has("avif", at: 8) { return "image/avif" }
            if head.has("hei", at: 8) || head.has("mif1", at: 8) { return "image/heic" }
            if head.has("M4A", at: 8) { return "audio/mp4" }
            if head.has("qt  ", at: 8) { return "video/quicktime" }
            return "video/mp4"
        }
        return nil
    }

    /// UTF-8 without control characters that no text has.
    private static func isText(_ head: [UInt8], isWhole: Bool) -> Bool {
        guard !head.isEmpty, !head.contains(where: { $0 < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d, 0x1b].contains($0) }) else {
            return false
        }
        // The last scalar may be cut off.
        let longestTail = isWhole ? 0 : min(3, head.count - 1)
        return (0...longestTail).contains { String(validating: head.dropLast($0), as: UTF8.self) != nil }
    }
}
