package import SyncModel

/// An attachment that a reader sees, and the object it belongs to.
package struct StoredAttachment: Sendable, Hashable {
    package let owner: ObjectKey
    package let attachment: Attachment

    package init(owner: ObjectKey, attachment: Attachment) {
        self.owner = owner
        self.attachment = attachment
    }
}

/// A selection of attachments to read, newest first.
package struct AttachmentQuery: Sendable, Hashable {
    package enum Selection: Sendable, Hashable {
        case all
        case ofObject(ObjectKey)
        case ofBlob(BlobName)
        /// The attachments with a label that begins with this text, in letters of either case; the empty text matches
        /// every label.
        case labelled(String)
    }

    package var space: SpaceID
    package var selection: Selection
    /// The key behind which attachments are read; nil from the newest.
    package var after: CanonicalKey?
    /// The greatest number of attachments to read.
    package var limit: Int

    package init(space: SpaceID, _ selection: Selection, after: CanonicalKey? = nil, limit: Int) {
        self.space = space
        self.selection = selection
        self.after = after
        self.limit = limit
    }
}

extension AttachmentQuery {
    /// True if the object may have some of the attachments.
    func mayFind(_ owner: ObjectKey) -> Bool {
        switch selection {
        case .all, .labelled: true
        case .ofObject(let key): key == owner
        // Asked for blobs that are on their way, and those of the device's own work are here.
        case .ofBlob: false
        }
    }

    func finds(_ found: StoredAttachment) -> Bool {
        if let after, found.attachment.key >= after { return false }
        switch selection {
        case .all: return true
        case .ofObject(let key): return found.owner == key
        case .ofBlob(let blob): return found.attachment.file.blob == blob
        case .labelled(let prefix): return found.attachment.label.hasPrefix(prefix.uppercased())
        }
    }
}
