import SyncModel

extension MemoryContents {
    mutating func write(_ difference: AttachmentDifference, at wallMilliseconds: Int64) {
        for attachment in difference.gone { references[attachment.file.blob]?.release(at: wallMilliseconds) }
        for attachment in difference.new {
            let blob = attachment.file.blob
            references[blob, default: BlobReference(blob: blob, attachmentCount: 0)].hold()
        }
    }

    func attachments(_ query: AttachmentQuery) -> [StoredAttachment] {
        var found: [StoredAttachment] = []
        for (owner, object) in objects {
            for attachment in object.state.shownAttachments {
                let isWanted =
                    switch query.selection {
                    case .all: true
                    case .ofObject(let key): key == owner
                    case .ofBlob(let blob): blob == attachment.file.blob
                    case .labelled(let prefix): AttachmentQuery.begins(attachment.label, with: prefix)
                    }
                guard isWanted, query.after.map({ attachment.key < $0 }) ?? true else { continue }
                found.append(StoredAttachment(owner: owner, attachment: attachment))
            }
        }
        return Array(found.sorted { $1.attachment.key < $0.attachment.key }.prefix(max(0, query.limit)))
    }

    func references(after blob: BlobHash?, limit: Int) -> [BlobReference] {
        let behind = references.values.filter { reference in blob.map { $0 < reference.blob } ?? true }
        return Array(behind.sorted { $0.blob < $1.blob }.prefix(max(0, limit)))
    }

    func releasedBlobs(before wallMilliseconds: Int64, limit: Int) -> [BlobReference] {
        let due = references.values.compactMap { reference in
            reference.releasedMilliseconds.map { (released: $0, reference: reference) }
        }.filter { $0.released < wallMilliseconds }
        return due.sorted { ($0.released, $0.reference.blob) < ($1.released, $1.reference.blob) }
            .prefix(max(0, limit)).map(\.reference)
    }

    /// - Returns: the blobs that are unneeded, and that are forgotten now.
    mutating func forgetReleased(_ blobs: [BlobHash]) -> [BlobHash] {
        let released = blobs.filter { references[$0]?.isHeld == false }
        for blob in released {
            references[blob] = nil
            fetching.forget(blob)
        }
        return released
    }
}
