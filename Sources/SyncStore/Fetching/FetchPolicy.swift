/// Which blobs that records name are fetched without being asked for. Pinned ones are, whatever it says. Local to a node.
///
/// A change of it removes nothing that is here.
package enum FetchPolicy: Hashable, Sendable {
    case all
    /// Those of at most so many bytes.
    case upTo(UInt64)
    /// None.
    case onDemand

    /// What a blob may have at most, in bytes; nil: whatever it has.
    package var sizeLimit: UInt64? {
        switch self {
        case .all: nil
        case .upTo(let limit): limit
        case .onDemand: 0
        }
    }

    package func wants(size: UInt64) -> Bool {
        switch self {
        case .all: true
        case .upTo(let limit): size <= limit
        case .onDemand: false
        }
    }
}
