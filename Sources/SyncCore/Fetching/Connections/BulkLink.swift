import SyncModel

/// One bulk connection.
///
/// `greeting` → `up` (the peer's Hello was accepted) → `closing` (the transport was asked to close it) → gone. `greeting` may go
/// to `closing` directly. Of one device only one is up.
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
    /// When something was asked last, either way.
    var lastUseAt: Tick

    // Asking
    /// By id.
    var asks: [UInt64: BulkAsk] = [:]
    /// Answers of which may still be under way, by id.
    var cancelled: [UInt64: CancelledAsk] = [:]
    /// The greatest that was sent.
    var lastAskID: UInt64 = 0
    /// Asked, and not answered by the disk.
    var flightBytes = 0
    /// How much of that is good for this peer.
    var windowBytes: Int
    /// When something that was asked came last, or was asked first.
    var lastProgressAt: Tick
    /// When anything came last, or was asked or read again.
    var lastReceivedAt: Tick
    var slowUntil: Tick?
    /// It has too much to do.
    var pausedUntil: Tick?
    /// Small blobs that it holds and nobody was asked for.
    var small = FetchQueue()
    /// What it was told is wanted here.
    var told: Set<BlobHash> = []
    /// What it is to be told; may name some that are not wanted any more.
    var untold: [BlobHash] = []
    var unwanted: [BlobHash] = []
    var unwantAt: Tick?
    /// Of the sets of chunks that it says it holds.
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

    /// Nothing is asked and nothing is wanted, either way.
    var isUnused: Bool { asks.isEmpty && told.isEmpty && serving.requests.isEmpty && serving.wanted.isEmpty }
}

/// A request of ours.
struct BulkAsk: Sendable {
    enum Subject: Sendable {
        /// Chunks come in order.
        case chunks(BlobHash, next: Int, end: Int)
        case hashes(BlobHash)
        /// Those whose places are not in `came` have not come.
        case small([Small], came: ChunkSet)
    }

    struct Small: Sendable {
        let blob: BlobHash
        let size: UInt64

        /// What it counts for in flight: its bytes, and what it takes to remember it.
        var weight: Int { Int(size) + 64 }
    }

    var subject: Subject
    let sentAt: Tick
}

/// A request that was cancelled: what is under way of it is still good.
struct CancelledAsk: Sendable {
    var subject: BulkAsk.Subject
    /// Once a later request is answered nothing more comes: the peer answers in the order in which it hears.
    let lastAskID: UInt64
}
