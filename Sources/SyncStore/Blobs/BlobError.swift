package import SyncModel

/// Every refusal of a blob store. None leaves anything behind that can be read; what was acknowledged stays.
package enum BlobError: Error, Hashable, Sendable {
    /// The disk is full, or less is free than must stay free for the log. Refused again until there is space.
    case diskFull
    /// The blob does not fit into the quota: the quota and the space needed, in bytes.
    case quotaExceeded(quota: UInt64, needed: UInt64)
    /// Beyond `BlobLayout.sizeLimit`.
    case tooLarge
    /// The source gave more or fewer bytes than announced, or changed meanwhile. The caller reads it again from the
    /// beginning.
    case sourceChanged
    /// The source cannot be read: errno.
    case sourceUnreadable(code: Int32)
    /// The disk reported an error: errno. After a failed sync, what it was to make durable is thrown away.
    case inputOutput(code: Int32)
    /// The folder of blobs, or a file in it, is not ours to read or write: errno.
    case unreadable(code: Int32)
    /// The blob, or the requested chunk, is not stored here.
    case notHere(BlobName)
    /// The bytes of the blob do not match its name. From now on the blob counts as missing, and its remaining bytes as
    /// a partial blob.
    case damaged(BlobName)
    /// The bytes are not that chunk: the sender is mistaken, or lies. Nothing was written.
    case wrongChunk(Int)
    /// These chunk hashes are not of the blob. Nothing was written.
    case wrongHashes(BlobName)
    /// Some chunks are missing.
    case incomplete(BlobName)
    /// The database refused.
    case store(StoreError)

    init(_ error: StoreError) {
        switch error {
        case .diskFull: self = .diskFull
        case .inputOutput, .corrupt, .schemaNewer, .locked, .unreadable, .notApplicable, .stampsExhausted, .refused,
            .retired,
            .foreignTail,
            .closed:
            self = .store(error)
        }
    }
}
