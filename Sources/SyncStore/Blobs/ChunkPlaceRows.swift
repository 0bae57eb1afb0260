import SyncModel

/// The table of `18-chunk-places.sql` over one connection: which blobs have a chunk.
struct ChunkPlaceRows {
    private let access: SQLiteAccess
    /// Bytes of a hash that the table holds: among a billion chunks two of the same prefix are rare, and harmless.
    private static let prefixBytes = 8
    /// A chunk of zeros may be in a place of every blob. If these few do not read back, a peer is asked.
    private static let candidates = 4

    init(_ access: SQLiteAccess) { self.access = access }

    /// - Parameter hashes: a row of `chunk_hashes`.
    func insert(_ hashes: [UInt8], of blob: Int64, page: Int) throws(StoreError) {
        try forEach(hashes, page) { prefix, chunk throws(StoreError) in
            try access.run(
                "INSERT OR IGNORE INTO chunk_place (prefix, blob, chunk) VALUES (?, ?, ?)", .blob(prefix),
                .integer(blob), .integer(chunk))
        }
    }

    func remove(_ hashes: [UInt8], of blob: Int64, page: Int) throws(StoreError) {
        try forEach(hashes, page) { prefix, chunk throws(StoreError) in
            try access.run(
                "DELETE FROM chunk_place WHERE prefix = ? AND blob = ? AND chunk = ?", .blob(prefix), .integer(blob),
                .integer(chunk))
        }
    }

    /// Places in blobs that are whole, and in files, at most `candidates`. The prefix alone is no proof.
    func find(_ hash: ChunkHash) throws(StoreError) -> [(blob: BlobName, chunk: Int)] {
        var places: [(blob: BlobName, chunk: Int)] = []
        try access.forEach(
            """
            SELECT hash, size, chunk FROM chunk_place JOIN blob ON blob.id = chunk_place.blob
            WHERE prefix = ? AND place = 1 LIMIT \(Self.candidates)
            """, .blob(Array(hash.bytes.prefix(Self.prefixBytes)))
        ) { row throws(StoreError) in
            if let blob = BlobName(row, hash: 0, size: 1) { places.append((blob, Int(row.integer(2)))) }
            return true
        }
        return places
    }

    private func forEach(
        _ hashes: [UInt8], _ page: Int, _ body: ([UInt8], Int64) throws(StoreError) -> Void
    ) throws(StoreError) {
        let first = page * BlobRows.pageChunks
        for (number, start) in stride(from: 0, to: hashes.count, by: BlobHash.byteCount).enumerated() {
            try body(Array(hashes[start..<start + Self.prefixBytes]), Int64(first + number))
        }
    }
}
