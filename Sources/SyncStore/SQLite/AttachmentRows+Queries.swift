import SyncModel

// Queries of readers for attachments.
extension AttachmentRows {
    /// Behind every place.
    private static let greatest = [UInt8](repeating: 0xff, count: ReplicaID.byteCount + 1)

    func attachments(_ query: AttachmentQuery) throws(StoreError) -> [StoredAttachment] {
        var found: [StoredAttachment] = []
        guard query.limit > 0, let (condition, value) = try condition(query.selection) else { return found }
        // CROSS: from the attachments on, in the order of their index.
        try log.access.forEach(
            """
            SELECT collection.name, object.key, replica.replica, attachment.counter, attachment.stamp, attachment.name,
                attachment.media_type, attachment.width, attachment.height, blob_reference.blob, blob_reference.size
            FROM attachment CROSS JOIN replica ON replica.id = attachment.replica
                CROSS JOIN object ON object.id = attachment.object
                CROSS JOIN collection ON collection.id = object.collection
                CROSS JOIN blob_reference ON blob_reference.id = attachment.reference
            WHERE \(condition) AND attachment.stamp <= ?2
                AND (attachment.stamp, replica.replica, attachment.counter) < (?2, ?3, ?4) AND collection.space = ?5
            ORDER BY attachment.stamp DESC, replica.replica DESC, attachment.counter DESC
            """, value, .integer(query.after.map { LogRows.column($0.stamp) } ?? .max),
            .blob(query.after?.dot.replica.bytes ?? Self.greatest),
            .integer(query.after.map { Int64($0.dot.counter) } ?? 0), .integer(log.spaceRow)
        ) { row throws(StoreError) in
            found.append(try Self.attachment(row))
            return found.count < query.limit
        }
        return found
    }

    /// Nil where there can be none.
    private func condition(
        _ selection: AttachmentQuery.Selection
    ) throws(StoreError) -> (condition: String, value: SQLValue)? {
        switch selection {
        case .all: return ("?1 IS NULL", .null)
        case .ofObject(let key):
            return try ObjectRows(log).objectRow(key).map { ("attachment.object = ?1", .integer($0)) }
        case .ofBlob(let blob):
            let row = try log.access.first(
                "SELECT id FROM blob_reference WHERE space = ? AND blob = ? AND size = ?", .integer(log.spaceRow),
                .blob(blob.hash.bytes), blob.sizeValue
            ) { row throws(StoreError) in row.integer(0) }
            return row.map { ("attachment.reference = ?1", .integer($0)) }
        case .labelled(let prefix):
            // `[` comes behind all that a label is made of.
            return ("attachment.label >= ?1 AND attachment.label < ?1 || '['", .text(prefix.uppercased()))
        }
    }

    private static func attachment(_ row: SQLRow) throws(StoreError) -> StoredAttachment {
        guard let replica = ReplicaID(bytes: row.blob(2)), let counter = UInt64(exactly: row.integer(3)),
            let mediaType = MediaType(row.text(6)), let blob = BlobName(row, hash: 9, size: 10)
        else { throw .corrupt(detail: "an attachment's row does not read back") }
        var image: ImageSize?
        if !row.isNull(7) {
            image = ImageSize(width: UInt32(clamping: row.integer(7)), height: UInt32(clamping: row.integer(8)))
        }
        return StoredAttachment(
            owner: ObjectKey(collection: ExactString(row.text(0)), id: ExactString(row.text(1))),
            attachment: Attachment(
                id: Dot(replica: replica, counter: counter), stamp: LogRows.stamp(row.integer(4)),
                file: AttachedFile(
                    name: ExactString(row.text(5)), mediaType: mediaType, image: image, blob: blob)))
    }

    // Needed blobs

    private static let columns = "blob, size, attachments, released"

    func reference(to blob: BlobName) throws(StoreError) -> BlobReference? {
        try log.access.first(
            "SELECT \(Self.columns) FROM blob_reference WHERE space = ? AND blob = ? AND size = ?",
            .integer(log.spaceRow), .blob(blob.hash.bytes), blob.sizeValue
        ) { row throws(StoreError) in try Self.reference(row) }
    }

    func references(after blob: BlobName?, limit: Int) throws(StoreError) -> [BlobReference] {
        try references(
            """
            SELECT \(Self.columns) FROM blob_reference WHERE space = ? AND (blob, size) > (?, ?) ORDER BY blob, size
            """, .blob(blob?.hash.bytes ?? []), blob?.sizeValue ?? .integer(0),
            limit: limit)
    }

    func releasedBlobs(before wallMilliseconds: Int64, limit: Int) throws(StoreError) -> [BlobReference] {
        try references(
            """
            SELECT \(Self.columns) FROM blob_reference WHERE space = ? AND released < ? ORDER BY released, blob, size
            LIMIT ?
            """, .integer(wallMilliseconds), .integer(Int64(limit)), limit: limit)
    }

    private func references(
        _ sql: String, _ first: SQLValue, _ second: SQLValue, limit: Int
    ) throws(StoreError) -> [BlobReference] {
        var found: [BlobReference] = []
        guard limit > 0 else { return found }
        try log.access.forEach(sql, .integer(log.spaceRow), first, second) { row throws(StoreError) in
            found.append(try Self.reference(row))
            return found.count < limit
        }
        return found
    }

    private static func reference(_ row: SQLRow) throws(StoreError) -> BlobReference {
        guard let blob = BlobName(row, hash: 0, size: 1) else {
            throw .corrupt(detail: "a blob's reference does not read back")
        }
        return BlobReference(
            blob: blob, attachmentCount: row.integer(2), releasedMilliseconds: row.isNull(3) ? nil : row.integer(3))
    }
}
