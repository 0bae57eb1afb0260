import SyncModel

/// A bulk connection.
///
/// `greeting` → `up` (the peer's Hello was accepted) → `closing` (the transport was asked to close it) → gone. `greeting` may
/// go to `closing` directly. At most one connection of a device is up.
struct BulkLink: Sendable {
    enum State: Sendable, Equatable {
        case greeting(deadline: Tick)
        case up
        case closing
    }

    let id: ConnectionID
    let device: DeviceID
    var state: State
    let openedAt: Tick
    /// The time of the last request, either way.
    var lastUseAt: Tick

    // Asking
    /// Requests under way, by id.
    var asks: [UInt64: BulkAsk] = [:]
    /// Cancelled requests of which answers may still be under way, by id.
    var cancelled: [UInt64: CancelledAsk] = [:]
    /// The greatest request ID that was sent.
    var lastAskID: UInt64 = 0
    /// The bytes asked for and not answered by the disk.
    var flightBytes = 0
    /// The bytes in flight up to which this peer is asked.
    var windowBytes: Int
    /// The time at which something that was asked for came last, or was asked for first.
    var lastProgressAt: Tick
    /// The time at which anything came last, or was asked for, or reading began again.
    var lastReceivedAt: Tick
    var slowUntil: Tick?
    /// The time until which the peer is left alone because it has too much to do.
    var pausedUntil: Tick?
    /// Small blobs that the peer holds and that no peer was asked for.
    var small = FetchQueue()
    /// The blobs that the peer was told are wanted here.
    var told: Set<BlobName> = []
    /// The blobs that the peer is to be told of. Some may not be wanted any more.
    var untold: [BlobName] = []
    var unwanted: [BlobName] = []
    var unwantAt: Tick?
    /// The bytes of the sets of chunks that the peer claims to hold.
    var holdingBytes = 0
    var isReading = true

    // Serving
    var serving = BulkServing()

    init(id: ConnectionID, device: DeviceID, deadline: Tick, windowBytes: Int, at now: Tick) {
        self.id = id
        self.device = device
        state = .greeting(deadline: deadline)
        self.windowBytes = windowBytes
        openedAt = now
        lastUseAt = now
        lastProgressAt = now
        lastReceivedAt = now
    }

    func isSlow(at now: Tick) -> Bool { slowUntil.map { now < $0 } ?? false }

    /// True if nothing is asked and nothing is wanted, either way.
    var isUnused: Bool { asks.isEmpty && told.isEmpty && serving.requests.isEmpty && serving.wanted.isEmpty }
}

/// A request of ours.
struct BulkAsk: Sendable {
    enum Subject: Sendable {
        /// A request for chunks, which come in order.
        case chunks(BlobName, next: Int, end: Int)
        case hashes(BlobName)
        /// A request for small blobs. Those whose places are not in `came` have not come.
        case small([BlobName], came: ChunkSet)
    }

    var subject: Subject
    let sentAt: Tick
}

extension BlobName {
    /// The bytes a small blob counts for in flight: its size, and the memory to remember it.
    var weight: Int { Int(size) + 64 }
}

/// A request that was cancelled: what is under way of it is still good.
struct CancelledAsk: Sendable {
    var subject: BulkAsk.Subject
    /// The last request before the cancel. Once a later one is answered nothing more comes: the peer answers in the order in
    /// which it receives.
    let lastAskID: UInt64
}
