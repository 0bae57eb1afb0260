package import ControlAPI
package import NIOCore
package import SyncAgent
import SyncCore
import SyncModel
import SyncStore

// Attachments: their bytes.
extension Agent {
    /// Begins an attachment: its bytes are to follow. An attachment without room is refused here, before the first of them.
    ///
    /// Throws `not_found` without the object, the errors of a write of it, `quota_exceeded`, `too_large`, `disk_full`.
    package func beginAttaching(_ draft: AttachmentDraft) async throws(ControlError) -> any AttachmentReceiving {
        try checkSpace(draft.space)
        var mediaType: MediaType?
        if let text = draft.mediaType {
            guard let type = MediaType(text) else { throw .badMediaType }
            mediaType = type
        }
        try await checkMayWrite()
        // What cannot be attached in the end is not sent first. That it is so then, too, the write sees to.
        let kept = try await reading { () throws(ControlError) -> KeptAttachment? in
            _ = try shownObject(draft.owner)
            return try draft.from.map { from throws(ControlError) in try keptAttachment(from, draft, mediaType) }
        }
        if let kept { return kept }
        do throws(BlobError) {
            let upload = try await attachments.begin(size: draft.size)
            return ReceivedAttachment(agent: self, upload: upload, draft: draft, mediaType: mediaType)
        } catch {
            throw await refusal(of: error, size: draft.size)
        }
    }

    /// Bytes that are on this machine: those of a hash, or of another attachment, whose name and type are taken where the
    /// draft has none.
    private func keptAttachment(
        _ from: String, _ draft: AttachmentDraft, _ mediaType: MediaType?
    ) throws(ControlError) -> KeptAttachment {
        if let bytes = Hexadecimal.bytes(from), let hash = BlobHash(bytes: bytes) {
            let blob: BlobName?
            do throws(BlobError) { blob = try attachments.blobs.wholeName(of: hash) } catch { throw refusal(error) }
            guard let blob else { throw .attachmentMissing }
            return KeptAttachment(agent: self, blob: blob, draft: draft, mediaType: mediaType)
        }
        let file = try foundAttachment(space: draft.space, id: from).attachment.file
        var draft = draft
        if draft.name.isEmpty { draft.name = file.name.string }
        return KeptAttachment(agent: self, blob: file.blob, draft: draft, mediaType: mediaType ?? file.mediaType)
    }

    /// Writes the record of bytes that are here.
    fileprivate func attach(
        _ blob: UploadedBlob, _ draft: AttachmentDraft, _ mediaType: MediaType?
    ) async throws(ControlError) -> AttachmentEntry {
        let file = AttachedFile(
            name: ExactString(draft.name),
            mediaType: mediaType ?? MediaType(head: blob.head, isWhole: UInt64(blob.head.count) == blob.name.size),
            image: ImageSize(head: blob.head), blob: blob.name)
        let key = ObjectKey(draft.owner)
        let outcome = try await write([.attach(key, file)])
        let id = outcome.dots?.lowerBound
        return try await reading { () throws(ControlError) in
            var attached = outcome.steps.first?.object?.state.shownAttachments.first { $0.id == id }
            if attached == nil, outcome.steps.first?.unread != nil {
                attached = try shownObject(draft.owner).state.shownAttachments.first { $0.id == id }
            }
            guard let attached else {
                throw ControlError(
                    .internalFault, "The store did not say what became of the attachment.",
                    hint: "See: lanyard attachments \(draft.owner)")
            }
            return try entry(of: StoredAttachment(owner: key, attachment: attached))
        }
    }

    /// Opens an attachment whose bytes are all here. Throws `not_found` if they are not, `damaged`.
    package func openAttachment(space: String, id: String) async throws(ControlError) -> ReadAttachment {
        let found = try await reading { () throws(ControlError) in try foundAttachment(space: space, id: id) }
        let download: AttachmentDownload
        do throws(BlobError) { download = try await attachments.open(found.attachment.file.blob) } catch {
            throw refusal(error)
        }
        let entry = try await reading { () throws(ControlError) in try self.entry(of: found) }
        return ReadAttachment(agent: self, download: download, entry: entry)
    }

    /// Returns when all of it is here; at once where it is. `progress` is told at most four times a second. Cancelled with its
    /// task: what came stays. Throws `nobody_has`, `quota_exceeded`, `disk_full`, `stopping`, `cancelled`.
    package func fetch(
        space: String, id: String, progress: @escaping @Sendable (ByteProgress) -> Void
    ) async throws(ControlError) -> AttachmentEntry {
        let (found, missing) = try await reading { () throws(ControlError) in
            let found = try foundAttachment(space: space, id: id)
            let blob = found.attachment.file.blob
            return (found, try read { () throws(StoreError) in try store.missingBlob(blob, space: .home) })
        }
        guard let missing else { return try await reading { () throws(ControlError) in try entry(of: found) } }
        do throws(FetchError) {
            try await attachments.fetch(BlobWant(missing)) { progress(ByteProgress($0)) }
        } catch {
            throw await refusal(error, of: found.attachment)
        }
        return try await reading { () throws(ControlError) in try entry(of: found) }
    }

