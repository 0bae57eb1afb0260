import SyncCore
package import SyncModel
import SyncStore

/// The bytes of one attachment of the simulated world: made once a process, so that a world costs no hashing of its own.
package struct BlobContent: Sendable {
    package let bytes: [UInt8]
    package let name: BlobName
    /// 32 bytes for each chunk.
    let chunkHashes: ChunkList

    /// Empty, tiny, small, just small, just large, of few chunks: what a limit or an edge in the code could tell apart.
    package static let all: [BlobContent] = [
        0, 1, 40 << 10, 40 << 10, 64 << 10, (64 << 10) + 1, 256 << 10, 300 << 10, 300 << 10, (512 << 10) + 1, 700 << 10,
        1 << 20, 3 << 19, 2 << 20,
    ].enumerated().map { BlobContent(byteCount: $1, seed: UInt64($0) + 1) }

    static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    package var layout: BlobLayout { name.layout }

    /// Generates contents without two equal chunks, within one content or across two.
    private init(byteCount: Int, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: seed), count: byteCount)
        for index in stride(from: 0, to: byteCount, by: 4_093) {
            for offset in 0..<min(8, byteCount - index) {
                bytes[index + offset] = UInt8.random(in: 0...255, using: &random)
            }
        }
        var hasher = BlobHasher()
        bytes.withUnsafeBytes { hasher.update($0) }
        name = hasher.finish()
        chunkHashes = ChunkList(hasher.chunks)
        self.bytes = bytes
    }

    /// True if these are its bytes at that chunk.
    func has(_ part: ArraySlice<UInt8>, chunk: Int) -> Bool {
        guard chunk >= 0, chunk < layout.chunkCount else { return false }
        let range = layout.range(of: chunk)
        return bytes[Int(range.lowerBound)..<Int(range.upperBound)] == part
    }

    /// The chunks of it that lie in a file, each in its place.
    func chunks(in file: [UInt8]) -> ChunkSet {
        var found = ChunkSet(count: layout.chunkCount)
        for chunk in 0..<layout.chunkCount {
            let range = layout.range(of: chunk)
            guard range.upperBound <= UInt64(file.count) else { break }
            if has(file[Int(range.lowerBound)..<Int(range.upperBound)], chunk: chunk) { found.insert(chunk) }
        }
        return found
    }
}
