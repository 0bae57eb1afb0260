import SyncModel

/// The rows of attachments and of what they need: written with the objects they belong to.
struct AttachmentRows {
    let log: LogRows
    private var access: SQLiteAccess { log.access }

    init(_ log: LogRows) { self.log = log }

    // Writing

    /// - Parameters:
    /// - object: `object.id`.
    /// - wallMilliseconds: the release time of blobs that become unneeded.
    func write(_ difference: AttachmentDifference, of object: Int64, at wallMilliseconds: Int64) throws(StoreError) {
        for attachment in difference.gone { try remove(attachment, at: wallMilliseconds) }
        for attachment in difference.new { try insert(attachment, of: object) }
    }

    private func insert(_ attachment: Attachment, of object: Int64) throws(StoreError) {
        let file = attachment.file
        let reference = try access.first(
            """
            INSERT INTO blob_reference (space, blob, size, attachments) VALUES (?, ?, ?, 1)
            ON CONFLICT (space, blob, size) DO UPDATE SET attachments = attachments + 1, released = NULL
            RETURNING id
            """, .integer(log.spaceRow), .blob(file.blob.hash.bytes), file.blob.sizeValue
        ) { row throws(StoreError) in row.integer(0) }
        try access.run(
            """
            INSERT INTO attachment
                (replica, counter, object, reference, stamp, label, name, media_type, width, height)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .integer(try log.replicaRow(attachment.id.replica)), .integer(Int64(attachment.id.counter)),
            .integer(object), .integer(reference), .integer(LogRows.column(attachment.stamp)),
            .text(attachment.label), .text(file.name.string), .text(file.mediaType.name),
            .integer(file.image.map { Int64($0.width) }), .integer(file.image.map { Int64($0.height) }))
        try describe(reference)
    }

    private func remove(_ attachment: Attachment, at wallMilliseconds: Int64) throws(StoreError) {
        let replica = try log.replicaRow(attachment.id.replica)
        let counter = Int64(attachment.id.counter)
        let reference = try access.first(
            """
            UPDATE blob_reference
            SET attachments = attachments - 1, released = CASE attachments WHEN 1 THEN ? END
            WHERE id = (SELECT reference FROM attachment WHERE replica = ? AND counter = ?)
            RETURNING id
            """, .integer(wallMilliseconds), .integer(replica), .integer(counter)
        ) { row throws(StoreError) in row.integer(0) }
        try access.run(
            "DELETE FROM attachment WHERE replica = ? AND counter = ?", .integer(replica), .integer(counter))
        try describe(reference)
    }

    /// Updates the stamp and missing flag of a reference from the records that are left.
    private func describe(_ reference: Int64?) throws(StoreError) {
        try access.run(
            """
            UPDATE blob_reference SET
                stamp = (SELECT max(stamp) FROM attachment WHERE reference = blob_reference.id),
                is_missing = attachments > 0
                    AND NOT EXISTS (
                        SELECT 1 FROM blob
                        WHERE blob.hash = blob_reference.blob AND blob.size = blob_reference.size AND blob.place <> 2)
            WHERE id = ?
            """, .integer(reference))
    }

    /// Before everything is derived anew. Which blobs there were is kept: some of their bytes may be here.
    func empty() throws(StoreError) {
        try access.run("DELETE FROM attachment")
        try access.run(
            """
            UPDATE blob_reference SET attachments = 0, released = NULL, stamp = NULL, is_missing = 0
            WHERE space = ?
            """, spaceValue)
    }

    /// Begins the grace period of unneeded blobs again, after everything was derived anew.
    /// - Parameter wallMilliseconds: nil: by the clock of the system.
    func releaseUnneeded(at wallMilliseconds: Int64?) throws(StoreError) {
        try access.run(
            """
            UPDATE blob_reference SET released = coalesce(?, unixepoch() * 1000) WHERE space = ? AND attachments = 0
            """, .integer(wallMilliseconds), spaceValue)
    }

    /// - Returns: the blobs that are unneeded, and that are forgotten now.
    func forgetReleased(_ blobs: [BlobName]) throws(StoreError) -> [BlobName] {
        var forgotten: [BlobName] = []
        for blob in blobs {
            let row = try access.first(
                "DELETE FROM blob_reference WHERE space = ? AND blob = ? AND size = ? AND attachments = 0 RETURNING id",
                spaceValue, .blob(blob.hash.bytes), blob.sizeValue
            ) { row throws(StoreError) in row.integer(0) }
            guard let row else { continue }
            try access.run("DELETE FROM holder WHERE reference = ?", .integer(row))
            forgotten.append(blob)
        }
        return forgotten
    }

    private var spaceValue: SQLValue { .integer(log.spaceRow) }
}
