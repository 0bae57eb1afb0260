import SyncModel
import Testing

/// What a blob is called: vectors computed apart from this code, by Python's hashlib.
struct BlobHashTests {
    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }
    }

    @Test(
        arguments: [
            (0, "65908b30d07f3280dc4c221df650a8f01ea7d19f036bcfb888ed1388935bd1c2"),
            (1, "3bae2cc23d16e89abe8caac5d0bb35dc5fb089883db299c07f649bce31a8a602"),
            (262144, "48196e737e594430e0ab88866702244bd0a420b637daf4fd00940f48195cf9dc"),
            (262145, "730d6b6b0887a187a991c7941d36b7cfce2778d1c13f25ed413b333149a18754"),
            (600000, "d131de750013c2e389e80a718471741c5d3989a3757dfc245cf4f5b850353cec"),
        ])
    func `a blob has the name that others compute`(count: Int, name: String) {
        let bytes = Self.bytes(count)
        var whole = BlobHasher()
        bytes.withUnsafeBytes { whole.update($0) }
        #expect(whole.finish().hash.bytes.hexadecimal == name)
        #expect(whole.chunks.count == BlobLayout(size: UInt64(count))?.chunkCount)
        #expect(whole.size == UInt64(count))
    }

    @Test(arguments: [1, 7, 4096, 262_143, 262_144, 262_145, 1 << 20])
    func `it does not matter in what parts the bytes come`(part: Int) {
        let bytes = Self.bytes(600_000)
        var whole = BlobHasher()
        bytes.withUnsafeBytes { whole.update($0) }
        var parted = BlobHasher()
        // A byte at a time for the whole of it would take longer than it shows.
        let stretch = part < 100 ? 200_000..<320_000 : 0..<0
        bytes.withUnsafeBytes { raw in
            parted.update(UnsafeRawBufferPointer(rebasing: raw[..<stretch.lowerBound]))
            var start = stretch.lowerBound
            while start < raw.count {
                let end = min(raw.count, start + (start < stretch.upperBound ? part : max(part, 4096)))
                parted.update(UnsafeRawBufferPointer(rebasing: raw[start..<end]))
                start = end
            }
        }
        #expect(parted.finish() == whole.finish())
        #expect(parted.chunks == whole.chunks)
    }

    @Test func `each chunk can be checked by itself`() throws {
        let bytes = Self.bytes(600_000)
        var hasher = BlobHasher()
        bytes.withUnsafeBytes { hasher.update($0) }
        _ = hasher.finish()
        let layout = try #require(BlobLayout(size: 600_000))
        for chunk in 0..<layout.chunkCount {
            let range = layout.range(of: chunk)
            let hash = bytes.withUnsafeBytes {
                ChunkHash(of: UnsafeRawBufferPointer(rebasing: $0[Int(range.lowerBound)..<Int(range.upperBound)]))
            }
            #expect(hash == hasher.chunks[chunk])
        }
        #expect(layout.range(of: 2) == 524_288..<600_000)
    }

    @Test func `zeros more or fewer are another blob`() {
        var names: Set<BlobName> = []
        for count in [0, 1, 2, 262_143, 262_144, 262_145, 524_288] {
            var hasher = BlobHasher()
            [UInt8](repeating: 0, count: count).withUnsafeBytes { hasher.update($0) }
            names.insert(hasher.finish())
        }
        #expect(names.count == 7)
    }

    @Test func `a layout ends where blobs end`() {
        #expect(BlobLayout(size: BlobLayout.sizeLimit)?.chunkCount == 65_536)
        #expect(BlobLayout(size: BlobLayout.sizeLimit + 1) == nil)
        #expect(BlobLayout(size: 0)?.chunkCount == 0)
        #expect(BlobHash(bytes: [UInt8](repeating: 0, count: 31)) == nil)
    }
}
