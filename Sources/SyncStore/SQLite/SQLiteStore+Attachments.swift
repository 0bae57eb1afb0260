package import SyncModel

// Attachments
extension SQLiteStore {
    /// Returns the attachments that this device's own readers see, newest first.
    package func attachments(_ query: AttachmentQuery) throws(StoreError) -> [StoredAttachment] {
        try readShown(query.space) { rows, objects throws(StoreError) in
            let waiting = Set(objects.waiting?.objects.filter(query.mayFind) ?? [])
            if waiting.isEmpty { return try AttachmentRows(rows).attachments(query) }
            // Of objects with waiting work those that they show, in place of those in the rows.
            var (shown, others) = ([StoredAttachment](), query)
            for key in waiting {
                let attached = try objects.object(key)?.state.shownAttachments.newestFirst ?? []
                shown += attached.map { StoredAttachment(owner: key, attachment: $0) }.filter(query.finds)
                let counted = try ObjectRows(rows).object(key)?.state.shownAttachments.count ?? 0
                others.limit = others.limit.addingReportingOverflow(counted).overflow ? .max : others.limit + counted
            }
            let found = try AttachmentRows(rows).attachments(others).filter { !waiting.contains($0.owner) }
            return Array((found + shown).sorted { $1.attachment.key < $0.attachment.key }.prefix(query.limit))
        } ?? []
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
