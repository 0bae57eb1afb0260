package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// Attachments: their records.
//
// An attachment is named by its id or a beginning of it that no other has: any call that takes one may throw
// `unknown_attachment` and `ambiguous_attachment`. Names, media types and sizes have been checked.
extension Agent {
    /// Returns attachments, newest first. Throws `invalid_argument` for an invalid cursor. An object that does not exist has
    /// none.
    package func listAttachments(
        _ query: AttachmentListQuery
    ) async throws(ControlError) -> EntryPage<AttachmentEntry> {
        try checkSpace(query.space)
        var after: CanonicalKey?
        if let cursor = query.after {
            guard let key = CanonicalKey(text: cursor) else { throw .badCursor }
            after = key
        }
        let wanted = AttachmentQuery(
            space: .home, query.owner.map { .ofObject(ObjectKey($0)) } ?? .all, after: after, limit: query.limit)
        return try await reading { () throws(ControlError) in
            let found = try read { () throws(StoreError) in try store.attachments(wanted) }
            let entries = try found.map { attachment throws(ControlError) in try entry(of: attachment) }
            return EntryPage(entries: entries, next: found.next(limit: query.limit, \.attachment.key.text))
        }
    }

    package func attachment(space: String, id: String) async throws(ControlError) -> AttachmentEntry {
        try await reading { () throws(ControlError) in try entry(of: try foundAttachment(space: space, id: id)) }
    }

    /// Detaches an attachment. Returns false, and writes nothing, if it is detached already. The bytes stay for a day at least.
    /// Throws the errors of a write of its object.
    package func detach(space: String, id: String) async throws(ControlError) -> Bool {
        // What was detached under this key is not found any more.
        if let before = try await rememberedOutcome() { return before.steps.first?.changed ?? false }
        let found = try await reading { () throws(ControlError) in try foundAttachment(space: space, id: id) }
        let outcome = try await write([.detach(found.owner, attachment: found.attachment.id)])
        return outcome.steps.first?.changed ?? false
    }

    /// Sets whether it is fetched and kept on this node regardless of the space's policy.
    package func pin(space: String, id: String, _ isPinned: Bool) async throws(ControlError) -> AttachmentEntry {
        let found = try await reading { () throws(ControlError) in try foundAttachment(space: space, id: id) }
        let blob = found.attachment.file.blob
        // Nothing changes where it was so before.
        _ = try await controlled {
            isPinned
                ? try await attachments.pin(blob, space: .home) : try await attachments.unpin(blob, space: .home)
        }
        return try await reading { () throws(ControlError) in try entry(of: found) }
    }

    /// The one attachment whose label begins so.
    func foundAttachment(space: String, id: String) throws(ControlError) -> StoredAttachment {
        try checkSpace(space)
        // The empty text begins them all, and names none.
        guard !id.isEmpty else { throw .unknownAttachment }
        let found = try read { () throws(StoreError) in
            try store.attachments(AttachmentQuery(space: .home, .labelled(id), limit: 2))
        }
        guard let first = found.first else { throw .unknownAttachment }
        guard found.count == 1 else { throw .ambiguousAttachment }
        return first
    }

    func entry(of stored: StoredAttachment) throws(ControlError) -> AttachmentEntry {
        let file = stored.attachment.file
        let isPinned = try read { () throws(StoreError) in try store.isPinned(file.blob, space: .home) }
        let (state, presentBytes) = try presence(of: file.blob)
        var names = FileNames()
        return AttachmentEntry(
            record: AttachmentRecord(stored.attachment), owner: "\(stored.owner.name)", state: state,
            progress: state == .present ? 1 : Double(presentBytes) / Double(max(file.size, presentBytes, 1)),
            fileName: names.name(for: file.name.string), pinned: isPinned)
    }

    /// Returns the part of the blob that is stored here. The progress of a running transfer is fresher than the disk's.
    private func presence(
        of blob: BlobName
    ) throws(ControlError) -> (state: AttachmentEntry.State, presentBytes: UInt64) {
        let status: BlobStatus
        do throws(BlobError) { status = try attachments.blobs.status(of: blob) } catch { throw refusal(error) }
        switch status {
        case .whole: return (.present, 0)
        case .missing:
            let arrived = attachments.progress(of: blob)?.presentBytes ?? 0
            return (arrived > 0 ? .partial : .missing, arrived)
        case .partial(_, let presentBytes):
            let arrived = max(presentBytes, attachments.progress(of: blob)?.presentBytes ?? 0)
            // Room was made for it, and nothing came yet.
            return (arrived > 0 ? .partial : .missing, arrived)
        }
    }

    /// The running transfers, each under the name of the newest attachment that needs it.
    var transferList: [StatusResponse.Transfer] {
        attachments.transfers().map { progress in
            let query = AttachmentQuery(space: .home, .ofBlob(progress.blob), limit: 1)
            let newest = try? store.attachments(query).first
            return StatusResponse.Transfer(
                hash: progress.blob.hash.bytes.hexadecimal, name: newest?.attachment.file.name.string,
                progress: ByteProgress(progress))
        }
    }
}

extension ByteProgress {
    init(_ progress: BlobProgress) {
        self.init(
            doneBytes: progress.presentBytes, totalBytes: progress.totalBytes, bytesPerSecond: progress.bytesPerSecond)
    }
}
