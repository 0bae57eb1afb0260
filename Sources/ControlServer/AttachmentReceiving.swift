package import ControlAPI
package import NIOCore

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
