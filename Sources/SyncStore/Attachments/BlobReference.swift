package import SyncModel

/// How many attachments that a reader sees need a blob.
///
/// What nobody needs is remembered until its bytes are removed (`forgetReleased`): within the grace period it may be attached
/// again, and is here.
package struct BlobReference: Sendable, Hashable {
    package let blob: BlobHash
    package internal(set) var attachmentCount: Int64
    /// This node's clock when the last of them went; nil while one needs it.
    package internal(set) var releasedMilliseconds: Int64?

    package init(blob: BlobHash, attachmentCount: Int64, releasedMilliseconds: Int64? = nil) {
        self.blob = blob
        self.attachmentCount = attachmentCount
        self.releasedMilliseconds = releasedMilliseconds
    }

    /// Whether an attachment needs it.
    package var isHeld: Bool { attachmentCount > 0 }

    /// One more needs it.
    mutating func hold() {
        attachmentCount += 1
        releasedMilliseconds = nil
    }

    /// One less does.
    mutating func release(at wallMilliseconds: Int64) {
        attachmentCount -= 1
        if attachmentCount == 0 { releasedMilliseconds = wallMilliseconds }
    }
}
