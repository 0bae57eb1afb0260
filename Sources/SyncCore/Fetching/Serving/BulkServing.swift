import SyncModel

/// What one peer asks of us on a bulk connection, and what it wants to be told.
struct BulkServing: Sendable {
    struct Request: Sendable {
        enum Subject: Sendable {
            /// From `next` on nothing is read yet; from `sent` on nothing is sent.
            case chunks(BlobHash, sent: Int, next: Int, end: Int)
            case hashes(BlobHash, first: Int)
            /// From `next` on nothing was looked at.
            case small([BlobHash], next: Int)
        }

        let id: UInt64
        var subject: Subject
        var reads = 0
        /// Chunks that were read before one in front of them.
        var ready: [Int: [UInt8]] = [:]
    }

    /// Whose turn it is first.
    var requests: [Request] = []
    var lastRequestID: UInt64 = 0
    /// Blobs of which the peer is told what is held.
    var wanted: Set<BlobHash> = []
    /// Of those, of which something was said to be held.
    var said: Set<BlobHash> = []
    /// To be looked up, in this order from `lookUpStart` on; each once. At most twice `BulkLimits.wants`; may name some that the
    /// peer gave up.
    var toLookUp: [BlobHash] = []
    var lookUpStart = 0
    var isToLookUp: Set<BlobHash> = []
    /// Under way.
    var lookUp: (id: ReadID, blobs: [BlobHash])?
    /// Sent since anything was written.
    var refusalCount = 0
    /// Handed to the transport and not written, at least.
    var bufferedBytes = 0
    /// Being read, or read before its turn, at most.
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
    /// Of the upload limit that were taken for it.
    let tokens: Int
}
