package import SyncModel

/// The source that knows which blobs records name, or work that may count one day.
///
/// Asked inside the transaction that removes a blob, while no other write can happen: what readers of the store see is
/// then what holds. So an answer may read from the store, and must not write to it.
package protocol BlobNeeds: Sendable {
    /// Returns whether a record names the blob; if none does, also the time since which it is unneeded.
    func need(of blob: BlobName) throws(StoreError) -> BlobNeed
}

/// The need for a blob on this node.
package enum BlobNeed: Hashable, Sendable {
    /// A record or void work names the blob, or a user pinned it.
    case needed
    /// The last record that named it went then: milliseconds since 1970.
    case unneeded(since: Int64)
    /// The blob was never named by a known record.
    case neverNeeded
}
