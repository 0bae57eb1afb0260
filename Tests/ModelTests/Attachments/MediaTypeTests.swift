import SyncModel
import Testing

/// Files by their first bytes.
struct MediaTypeTests {
    private static let png: [UInt8] = [
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 2, 0x80, 0, 0, 1,
        0xe0, 8, 6,
        0, 0, 0,
    ]
    private static let gif: [UInt8] = Array("GIF89a".utf8) + [0x40, 1, 0xc8, 0, 0xf7, 0, 0]
    /// With a preview's segment before the frame.
    private static let jpeg: [UInt8] =
        [0xff, 0xd8, 0xff, 0xe1, 0, 10] + [UInt8](repeating: 0xff, count: 8)
        + [0xff, 0xff, 0xc2, 0, 17, 8, 0x04, 0x38, 0x07, 0x80, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
    private static let lossy: [UInt8] =
        Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8 ".utf8) + [
            0, 0, 0, 0, 0x30, 1, 0, 0x9d, 1, 0x2a, 0x2c, 1, 0xc8, 0,
        ]
    private static let lossless: [UInt8] =
        Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8L".utf8) + [0, 0, 0, 0, 0x2f, 0x2b, 0xc1, 0x31, 0]
    private static let extended: [UInt8] =
        Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0, 0x2b, 1, 0, 0xc7, 0, 0]

    @Test(arguments: [
        (png, "image/png", UInt32(640), UInt32(480)), (gif, "image/gif", 320, 200), (jpeg, "image/jpeg", 1920, 1080),
        (lossy, "image/webp", 300, 200), (lossless, "image/webp", 300, 200), (extended, "image/webp", 300, 200),
    ])
    func `pictures have a type and a size, and no shorter head makes another of them`(
        head: [UInt8], type: String, width: UInt32, height: UInt32
    ) {
        #expect(MediaType(head: head, isWhole: true).name == type)
        let size = ImageSize(head: head)
        #expect(size?.width == width && size?.height == height, "\(String(describing: size))")
        for length in 0..<head.count {
            let cut = ImageSize(head: Array(head.prefix(length)))
            #expect(cut == nil || cut == size)
        }
    }

    @Test func `forged headers are read to their end and no further`() {
        var random = SeededGenerator(seed: 3)
        for head in [Self.png, Self.gif, Self.jpeg, Self.lossy, Self.lossless, Self.extended] {
            for _ in 0..<3_000 {
                var forged = head
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    forged[Int.random(in: 0..<forged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                if let size = ImageSize(head: forged) { #expect(size.width > 0 && size.height > 0) }
                #expect(!MediaType(head: forged, isWhole: false).name.isEmpty)
            }
        }
    }

    @Test func `texts are UTF-8 without what no text has`() {
        func name(_ bytes: [UInt8], isWhole: Bool = true) -> String { MediaType(head: bytes, isWhole: isWhole).name }
        #expect(name(Array("Hello, 写真\n".utf8)) == "text/plain")
        #expect(name(Array("写真".utf8.dropLast()), isWhole: false) == "text/plain", "cut inside a scalar")
        #expect(name(Array("写真".utf8.dropLast())) == "application/octet-stream")
        #expect(name([0x41, 0x00, 0x42]) == "application/octet-stream")
        #expect(name([0xff, 0xfe, 0x41]) == "application/octet-stream")
        #expect(name([]) == "application/octet-stream")
        #expect(name([0xe5], isWhole: false) == "application/octet-stream", "nothing of it is a text yet")
    }

    @Test func `a type that a person gives has the form of one`() {
        #expect(MediaType("Image/SVG+xml")?.name == "image/svg+xml")
        for wrong in [
            "", "text", "text/", "/plain", "a/b/c", "text/plain; charset=utf-8", "te xt/plain", "text/pl\nain", "é/x",
        ] {
            #expect(MediaType(wrong) == nil, "\(wrong)")
        }
        #expect(MediaType("a/" + String(repeating: "b", count: 127)) == nil)
    }
}
