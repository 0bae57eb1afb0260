import SyncModel

/// The tables of `07-blobs.sql` over one connection.
struct BlobRows {
    private let access: SQLiteAccess
    /// Chunks to a row of `chunk_hashes`.
    static let pageChunks = 128

    init(_ access: SQLiteAccess) { self.access = access }

    private static let columns = "id, hash, size, place, touched"

    private static func row(_ row: SQLRow) throws(StoreError) -> BlobRow {
        guard let blob = BlobName(row, hash: 1, size: 2), let place = BlobRow.Place(rawValue: row.integer(3)) else {
            throw .corrupt(detail: "a blob's row does not read back")
        }
        return BlobRow(id: row.integer(0), blob: blob, place: place, touched: row.integer(4))
    }

    var references: ReferenceRows { ReferenceRows(access) }
    var chunkPlaces: ChunkPlaceRows { ChunkPlaceRows(access) }

    /// Returns the row of the blob; nil also if the blob of this hash has another size.
    func find(_ blob: BlobName) throws(StoreError) -> BlobRow? {
        let row = try find(blob.hash)
        return row?.blob == blob ? row : nil
    }

    /// Returns the row of the one blob with this hash: the bytes of a row were proven to have its size.
    func find(_ hash: BlobHash) throws(StoreError) -> BlobRow? {
        try access.first("SELECT \(Self.columns) FROM blob WHERE hash = ?", .blob(hash.bytes), read: Self.row)
    }

    /// Looks through all of them: only asked where a blob is about to be refused.
    func hasWhole(size: UInt64) throws(StoreError) -> Bool {
        try access.first("SELECT 1 FROM blob WHERE size = ? AND place <> 2", .integer(Int64(clamping: size))) {
            _ throws(StoreError) in true
        } ?? false
    }

    /// Returns rows in order of arrival.
    func page(after id: Int64, limit: Int) throws(StoreError) -> [BlobRow] {
        try all("SELECT \(Self.columns) FROM blob WHERE id > ? ORDER BY id LIMIT ?", id, limit)
    }

    func partials(after id: Int64, limit: Int) throws(StoreError) -> [BlobRow] {
        try all("SELECT \(Self.columns) FROM blob WHERE place = 2 AND id > ? ORDER BY id LIMIT ?", id, limit)
    }

    // For a backup

    /// Through the unique index over (space, blob, size).
    private static let isNamed = """
        EXISTS (SELECT 1 FROM blob_reference
                WHERE space IN (SELECT id FROM space) AND blob = blob.hash AND size = blob.size AND attachments > 0)
        """

    /// Returns the rows of blobs that are in files as a whole, in order of arrival.
    func wholeFiles(after id: Int64, limit: Int) throws(StoreError) -> [BlobRow] {
        try all("SELECT \(Self.columns) FROM blob WHERE place = 1 AND id > ? ORDER BY id LIMIT ?", id, limit)
    }

    func wholeFileBytes() throws(StoreError) -> UInt64 {
        try access.first("SELECT coalesce(sum(size), 0) FROM blob WHERE place = 1") {
            row throws(StoreError) in UInt64(clamping: row.integer(0))
        } ?? 0
    }

    /// Parts, and files that no record names.
    func unnamed(after id: Int64, limit: Int) throws(StoreError) -> [BlobRow] {
        try all(
            """
            SELECT \(Self.columns) FROM blob WHERE (place = 2 OR (place = 1 AND NOT \(Self.isNamed))) AND id > ?
            ORDER BY id LIMIT ?
            """, id, limit)
    }

    private func all(_ sql: String, _ id: Int64, _ limit: Int) throws(StoreError) -> [BlobRow] {
        var rows: [BlobRow] = []
        try access.forEach(sql, .integer(id), .integer(Int64(limit))) { row throws(StoreError) in
            rows.append(try Self.row(row))
            return true
        }
        return rows
    }

    /// All but what is being added.
    func usage() throws(StoreError) -> BlobUsage {
        var usage = BlobUsage()
        try access.forEach("SELECT place = 2, count(*), sum(size) FROM blob GROUP BY 1") { row throws(StoreError) in
            let (count, bytes) = (Int(row.integer(1)), UInt64(clamping: row.integer(2)))
            if row.integer(0) == 0 {
                (usage.wholeCount, usage.wholeBytes) = (count, bytes)
            } else {
                (usage.partialCount, usage.partialSizeBytes) = (count, bytes)
            }
            return true
        }
        return usage
    }

    // Writing

    /// - Returns: `blob.id`.
    func insert(_ blob: BlobName, _ place: BlobRow.Place, at now: Int64) throws(StoreError) -> Int64 {
        try access.run(
            "INSERT INTO blob (hash, size, place, touched) VALUES (?, ?, ?, ?)", .blob(blob.hash.bytes),
            .integer(Int64(clamping: blob.size)), .integer(place.rawValue), .integer(now))
        let id = access.lastInsertedRow
        if place != .partial { try references.record(blob, isWhole: true) }
        return id
    }

    /// Begins the grace period of a blob anew: it is not swept before this time plus the period.
    func touch(_ id: Int64, at now: Int64) throws(StoreError) {
        try access.run("UPDATE blob SET touched = ? WHERE id = ?", .integer(now), .integer(id))
    }

