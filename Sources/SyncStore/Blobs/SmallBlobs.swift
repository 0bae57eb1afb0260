package import SyncModel

/// Small blobs, read in one go.
package struct SmallBlobs: Hashable, Sendable {
    package struct Blob: Hashable, Sendable {
        /// The index in the request.
        package let index: Int
        package let bytes: [UInt8]

        package init(index: Int, bytes: [UInt8]) {
            self.index = index
            self.bytes = bytes
        }
    }

    /// The blobs, in the order of the request.
    package var blobs: [Blob] = []
    /// Are here, or were until they were found damaged just now, and could not be read.
    package var unreadable: [BlobName] = []
    /// The first that was not looked at, because those before it fill the budget; how many were asked for: there is none.
    package var nextIndex = 0

    package init() {}
}
