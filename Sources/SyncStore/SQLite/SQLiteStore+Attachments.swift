package import SyncModel

// Attachments
extension SQLiteStore {
    /// Returns the attachments that a reader sees, newest first.
    package func attachments(_ query: AttachmentQuery) throws(StoreError) -> [StoredAttachment] {
        try readLog(query.space) { rows throws(StoreError) in try AttachmentRows(rows).attachments(query) } ?? []
    }

    /// Returns the reference to the blob; nil when no attachment ever needed it, or it was forgotten since.
    package func reference(to blob: BlobName, space: SpaceID) throws(StoreError) -> BlobReference? {
        try readLog(space) { rows throws(StoreError) in try AttachmentRows(rows).reference(to: blob) } ?? nil
    }

    /// Returns the references to every blob behind `blob`, needed or not, in the order of names.
    package func references(
        of space: SpaceID, after blob: BlobName?, limit: Int
    ) throws(StoreError) -> [BlobReference] {
        try readLog(space) { rows throws(StoreError) in
            try AttachmentRows(rows).references(after: blob, limit: limit)
        } ?? []
    }

    /// Returns the blobs unneeded since a time before `wallMilliseconds`, longest first.
    package func releasedBlobs(
        of space: SpaceID, before wallMilliseconds: Int64, limit: Int
    ) throws(StoreError) -> [BlobReference] {
        try readLog(space) { rows throws(StoreError) in
            try AttachmentRows(rows).releasedBlobs(before: wallMilliseconds, limit: limit)
        } ?? []
    }

    /// Forgets the references of blobs whose bytes are about to be removed.
    /// - Returns: the unneeded ones among them; blobs that are attached again by now stay.
    package func forgetReleased(_ blobs: [BlobName], of space: SpaceID) throws(StoreError) -> [BlobName] {
        try update { access throws(StoreError) in
            guard let rows = try LogRows(access, space: space) else { return [] }
            return try AttachmentRows(rows).forgetReleased(blobs)
        }
    }
}
