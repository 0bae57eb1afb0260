package import SyncModel

// Attachments
extension MemoryStore {
    package func attachments(_ query: AttachmentQuery) throws(StoreError) -> [StoredAttachment] {
        try snapshot(of: query.space)?.attachments(query) ?? []
    }

    package func reference(to blob: BlobHash, space: SpaceID) throws(StoreError) -> BlobReference? {
        try snapshot(of: space)?.references[blob]
    }

    package func references(
        of space: SpaceID, after blob: BlobHash?, limit: Int
    ) throws(StoreError) -> [BlobReference] {
        try snapshot(of: space)?.references(after: blob, limit: limit) ?? []
    }

    package func releasedBlobs(
        of space: SpaceID, before wallMilliseconds: Int64, limit: Int
    ) throws(StoreError) -> [BlobReference] {
        try snapshot(of: space)?.releasedBlobs(before: wallMilliseconds, limit: limit) ?? []
    }

    package func forgetReleased(_ blobs: [BlobHash], of space: SpaceID) throws(StoreError) -> [BlobHash] {
        guard try snapshot(of: space) != nil else { return [] }
        var forgotten: [BlobHash] = []
        try update { forgotten = $0.forgetReleased(blobs) }
        return forgotten
    }
}
