package import SyncModel

/// The hashes of a blob's chunks, one behind the other: 128 KiB for 1 GiB.
package struct ChunkList: Hashable, Sendable {
    /// 32 each.
    package private(set) var bytes: [UInt8]

    package init() { bytes = [] }

    /// Nil unless these are whole hashes.
    package init?(bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: BlobHash.byteCount) else { return nil }
        self.bytes = bytes
    }

    package init(_ hashes: [ChunkHash]) {
        bytes = []
        bytes.reserveCapacity(hashes.count * BlobHash.byteCount)
        for hash in hashes { bytes += hash.bytes }
    }

    package var count: Int { bytes.count / BlobHash.byteCount }

    /// True if `chunk` has this hash; false if `chunk` is out of range.
    package func has(_ hash: ChunkHash, at chunk: Int) -> Bool {
        guard chunk >= 0, chunk < count else { return false }
        return bytes[chunk * BlobHash.byteCount..<(chunk + 1) * BlobHash.byteCount].elementsEqual(hash.bytes)
    }

    /// Nil for a chunk that is not of it.
    func hash(at chunk: Int) -> ChunkHash? {
        guard chunk >= 0, chunk < count else { return nil }
        return ChunkHash(bytes: bytes[chunk * BlobHash.byteCount..<(chunk + 1) * BlobHash.byteCount])
    }

    package var hashes: [ChunkHash] {
        stride(from: 0, to: bytes.count, by: BlobHash.byteCount).compactMap {
            ChunkHash(bytes: bytes[$0..<$0 + BlobHash.byteCount])
        }
    }

    /// True if a blob with these chunks has this name.
    package func isOf(_ blob: BlobName) -> Bool {
        blob.layout.chunkCount == count && BlobName(of: hashes, size: blob.size) == blob
    }
}
