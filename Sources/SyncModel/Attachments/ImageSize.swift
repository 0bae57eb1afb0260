/// Width and height as the header of a picture gives them.
package struct ImageSize: Hashable, Sendable {
    package let width: UInt32
    package let height: UInt32

    /// Reads PNG, GIF, JPEG and WebP. Nil for anything else, and where the header does not reach so far.
    ///
    /// - Parameter head: the first bytes of the file; of a JPEG with a preview inside some 64 KiB.
    package init?(head: [UInt8]) {
        guard let size = Self.png(head) ?? Self.gif(head) ?? Self.webP(head) ?? Self.jpeg(head), size.width > 0,
            size.height > 0
        else { return nil }
        self = size
    }

    /// Nil unless both are more than nothing.
    package init?(width: UInt32, height: UInt32) {
        guard width > 0, height > 0 else { return nil }
        self.init(width, height)
    }

    private init(_ width: UInt32, _ height: UInt32) { (self.width, self.height) = (width, height) }

    /// PNG (ISO/IEC 15948): the header chunk is the first.
    private static func png(_ head: [UInt8]) -> ImageSize? {
        guard head.begins(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), head.has("IHDR", at: 12),
            let width = head.big(4, at: 16), let height = head.big(4, at: 20)
        else { return nil }
        return ImageSize(width, height)
    }

    /// GIF 87a and 89a: the logical screen.
    private static func gif(_ head: [UInt8]) -> ImageSize? {
        guard head.has("GIF87a", at: 0) || head.has("GIF89a", at: 0), let width = head.little(2, at: 6),
            let height = head.little(2, at: 8)
        else { return nil }
        return ImageSize(width, height)
    }

    /// WebP: the canvas of the extended form, or the frame of the two simple ones (RFC 9649).
    private static func webP(_ head: [UInt8]) -> ImageSize? {
        guard head.has("RIFF", at: 0), head.has("WEBP", at: 8) else { return nil }
        if head.has("VP8X", at: 12), let width = head.little(3, at: 24), let height = head.little(3, at: 27) {
            return ImageSize(width + 1, height + 1)
        }
        if head.has("VP8L", at: 12), head.count > 20, head[20] == 0x2f, let bits = head.little(4, at: 21) {
            return ImageSize(bits & 0x3fff + 1, (bits >> 14) & 0x3fff + 1)
        }
        if head.has("VP8 ", at: 12), head.begins(with: [0x9d, 0x01, 0x2a], at: 23), let width = head.little(2, at: 26),
            let height = head.little(2, at: 28)
        {
            return ImageSize(width & 0x3fff, height & 0x3fff)
        }
        return nil
    }

    /// JPEG (ITU T.81): the first start of frame among the segments.
    private static func jpeg(_ head: [UInt8]) -> ImageSize? {
        guard head.begins(with: [0xff, 0xd8]) else { return nil }
        var position = 2
        while let marker = head.big(2, at: position), marker >> 8 == 0xff {
            let kind = UInt8(truncatingIfNeeded: marker)
            // A filler, or a marker that stands alone.
            if kind == 0xff || kind == 0x01 || (0xd0...0xd8).contains(kind) {
                position += kind == 0xff ? 1 : 2
                continue
            }
            guard let length = head.big(2, at: position + 2), length >= 2 else { return nil }
            let isFrame = (0xc0...0xcf).contains(kind) && ![0xc4, 0xc8, 0xcc].contains(kind)
            if isFrame {
                guard let height = head.big(2, at: position + 5), let width = head.big(2, at: position + 7) else {
                    return nil
                }
                return ImageSize(width, height)
            }
            // Behind the start of a scan there are no more headers.
            if kind == 0xda || kind == 0xd9 { return nil }
            position += 2 + Int(length)
        }
        return nil
    }
}

extension [UInt8] {
    func begins(with bytes: [UInt8], at position: Int = 0) -> Bool {
        position + bytes.count <= count && self[position..<position + bytes.count].elementsEqual(bytes)
    }

    func has(_ text: String, at position: Int) -> Bool { begins(with: Array(text.utf8), at: position) }

    fileprivate func big(_ length: Int, at position: Int) -> UInt32? {
        guard position >= 0, position + length <= count else { return nil }
        return self[position..<position + length].reduce(0) { $0 << 8 | UInt32($1) }
    }

    fileprivate func little(_ length: Int, at position: Int) -> UInt32? {
        guard position >= 0, position + length <= count else { return nil }
        return self[position..<position + length].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
