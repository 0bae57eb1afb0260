import SyncModel

/// What a peer says of a blob that is of another size than the one that is being tried.
struct BlobClaim: Sendable {
    let layout: BlobLayout
    /// It holds all of it; otherwise some, and which is asked again once it matters.
    let isWhole: Bool
}
