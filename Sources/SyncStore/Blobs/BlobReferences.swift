package import SyncModel

/// Who knows which blobs are named by records.
///
/// Asked inside the transaction that removes a blob, while no other write can happen: what readers of the store see is then
/// what holds. So an answer may read from the store, and must not write to it.
package protocol BlobReferences: Sendable {
    /// Whether any record names the blob; if none does, since when.
    func reference(to hash: BlobHash) throws(StoreError) -> BlobReference
}

/// Whether a blob is needed here.
package enum BlobReference: Hashable, Sendable {
    /// A record names it, or somebody pinned it.
    case referenced
    /// The last record that named it went then: milliseconds since 1970.
    case unreferenced(since: Int64)
    /// No record that is known named it ever.
    case neverReferenced
}