    private func refusal(_ error: FetchError, of attachment: Attachment) async -> ControlError {
        switch error {
        case .nobodyHas: return await nobodyHas(attachment)
        case .stopped:
            return ControlError(.stopping, "The agent is stopping; what came stays.", hint: "Start it again: lanyardd")
        case .cancelled:
            return ControlError(
                .cancelled, "The fetch was stopped; what came stays.",
                hint: "Go on from there: lanyard fetch ATTACHMENT")
        case .refused(let code):
            do throws(ControlError) {
                return try await reading { () throws(ControlError) in refusal(code: code, size: attachment.file.size) }
            } catch { return error }
        }
    }

    /// Returns the error for bytes that this machine's disk or quota refused while they were fetched.
    ///
    /// - Parameter size: the size of the whole attachment, in bytes.
    func refusal(code: String, size: UInt64) -> ControlError {
        if code == ErrorCode.quotaExceeded.rawValue, let quota = try? store.quota(of: .home) {
            let used = (try? attachments.blobs.usage().claimedBytes) ?? quota
            return .quotaExceeded(space: Self.homeName, quota: quota, used: used, needed: size)
        }
        if code == ErrorCode.diskFull.rawValue { return refusal(BlobError.diskFull) }
        return ControlError(
            ErrorCode(rawValue: code) ?? .storeFailed, "This device's store refused the bytes: \(code).",
            hint: "See why: lanyard doctor")
    }

    /// Returns the error that names the device that had it last.
    private func nobodyHas(_ attachment: Attachment) async -> ControlError {
        let now = try? await snapshot()
        func name(_ device: DeviceID) -> String { now?.name(of: device) ?? device.shortID }
        let holder = try? await reading { () throws(ControlError) in lastHolder(of: attachment.file.blob) }
        let last = holder.flatMap(\.self).map { (device: name($0.device), when: $0.when) }
        return .nobodyHas(last: last, author: name(attachment.id.replica.device))
    }

    /// The device that said last that it has all of it, and when as people read it.
    func lastHolder(of blob: BlobName) -> (device: DeviceID, when: String)? {
        let times = TimeText(now: Timestamp(millisecondsSinceEpoch: WallClock.milliseconds))
        return (try? store.lastHolders(of: blob))?.first.map { holder in
            (holder.device, times.age(Timestamp(millisecondsSinceEpoch: holder.notedMilliseconds)))
        }
    }
}

/// An attachment on its way in.
private struct ReceivedAttachment: AttachmentReceiving {
    let agent: Agent
    let upload: AttachmentUpload
    let draft: AttachmentDraft
    let mediaType: MediaType?

    func append(_ bytes: ByteBuffer) async throws(ControlError) {
        do throws(BlobError) { try await upload.append(bytes) } catch {
            throw await agent.refusal(of: error, size: draft.size)
        }
    }

    func finish() async throws(ControlError) -> AttachmentEntry {
        let blob: UploadedBlob
        do throws(BlobError) { blob = try await upload.finish() } catch {
            throw await agent.refusal(of: error, size: draft.size)
        }
        return try await agent.attach(blob, draft, mediaType)
    }

    func giveUp() { upload.giveUp() }
}

/// An attachment whose bytes are here already.
private struct KeptAttachment: AttachmentReceiving {
    let agent: Agent
    let blob: BlobName
    let draft: AttachmentDraft
    let mediaType: MediaType?

    func append(_ bytes: ByteBuffer) async throws(ControlError) {
        guard bytes.readableBytes == 0 else { throw .bytesAreHere }
    }

    func finish() async throws(ControlError) -> AttachmentEntry {
        let kept: UploadedBlob
        do throws(BlobError) { kept = try await agent.attachments.kept(blob) } catch { throw agent.refusal(error) }
        return try await agent.attach(kept, draft, mediaType)
    }

    func giveUp() {}
}

/// An attachment on its way out.
package struct ReadAttachment: Sendable {
    fileprivate let agent: Agent
    fileprivate let download: AttachmentDownload
    package let entry: AttachmentEntry

    /// Returns the next bytes, checked against their hash; nil at the end. Throws `damaged`, and `not_found` when it was removed
    /// meanwhile.
    package func next() async throws(ControlError) -> ByteBuffer? {
        do throws(BlobError) { return try await download.next() } catch { throw agent.refusal(error) }
    }
}
