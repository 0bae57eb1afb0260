package import SyncModel

/// An open blob, read chunk by chunk, in any order. Every chunk is hashed before it is handed over, whatever its origin
/// and age: that takes an eighth of a millisecond.
///
/// Memory: a chunk, and 4 KiB of hashes.
package struct BlobReader: Sendable {
    enum Contents: Sendable {
        case bytes([UInt8])
        case file(any BlobFile)
    }

    package let blob: BlobName
    private let contents: Contents
    private let blobs: BlobStore
    /// Chunk hashes, of the page that was read last.
    private var page: (number: Int, chunks: ChunkList)?

    init(_ row: BlobRow, _ contents: Contents, _ blobs: BlobStore) {
        blob = row.blob
        self.contents = contents
        self.blobs = blobs
    }

    package var layout: BlobLayout { blob.layout }

    var isFile: Bool {
        switch contents {
        case .bytes: false
        case .file: true
        }
    }

    /// - Throws: `notHere` for a chunk beyond the last, or if the blob was removed meanwhile; `damaged` if the bytes are not of
    ///   it: the blob counts as missing then; `inputOutput`, `store`.
    package mutating func read(_ chunk: Int) throws(BlobError) -> [UInt8] {
        guard chunk >= 0, chunk < layout.chunkCount else { throw .notHere(blob) }
        if let bytes = try checked(chunk) { return bytes }
        try blobs.recordDamage(blob)
        throw .damaged(blob)
    }

    /// Nil: the bytes are not of it.
    private mutating func checked(_ chunk: Int) throws(BlobError) -> [UInt8]? {
        switch contents {
        case .bytes(let bytes):
            return BlobName(ofSmall: bytes) == blob ? bytes : nil
        case .file(let file):
            guard let chunks = try hashes(page: chunk / BlobRows.pageChunks) else { throw .notHere(blob) }
            return try file.chunk(chunk, of: layout, chunks, at: chunk % BlobRows.pageChunks)
        }
    }

    /// Nil: the blob was removed meanwhile.
    private mutating func hashes(page number: Int) throws(BlobError) -> ChunkList? {
        if let page, page.number == number { return page.chunks }
        let chunks = try blobs.read { rows throws(StoreError) in try rows.chunks(of: blob, page: number) }
        guard let chunks else { return nil }
        page = (number, chunks)
        return chunks
    }
}
