package import ControlAPI
package import NIOCore

/// The interface of an agent for attachments; the rules of `AgentControl` hold here too.
///
/// An attachment is named by its id or a beginning of it that no other has: any call that takes one may throw
/// `unknown_attachment` and `ambiguous_attachment`. Names, media types and sizes have been checked.
package protocol AttachmentControl: Sendable {
    // MARK: Records

    /// Returns attachments, newest first. Throws `invalid_argument` for an invalid cursor. An object that does not exist has
    /// none.
    func listAttachments(_ query: AttachmentListQuery) async throws(ControlError) -> EntryPage<AttachmentEntry>

    func attachment(space: String, id: String) async throws(ControlError) -> AttachmentEntry

    /// Detaches an attachment. Returns false, and writes nothing, if it is detached already. The bytes stay for a day at least.
    /// Throws the errors of a write of its object.
    func detach(space: String, id: String) async throws(ControlError) -> Bool

    // MARK: Bytes

    /// Begins an attachment: its bytes are to follow. An attachment without room is refused here, before the first of them.
    ///
    /// Throws `not_found` without the object, the errors of a write of it, `quota_exceeded`, `too_large`, `disk_full`.
    func beginAttaching(_ draft: AttachmentDraft) async throws(ControlError) -> any AttachmentReceiving

    /// Opens an attachment whose bytes are all here. Throws `not_found` if they are not, `damaged`.
    func openAttachment(space: String, id: String) async throws(ControlError) -> any AttachmentReading

    /// Returns when all of it is here; at once where it is. `progress` is told at most four times a second. Cancelled with its
    /// task: what came stays. Throws `nobody_has`, `quota_exceeded`, `disk_full`, `stopping`, `cancelled`.
    func fetch(
        space: String, id: String, progress: @escaping @Sendable (ByteProgress) -> Void
    ) async throws(ControlError) -> AttachmentEntry

    /// Sets whether it is fetched and kept on this node regardless of the space's policy.
    func pin(space: String, id: String, _ isPinned: Bool) async throws(ControlError) -> AttachmentEntry

    // MARK: What is kept here

    /// Returns the spaces by name.
    func spaces() async throws(ControlError) -> [SpaceEntry]

    /// Throws `unknown_space`.
    func setSpace(_ space: String, _ settings: SpaceSettings) async throws(ControlError) -> SpaceEntry

    /// Removes blobs that were not needed for longer than the grace period.
    func compact() async throws(ControlError) -> CompactResponse
}

/// Bytes on their way in. Calls come one after the other; nothing is readable before it is finished.
package protocol BytesReceiving: Sendable {
    /// Returns when it may be given more. Throws `file_changed` for more bytes than were announced, `too_large`,
    /// `quota_exceeded`, `disk_full`; then the attachment is given up.
    func append(_ bytes: ByteBuffer) async throws(ControlError)

    /// Gives the attachment up and leaves nothing; does nothing after `finish`.
    func giveUp()
}

/// The bytes of an attachment on their way in.
package protocol AttachmentReceiving: BytesReceiving {
    /// Attaches the bytes; durable on return. Throws also `file_changed` for fewer bytes than were announced, and the errors of
    /// a write of the object.
    func finish() async throws(ControlError) -> AttachmentEntry
}

/// The bytes of an attachment on their way out.
package protocol AttachmentReading: Sendable {
    var entry: AttachmentEntry { get }

    /// The next of them, each checked before; nil behind the last. Throws `damaged`, `not_found` when it was removed meanwhile.
    func next() async throws(ControlError) -> ByteBuffer?
}

/// An attachment to be written.
package struct AttachmentDraft: Sendable, Equatable {
    package var space: String
    package var owner: ObjectName
    package var name: String
    /// Nil: by content.
    package var mediaType: String?
    /// The size of the whole in bytes; nil if unknown before the end.
    package var size: UInt64?
    /// The hash, or an attachment with the bytes, where they are here already; nil: they come with the request.
    package var from: String?

    package init(
        space: String, owner: ObjectName, name: String, mediaType: String? = nil, size: UInt64? = nil,
        from: String? = nil
    ) {
        self.space = space
        self.owner = owner
        self.name = name
        self.mediaType = mediaType
        self.size = size
        self.from = from
    }
}

/// A query for a page of attachments.
package struct AttachmentListQuery: Sendable, Equatable {
    package var space: String
    /// The object whose attachments are listed; nil: of all objects.
    package var owner: ObjectName?
    /// The `next` of the page before.
    package var after: String?
    package var limit: Int

    package init(space: String, owner: ObjectName? = nil, after: String? = nil, limit: Int) {
        self.space = space
        self.owner = owner
        self.after = after
        self.limit = limit
    }
}
