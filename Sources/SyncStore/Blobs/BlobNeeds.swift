package import SyncModel

/// Who knows which blobs are named by records.
///
/// Asked inside the transaction that removes a blob, while no other write can happen: what readers of the store see is then
/// what holds. So an answer may read from the store, and must not write to it.
package protocol BlobNeeds: Sendable {
    /// Whether any record names the blob; if none does, since when.
    func need(of hash: BlobHash) throws(StoreError) -> BlobNeed
}

/// Whether a blob is needed here.
package enum BlobNeed: Hashable, Sendable {
    /// A record names it, or somebody pinned it.
    case needed
    /// The last record that named it went then: milliseconds since 1970.
    case unneeded(since: Int64)
    /// No record that is known named it ever.
    case neverNeeded
}
