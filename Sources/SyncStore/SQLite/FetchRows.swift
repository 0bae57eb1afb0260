import SyncModel

/// The wishes of a space for blobs: its policy, its pins, and the missing blobs.
struct FetchRows {
    private let log: LogRows
    private var access: SQLiteAccess { log.access }
    private var space: SQLValue { .integer(log.spaceRow) }
    /// Through the unique index.
    private static let ofBlob = "space = ? AND blob = ? AND size = ?"

    init(_ log: LogRows) { self.log = log }

    // Policy and quota

    func policy() throws(StoreError) -> FetchPolicy {
        switch try number("fetch_limit") {
        case nil: .all
        case let limit? where limit < 0: .onDemand
        case let limit?: .upTo(UInt64(limit))
        }
    }

    func set(_ policy: FetchPolicy) throws(StoreError) {
        let limit: Int64? =
            switch policy {
            case .all: nil
            case .upTo(let limit): Int64(clamping: limit)
            case .onDemand: -1
            }
        try access.run("UPDATE space SET fetch_limit = ? WHERE id = ?", .integer(limit), space)
    }

    func quota() throws(StoreError) -> UInt64? { try number("quota").map { UInt64(clamping: $0) } }

    func set(quota: UInt64?) throws(StoreError) {
        try access.run(
            "UPDATE space SET quota = ? WHERE id = ?", .integer(quota.map { Int64(clamping: $0) }), space)
    }

    private func number(_ column: String) throws(StoreError) -> Int64? {
        let value = try access.first("SELECT \(column) FROM space WHERE id = ?", space) { row throws(StoreError) in
            row.isNull(0) ? nil : row.integer(0)
        }
        return value ?? nil
    }

    // Pins

    func pin(_ blob: BlobName) throws(StoreError) -> Bool {
        try access.first(
            "UPDATE blob_reference SET is_pinned = 1 WHERE \(Self.ofBlob) AND attachments > 0 RETURNING id",
            space, .blob(blob.hash.bytes), blob.sizeValue
        ) { _ throws(StoreError) in true } ?? false
    }

    func unpin(_ blob: BlobName) throws(StoreError) -> Bool {
        try access.first(
            """
            UPDATE blob_reference SET is_pinned = 0 WHERE \(Self.ofBlob) AND is_pinned = 1 RETURNING attachments > 0
            """, space, .blob(blob.hash.bytes), blob.sizeValue
        ) { row throws(StoreError) in row.integer(0) != 0 } ?? false
    }

    func isPinned(_ blob: BlobName) throws(StoreError) -> Bool {
        try has("is_pinned = 1 AND attachments > 0", blob)
    }

    private func has(_ condition: String, _ blob: BlobName) throws(StoreError) -> Bool {
        try access.first(
            "SELECT 1 FROM blob_reference WHERE \(Self.ofBlob) AND \(condition)", space, .blob(blob.hash.bytes),
            blob.sizeValue
        ) { _ throws(StoreError) in true } ?? false
    }

    // Missing blobs

    private static let columns = """
        blob, size, stamp, EXISTS (
            SELECT 1 FROM blob AS part
            WHERE part.hash = blob_reference.blob AND part.size = blob_reference.size AND part.place = 2)
        """

    /// Returns missing blobs in the order of their sizes; pinned ones beyond the limit come behind all that are within it.
    func missing(except: Set<BlobName>, limit: Int) throws(StoreError) -> [MissingBlob] {
        var found: [MissingBlob] = []
        guard limit > 0 else { return found }
        for part in Self.parts(try policy()) where found.count < limit {
            try access.forEach(
                """
                SELECT \(Self.columns) FROM blob_reference WHERE space = ? AND \(part.condition)
                ORDER BY size, stamp DESC, blob
                """, space, .integer(part.size)
            ) { row throws(StoreError) in
                let missing = try Self.missing(row)
                if !except.contains(missing.blob) { found.append(missing) }
                return found.count < limit
            }
        }
        return found
    }

    func missingCount() throws(StoreError) -> Int { try missingFigures().count }

    func missingFigures() throws(StoreError) -> MissingFigures {
        var figures = MissingFigures()
        for part in Self.parts(try policy()) {
            let found = try access.first(
                "SELECT count(*), coalesce(sum(size), 0) FROM blob_reference WHERE space = ? AND \(part.condition)",
                space, .integer(part.size)
            ) { row throws(StoreError) in (row.integer(0), row.integer(1)) }
            figures.count += Int(clamping: found?.0 ?? 0)
            figures.bytes += found?.1 ?? 0
        }
        return figures
    }

    /// Returns the conditions of the query, each for one stretch of an index.
    private static func parts(_ policy: FetchPolicy) -> [(condition: String, size: Int64)] {
        let limit: Int64 =
            switch policy {
            case .all: .max
            case .upTo(let limit): Int64(clamping: limit)
            case .onDemand: -1
            }
        return [("is_missing = 1 AND size <= ?", limit), ("is_missing = 1 AND is_pinned = 1 AND size > ?", limit)]
    }

    func missing(_ blob: BlobName) throws(StoreError) -> MissingBlob? {
        try access.first(
            "SELECT \(Self.columns) FROM blob_reference WHERE \(Self.ofBlob) AND is_missing = 1", space,
            .blob(blob.hash.bytes), blob.sizeValue
        ) { row throws(StoreError) in try Self.missing(row) }
    }

    private static func missing(_ row: SQLRow) throws(StoreError) -> MissingBlob {
        guard let blob = BlobName(row, hash: 0, size: 1) else {
            throw .corrupt(detail: "a blob's reference does not read back")
        }
        return MissingBlob(blob: blob, stamp: LogRows.stamp(row.integer(2)), isBegun: row.integer(3) != 0)
    }

    func allowed(_ blobs: [BlobName]) throws(StoreError) -> [BlobName] {
        var allowed: [BlobName] = []
        for blob in blobs where try has("attachments > 0", blob) { allowed.append(blob) }
        return allowed
    }
}
