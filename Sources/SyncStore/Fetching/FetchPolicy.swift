/// The choice of blobs that are fetched without a request. Pinned blobs are always fetched. Local to a node.
///
/// A change of the policy removes no stored blob.
package enum FetchPolicy: Hashable, Sendable {
    case all
    /// The blobs of at most this many bytes.
    case upTo(UInt64)
    /// None.
    case onDemand

    package func wants(size: UInt64) -> Bool {
        switch self {
        case .all: true
        case .upTo(let limit): size <= limit
        case .onDemand: false
        }
    }
}
