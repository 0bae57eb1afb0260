import SyncModel

extension BlobHash {
    /// Of bytes that are in memory, and at most a chunk.
    init(ofSmall bytes: [UInt8]) { self.init(of: ChunkHash.ofSmall(bytes), size: UInt64(bytes.count)) }
}

extension ChunkHash {
    /// The one chunk of them; none of no bytes.
    static func ofSmall(_ bytes: [UInt8]) -> [ChunkHash] {
        bytes.isEmpty ? [] : [bytes.withUnsafeBytes { ChunkHash(of: $0) }]
    }
}
