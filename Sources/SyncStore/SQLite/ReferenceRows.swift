import SyncModel

/// The references to one blob in all spaces: what the bytes at rest tell them, and ask of them.
struct ReferenceRows {
    private let access: SQLiteAccess
    /// Through the unique index over (space, blob, size).
    private static let ofBlob = "space IN (SELECT id FROM space) AND blob = ?1 AND size = ?2"

    init(_ access: SQLiteAccess) { self.access = access }

    /// Called in every transaction that makes a blob whole, or not whole any more.
    func record(_ blob: BlobName, isWhole: Bool) throws(StoreError) {
        try access.run(
            "UPDATE blob_reference SET is_missing = (attachments > 0 AND NOT ?3) WHERE \(Self.ofBlob)",
            .blob(blob.hash.bytes), blob.sizeValue, .integer(isWhole ? 1 : 0))
    }

    func need(of blob: BlobName) throws(StoreError) -> BlobNeed {
        var need = BlobNeed.neverNeeded
        try access.forEach(
            "SELECT attachments, released FROM blob_reference WHERE \(Self.ofBlob)", .blob(blob.hash.bytes),
            blob.sizeValue
        ) { row throws(StoreError) in
            if row.integer(0) > 0 {
                need = .needed
                return false
            }
            // Null is of no row that a transaction left behind; whatever put it there, the blob stays.
            let released = row.isNull(1) ? Int64.max : row.integer(1)
            if case .unneeded(let since) = need {
                need = .unneeded(since: max(since, released))
            } else {
                need = .unneeded(since: released)
            }
            return true
        }
        return need
    }

    // Forgetting

    /// Forgets a blob whose bytes go in the same transaction, as far as it is unneeded.
    func forget(_ blob: BlobName) throws(StoreError) {
        try forget(
            rows(
                "SELECT id FROM blob_reference WHERE \(Self.ofBlob) AND attachments = 0", .blob(blob.hash.bytes),
                blob.sizeValue))
    }

    /// True if a blob has been unneeded since that time or longer, and nothing of it is stored.
    func hasVanished(releasedUpTo wallMilliseconds: Int64) throws(StoreError) -> Bool {
        try !vanished(wallMilliseconds, limit: 1).isEmpty
    }

    /// Forgets the references of some of them.
    func forgetVanished(releasedUpTo wallMilliseconds: Int64, limit: Int) throws(StoreError) {
        try forget(vanished(wallMilliseconds, limit: limit))
    }

    private func vanished(_ wallMilliseconds: Int64, limit: Int) throws(StoreError) -> [Int64] {
        try rows(
            """
            SELECT id FROM blob_reference WHERE space IN (SELECT id FROM space) AND released <= ?
                AND NOT EXISTS (
                    SELECT 1 FROM blob WHERE blob.hash = blob_reference.blob AND blob.size = blob_reference.size)
            LIMIT ?
            """, .integer(wallMilliseconds), .integer(Int64(limit)))
    }

    private func forget(_ references: [Int64]) throws(StoreError) {
        for reference in references {
            try access.run("DELETE FROM holder WHERE reference = ?", .integer(reference))
            try access.run("DELETE FROM blob_reference WHERE id = ?", .integer(reference))
        }
    }

    private func rows(_ sql: String, _ first: SQLValue, _ second: SQLValue) throws(StoreError) -> [Int64] {
        var found: [Int64] = []
        try access.forEach(sql, first, second) { row throws(StoreError) in
            found.append(row.integer(0))
            return true
        }
        return found
    }

    // Holders

    /// Returns the blobs for which it is news that the device holds them.
    func news(_ blobs: [BlobName], _ device: DeviceID, at wallMilliseconds: Int64) throws(StoreError) -> [BlobName] {
        var news: [BlobName] = []
        for blob in blobs {
            var isNews = false
            try access.forEach(
                """
                SELECT noted FROM blob_reference
                    LEFT JOIN holder ON holder.reference = blob_reference.id AND holder.device = ?3
                WHERE \(Self.ofBlob)
                """, .blob(blob.hash.bytes), blob.sizeValue, .blob(device.bytes)
            ) { row throws(StoreError) in
                let noted = row.isNull(0) ? nil : row.integer(0)
                isNews = isNews || BlobHolder.isNews(at: wallMilliseconds, behind: noted)
                return !isNews
            }
            if isNews { news.append(blob) }
        }
        return news
    }

    func recordHolder(_ blob: BlobName, _ device: DeviceID, at wallMilliseconds: Int64) throws(StoreError) {
        try access.run(
            """
            INSERT INTO holder (reference, device, noted) SELECT id, ?3, ?4 FROM blob_reference WHERE \(Self.ofBlob)
            ON CONFLICT (reference, device) DO UPDATE SET noted = excluded.noted
            """, .blob(blob.hash.bytes), blob.sizeValue, .blob(device.bytes), .integer(wallMilliseconds))
    }

    func holders(of blob: BlobName) throws(StoreError) -> [BlobHolder] {
        var holders: [BlobHolder] = []
        try access.forEach(
            """
            SELECT device, max(noted) AS newest FROM blob_reference
                JOIN holder ON holder.reference = blob_reference.id
            WHERE \(Self.ofBlob) GROUP BY device ORDER BY newest DESC, device
            """, .blob(blob.hash.bytes), blob.sizeValue
        ) { row throws(StoreError) in
            guard let device = DeviceID(bytes: row.blob(0)) else {
                throw .corrupt(detail: "a holder's row does not read back")
            }
            holders.append(BlobHolder(device: device, notedMilliseconds: row.integer(1)))
            return true
        }
        return holders
    }
}

extension BlobName {
    var sizeValue: SQLValue { .integer(Int64(clamping: size)) }
}
