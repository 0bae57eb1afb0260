import Crypto

/// The hash of a blob: what its bytes are, and nothing of what they are called.
///
/// `SHA-256("lanyard/blob/v1" ‖ u64 size ‖ the hashes of its chunks)`, a chunk's hash being `SHA-256("lanyard/chunk/v1" ‖ its
/// bytes)`. So a chunk can be checked before it is used, and equal bytes have equal names wherever they come from. The size
/// is in it because no list of chunk hashes says how long the last chunk is.
package struct BlobHash: Hashable, Comparable, Sendable {
    package static let byteCount = 32

    package let bytes: [UInt8]

    /// Nil unless there are 32.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Creates the hash of a blob with these chunks.
    package init(of chunks: [ChunkHash], size: UInt64) {
        var hasher = SHA256()
        var head = Array("lanyard/blob/v1".utf8)
        head.append(bigEndian: size)
        hasher.update(data: head)
        for chunk in chunks { chunk.bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) } }
        bytes = Array(hasher.finalize())
    }

    package static func < (left: BlobHash, right: BlobHash) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// The hash of one chunk.
package struct ChunkHash: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Nil unless there are 32.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == BlobHash.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Creates the hash of these bytes.
    package init(of chunk: UnsafeRawBufferPointer) {
        var hasher = SHA256()
        hasher.update(data: Self.domain)
        hasher.update(bufferPointer: chunk)
        bytes = Array(hasher.finalize())
    }

    fileprivate init(_ digest: SHA256.Digest) { bytes = Array(digest) }

    fileprivate static let domain = Array("lanyard/chunk/v1".utf8)
}

/// The division of a blob into chunks: every chunk has `chunkBytes`, except the last, which has the rest. An empty blob has
/// none.
package struct BlobLayout: Hashable, Sendable {
    package static let chunkBytes = 256 << 10
    /// The maximum size of one blob: 16 GiB.
    package static let sizeLimit: UInt64 = 16 << 30

    package let size: UInt64

    /// Nil beyond the limit.
    package init?(size: UInt64) {
        guard size <= Self.sizeLimit else { return nil }
        self.size = size
    }

    package var chunkCount: Int { Int((size + UInt64(Self.chunkBytes) - 1) / UInt64(Self.chunkBytes)) }

    /// Returns the range of a chunk in the blob.
    package func range(of chunk: Int) -> Range<UInt64> {
        precondition(chunk >= 0 && chunk < chunkCount, "chunk \(chunk) of \(chunkCount)")
        let start = UInt64(chunk) * UInt64(Self.chunkBytes)
        return start..<min(size, start + UInt64(Self.chunkBytes))
    }
}

/// Names bytes while they stream by; holds one hash a chunk (128 KiB of hashes for 1 GiB) and no bytes.
package struct BlobHasher: Sendable {
    package private(set) var chunks: [ChunkHash] = []
    package private(set) var size: UInt64 = 0
    private var open = SHA256()
    private var openCount = 0

    package init() {}

    /// Takes the next bytes, in parts of any length.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if openCount == 0 { open.update(data: ChunkHash.domain) }
            let part = rest.prefix(BlobLayout.chunkBytes - openCount)
            open.update(bufferPointer: UnsafeRawBufferPointer(rebasing: part))
            openCount += part.count
            rest = rest.dropFirst(part.count)
            if openCount == BlobLayout.chunkBytes { close() }
        }
        size += UInt64(bytes.count)
    }

    /// Returns the name of all the bytes.
    package mutating func finish() -> BlobName {
        if openCount > 0 { close() }
        return BlobName(of: chunks, size: size)
    }

    private mutating func close() {
        chunks.append(ChunkHash(open.finalize()))
        open = SHA256()
        openCount = 0
    }
}
