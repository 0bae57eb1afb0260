package import SyncModel

/// The number of visible attachments that need a blob.
///
/// The row of an unneeded blob stays until its bytes are removed (`forgetReleased`): within the grace period the blob
/// may be attached again without a new transfer.
package struct BlobReference: Sendable, Hashable {
    package let blob: BlobName
    package internal(set) var attachmentCount: Int64
    /// This node's clock when the last of them went; nil while one needs it.
    package internal(set) var releasedMilliseconds: Int64?

    package init(blob: BlobName, attachmentCount: Int64, releasedMilliseconds: Int64? = nil) {
        self.blob = blob
        self.attachmentCount = attachmentCount
        self.releasedMilliseconds = releasedMilliseconds
    }

    /// True if an attachment needs the blob.
    package var isHeld: Bool { attachmentCount > 0 }
}
