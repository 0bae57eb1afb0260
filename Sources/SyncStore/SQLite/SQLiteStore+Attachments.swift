package import SyncModel

// Attachments
extension SQLiteStore {
    package func attachments(_ query: AttachmentQuery) throws(StoreError) -> [StoredAttachment] {
        try readLog(query.space) { rows throws(StoreError) in try AttachmentRows(rows).attachments(query) } ?? []
    }

    package func reference(to blob: BlobHash, space: SpaceID) throws(StoreError) -> BlobReference? {
        try readLog(space) { rows throws(StoreError) in try AttachmentRows(rows).reference(to: blob) } ?? nil
    }

    package func references(
        of space: SpaceID, after blob: BlobHash?, limit: Int
    ) throws(StoreError) -> [BlobReference] {
        try readLog(space) { rows throws(StoreError) in
            try AttachmentRows(rows).references(after: blob, limit: limit)
        } ?? []
    }

    package func releasedBlobs(
        of space: SpaceID, before wallMilliseconds: Int64, limit: Int
    ) throws(StoreError) -> [BlobReference] {
        try readLog(space) { rows throws(StoreError) in
            try AttachmentRows(rows).releasedBlobs(before: wallMilliseconds, limit: limit)
        } ?? []
    }

    package func forgetReleased(_ blobs: [BlobHash], of space: SpaceID) throws(StoreError) -> [BlobHash] {
        try update { access throws(StoreError) in
            guard let rows = try LogRows(access, space: space) else { return [] }
            return try AttachmentRows(rows).forgetReleased(blobs)
        }
    }
}