    func set(_ place: BlobRow.Place, of row: BlobRow, at now: Int64) throws(StoreError) {
        try access.run(
            "UPDATE blob SET place = ?, present = NULL, touched = ? WHERE id = ?", .integer(place.rawValue),
            .integer(now), .integer(row.id))
        try references.record(row.blob, isWhole: place != .partial)
    }

    func remove(_ row: BlobRow) throws(StoreError) {
        try removeChunks(of: row.id)
        try access.run("DELETE FROM small_blob WHERE blob = ?", .integer(row.id))
        try access.run("DELETE FROM blob WHERE id = ?", .integer(row.id))
        try references.record(row.blob, isWhole: false)
    }

    // Small ones

    func bytes(of id: Int64) throws(StoreError) -> [UInt8]? {
        try access.first("SELECT bytes FROM small_blob WHERE blob = ?", .integer(id)) { row throws(StoreError) in
            row.blob(0)
        }
    }

    /// Stores the bytes of a small blob, replacing older ones.
    func keep(_ bytes: [UInt8], of id: Int64) throws(StoreError) {
        try access.run("INSERT OR REPLACE INTO small_blob (blob, bytes) VALUES (?, ?)", .integer(id), .blob(bytes))
    }

    /// A blob with its bytes, where they are in the database.
    func findSmall(_ blob: BlobName, upTo bytes: Int) throws(StoreError) -> (row: BlobRow, bytes: [UInt8]?)? {
        let found = try access.first(
            """
            SELECT \(Self.columns), bytes FROM blob LEFT JOIN small_blob ON small_blob.blob = blob.id WHERE hash = ?
            """, .blob(blob.hash.bytes)
        ) { row throws(StoreError) -> (row: BlobRow, bytes: [UInt8]?)? in
            let found = try Self.row(row)
            guard found.blob == blob, found.isWhole, blob.size <= UInt64(bytes) else { return nil }
            return (found, found.place == .database ? row.blob(5) : nil)
        }
        return found ?? nil
    }

    // Chunks

    /// Puts them in place of what was kept.
    func keep(_ chunks: ChunkList, of id: Int64) throws(StoreError) {
        try removeChunks(of: id)
        let pageBytes = Self.pageChunks * BlobHash.byteCount
        for (page, start) in stride(from: 0, to: chunks.bytes.count, by: pageBytes).enumerated() {
            let hashes = Array(chunks.bytes[start..<min(start + pageBytes, chunks.bytes.count)])
            try access.run(
                "INSERT INTO chunk_hashes (blob, page, hashes) VALUES (?, ?, ?)", .integer(id), .integer(Int64(page)),
                .blob(hashes))
            try chunkPlaces.insert(hashes, of: id, page: page)
        }
    }

    func removeChunks(of id: Int64) throws(StoreError) {
        let pages = try allPages(of: id)
        for (page, hashes) in pages { try chunkPlaces.remove(hashes, of: id, page: page) }
        try access.run("DELETE FROM chunk_hashes WHERE blob = ?", .integer(id))
    }

    /// The pages of `chunk_hashes` in order.
    private func allPages(of id: Int64) throws(StoreError) -> [(page: Int, hashes: [UInt8])] {
        var pages: [(page: Int, hashes: [UInt8])] = []
        try access.forEach("SELECT page, hashes FROM chunk_hashes WHERE blob = ? ORDER BY page", .integer(id)) {
            row throws(StoreError) in
            pages.append((Int(row.integer(0)), row.blob(1)))
            return true
        }
        return pages
    }

    /// - Throws: `corrupt` unless there is a hash for each chunk.
    func chunks(of row: BlobRow) throws(StoreError) -> ChunkList {
        let bytes = try allPages(of: row.id).flatMap(\.hashes)
        guard let chunks = ChunkList(bytes: bytes), chunks.count == row.layout.chunkCount else {
            throw .corrupt(detail: "a blob's chunk hashes are not all there")
        }
        return chunks
    }

    /// Returns the hashes of one page, for the chunks from `page * pageChunks` on.
    /// The row is found by the blob's hash: after its removal another blob may have its id.
    func chunks(of blob: BlobName, page: Int) throws(StoreError) -> ChunkList? {
        try access.first(
            "SELECT hashes FROM chunk_hashes WHERE blob = (SELECT id FROM blob WHERE hash = ?) AND page = ?",
            .blob(blob.hash.bytes), .integer(Int64(page))
        ) { row throws(StoreError) in ChunkList(bytes: row.blob(0)) } ?? nil
    }

    /// Empty when nothing was noted, or nothing that reads back: this is no proof of anything.
    func present(of row: BlobRow) throws(StoreError) -> ChunkSet {
        let count = row.layout.chunkCount
        let bytes = try access.first("SELECT present FROM blob WHERE id = ?", .integer(row.id)) {
            row throws(StoreError) in row.blob(0)
        }
        return bytes.flatMap { ChunkSet(bytes: $0, count: count) } ?? ChunkSet(count: count)
    }

    func record(_ present: ChunkSet, of id: Int64) throws(StoreError) {
        try access.run(
            "UPDATE blob SET present = ? WHERE id = ? AND place = 2", .blob(present.bytes), .integer(id))
    }
}

extension BlobName {
    /// Nil for columns that are no name.
    init?(_ row: SQLRow, hash: Int32, size: Int32) {
        guard let name = BlobHash(bytes: row.blob(hash)), let size = UInt64(exactly: row.integer(size)),
            size <= BlobLayout.sizeLimit
        else { return nil }
        self.init(name, size: size)
    }
}
