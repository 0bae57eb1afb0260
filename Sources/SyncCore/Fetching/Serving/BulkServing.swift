import SyncModel

/// The requests of one peer on a bulk connection, and the blobs it wants to be told of.
struct BulkServing: Sendable {
    struct Request: Sendable {
        enum Subject: Sendable {
            /// Chunks of a blob. From `next` on nothing is read yet; from `sent` on nothing is sent.
            case chunks(BlobName, sent: Int, next: Int, end: Int)
            case hashes(BlobName, first: Int)
            /// Small blobs. From `next` on nothing was looked at.
            case small([BlobName], next: Int)
        }

        let id: UInt64
        var subject: Subject
        var reads = 0
        /// Chunks that were read before one in front of them.
        var ready: [Int: [UInt8]] = [:]
    }

    /// The requests, the next one to serve first.
    var requests: [Request] = []
    var lastRequestID: UInt64 = 0
    /// The blobs whose holdings the peer is told.
    var wanted: Set<BlobName> = []
    /// The wanted blobs of which the peer was told a holding.
    var said: Set<BlobName> = []
    /// Blobs to look up, in this order from `lookUpStart` on, each once. At most twice `BulkLimits.wants`. Some may have been
    /// given up by the peer.
    var toLookUp: [BlobName] = []
    var lookUpStart = 0
    var isToLookUp: Set<BlobName> = []
    /// The lookup under way.
    var lookUp: (id: ReadID, blobs: [BlobName])?
    /// The number of refusals sent since anything was written.
    var refusalCount = 0
    /// The bytes handed to the transport and not written, at least.
    var bufferedBytes = 0
    /// The bytes being read, or read before their turn, at most.
    var readingBytes = 0
    var readCount = 0
}

/// A read for a peer that is under way.
struct BulkRead: Sendable {
    enum Subject: Sendable {
        case chunk(Int)
        case hashes
        case small(first: Int)
    }

    let connection: ConnectionID
    let request: UInt64
    let subject: Subject
    /// The tokens of the upload limit that were taken for it.
    let tokens: Int
}
