import SyncModel

/// A peer's claim of a blob with another size than the one that is being tried.
struct BlobClaim: Sendable {
    let layout: BlobLayout
    /// True if the peer holds all of it. Otherwise it holds some, and is asked which once it matters.
    let isWhole: Bool
}
