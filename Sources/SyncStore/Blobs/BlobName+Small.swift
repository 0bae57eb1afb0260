import SyncModel

extension BlobName {
    /// The name of bytes that are in memory, at most one chunk.
    init(ofSmall bytes: [UInt8]) { self.init(of: ChunkHash.ofSmall(bytes), size: UInt64(bytes.count)) }
}

extension ChunkHash {
    /// The one chunk of them; none of no bytes.
    static func ofSmall(_ bytes: [UInt8]) -> [ChunkHash] {
        bytes.isEmpty ? [] : [bytes.withUnsafeBytes { ChunkHash(of: $0) }]
    }
}
