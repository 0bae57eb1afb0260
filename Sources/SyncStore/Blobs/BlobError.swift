package import SyncModel

/// Every refusal of a blob store. None leaves anything behind that can be read; what was acknowledged stays.
package enum BlobError: Error, Hashable, Sendable {
    /// No space left on the disk, or less than must stay free for the log. Refused again until there is.
    case diskFull
    /// It would not fit into the quota: the quota and what it would take, in bytes.
    case quotaExceeded(quota: UInt64, needed: UInt64)
    /// Beyond `BlobLayout.sizeLimit`.
    case tooLarge
    /// What is read gave more or fewer bytes than it said, or changed meanwhile. To be read again from its beginning.
    case sourceChanged
    /// What should be read cannot be: errno.
    case sourceUnreadable(code: Int32)
    /// The disk reported an error: errno. After a failed sync, what it was to make durable is thrown away.
    case inputOutput(code: Int32)
    /// The folder of blobs, or a file in it, is not ours to read or write: errno.
    case unreadable(code: Int32)
    /// Nothing of it is here, or not the chunk that is asked for.
    case notHere(BlobHash)
    /// Its bytes were not what its hash says. It counts as missing from now on, and what is left of it as a part of it.
    case damaged(BlobHash)
    /// These bytes are not that chunk: who sent them is mistaken, or lies. Nothing was written.
    case wrongChunk(Int)
    /// These chunk hashes and this size are not of a blob with that hash. Nothing was written.
    case wrongHashes(BlobHash)
    /// Not all chunks are here.
    case incomplete(BlobHash)
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
