import SyncModel

/// Every decision about the bytes of attachments, as one pure machine beside `AgentCore`: which peers to connect to, what to
/// ask each for, what to do with what comes, and what to send to others.
///
/// Like `AgentCore` it holds no clock, does no IO, is copied to be replayed, and emits nothing that depends on hash order.
///
/// Invariants: no chunk is asked for that is stored or on its way to the disk, and none of two peers unless the first is
/// slow. Whatever peers do, `BulkLoad` stays within `BulkConfiguration.Bounds`. Bytes count only after the disk has confirmed
/// that they are what they should be.
package struct BulkCore: Sendable {
    package let configuration: BulkConfiguration
    var random: SplitMix64

    /// The peers, in the order in which they came up.
    var peers: [BulkPeer] = []
    /// The connections, in the order in which they opened.
    var links: [BulkLink] = []
    /// The ID of the next connection, apart from those of sessions.
    var nextConnection: UInt64 = (1 << 62) + 1

    var wants: [BlobName: BulkWantState] = [:]
    /// The number of wants that come from the policy.
    var listedCount = 0
    var listing = BulkListing()
    /// Blobs that a user waits for and that no peer seems to have, in the order of asking.
    var doubted: [BlobName] = []
    var doubtAt: Tick?

    /// Large blobs that a peer holds and that are not at work.
    var ready = FetchQueue()
    var work: [BlobName: BulkWork] = [:]
    var planner = FetchPlanner()
    /// The blobs that are to be tried again later, and when.
    var deferred: [(at: Tick, blob: BlobName)] = []

    /// The times at which liars are believed again; one entry for each lie that is not forgiven.
    var pardons: [(at: Tick, device: DeviceID, blob: BlobName)] = []

    /// Chunks on the way to the disk.
    var writes: [BlobName: [Int: BulkWrite]] = [:]
    var smallWrites: [WriteID: [(blob: BlobName, write: BulkWrite)]] = [:]
    /// Blobs that came, and for which no transaction has room yet.
    var smallPending: [(blob: WholeBlob, write: BulkWrite)] = []
    /// The bytes asked for, and those that came and are not answered by the disk.
    var flightBytes = 0
    /// The bytes that came and are not answered by the disk.
    var unwrittenBytes = 0
    /// The bytes of all hashes of the blobs whose chunk hashes are being collected, counted as if complete.
    var hashBytes = 0
    var lastAskID: UInt64 = 0
    var askTurn = 0
    var refusals = BulkRefusals()

    /// Lookups under way of small blobs that a user waits for: they may be stored already.
    var looks: [ReadID: BlobName] = [:]
    var reads: [ReadID: BulkRead] = [:]
    var serveTurn = 0
    /// The time at which wanted blobs of which a peer was told nothing are looked up again.
    var lookAgainAt: Tick?

    /// The time until which little is asked for at a time. Nothing happens at its end: what is under way then asks for more.
    var politeUntil: Tick?
    var uploads: TokenBucket?
    var downloads: TokenBucket?
    /// A limit holds something up until then.
    var uploadAt: Tick?
    var downloadAt: Tick?

    package internal(set) var counters = BulkCounters()
    var lastID: UInt64 = 0
    var effects: [BulkEffect] = []
    var now: Tick

    package init(configuration: BulkConfiguration, at now: Tick) {
        self.configuration = configuration
        self.now = now
        random = SplitMix64(seed: configuration.seed)
        setLimits(upload: configuration.uploadLimit, download: configuration.downloadLimit)
    }

    /// Says goodbye to all. The shell stops stepping.
    package mutating func stop(at now: Tick) -> [BulkEffect] {
        self.now = now
        for index in links.indices { close(index, .shutdown) }
        for blob in work.keys.sorted() { effects.append(.putAside(blob)) }
        return takeEffects()
    }

    package mutating func step(_ input: BulkInput, at now: Tick) -> [BulkEffect] {
        precondition(now >= self.now, "monotonic time ran backwards: \(self.now) then \(now)")
        self.now = now
        uploads?.refill(at: now)
        downloads?.refill(at: now)
        take(input)
        passDeadlines()
        planList()
        tellWants()
        planDials()
        planWork()
        planAsks()
        planSmallWrites()
        pumpServing()
        passDoubts()
        planReading()
        return takeEffects()
    }

    private mutating func take(_ input: BulkInput) {
        switch input {
        case .sessionUp(let device, let dial): handleSessionUp(device, dial)
        case .sessionDown(let device): handleSessionDown(device)
        case .bulkWanted(let device): handleBulkWanted(device)
        case .changesMoved: politeUntil = now + configuration.timing.polite
        case .opened(let id, let device): handleOpened(id, device)
        case .dialFailed(let id, _): handleDialFailed(id)
        case .received(let id, let frame, let bytes): handleReceived(id, frame, bytes)
        case .malformed(let id, let code): handleMalformed(id, code)
        case .written(let id, let bytes): handleWritten(id, bytes)
        case .closed(let id, let code): handleClosed(id, code)
        case .missingChanged: handleMissingChanged()
        case .roomChanged: handleRoomChanged()
        case .limitsChanged(let upload, let download): setLimits(upload: upload, download: download)
        case .missing(let id, let wants): handleMissing(id, wants)
        case .fetch(let want): fetch(want)
        case .endFetch(let blob): endFetch(blob)
        case .unwanted(let blob): drop(blob)
        case .holdingChanged(let blob): tellHolding(of: blob)
        case .begun(let blob, let present): handleBegun(blob, present)
        case .hashesMissing(let blob): handleHashesMissing(blob)
        case .hashesWrong(let blob): handleHashesWrong(blob)
        case .refused(let blob, let code): handleRefused(blob, code)
        case .chunkWritten(let blob, let chunk, let outcome): handleChunkWritten(blob, chunk, outcome)
        case .finished(let blob): handleFinished(blob)
        case .finishFailed(let blob, _): handleFinishFailed(blob)
        case .smallWritten(let id, let right, let wrong, let code): handleSmallWritten(id, right, wrong, code)
        case .lookedUp(let id, let holdings): handleLookedUp(id, holdings)
        case .hashesRead(let id, let bytes): handleHashesRead(id, bytes)
        case .chunkRead(let id, let bytes, let reason): handleChunkRead(id, bytes, reason)
        case .smallRead(let id, let blobs, let next): handleSmallRead(id, blobs, next: next)
        case .deadlinePassed: break
        }
    }

    /// Replaces the limits. The rest of the step looks at all that the old ones held up.
    private mutating func setLimits(upload: UInt64?, download: UInt64?) {
        uploads = upload.map { TokenBucket(perSecond: $0, at: now) }
        downloads = download.map { TokenBucket(perSecond: $0, at: now) }
        (uploadAt, downloadAt) = (nil, nil)
    }

    private mutating func passDeadlines() {
        passLinkDeadlines()
        passStalls()
        passRefusals()
        passDeferred()
        passPardons()
        passProgress()
        passLookAgain()
    }

    /// The time to step again with `.deadlinePassed` if nothing else happens; nil: never.
    package var nextDeadline: Tick? {
        [
            linkDeadline, dialDeadline, listing.deadline(configuration, listedCount), refusals.deadline,
            deferred.lazy.map(\.at).min(), pardons.lazy.map(\.at).min(), progressDeadline, doubtAt, lookAgainAt,
            uploadAt, downloadAt,
        ].compactMap(\.self).min()
    }

    // MARK: What the parts share

    func linkIndex(_ id: ConnectionID) -> Int? { links.firstIndex { $0.id == id } }

    /// The connection of a device that is up.
    func upLink(_ device: DeviceID) -> Int? { links.firstIndex { $0.device == device && $0.state == .up } }

    func peerIndex(_ device: DeviceID) -> Int? { peers.firstIndex { $0.device == device } }

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func send(_ index: Int, _ frame: BulkFrame) {
        links[index].serving.bufferedBytes += frame.leastByteCount
        if let peer = peerIndex(links[index].device) { peers[peer].bytesOut += UInt64(frame.leastByteCount) }
        effects.append(.send(links[index].id, frame))
    }

    private mutating func takeEffects() -> [BulkEffect] {
        defer { effects = [] }
        return effects
    }
}

extension BulkFrame {
    /// The least number of bytes the frame takes in the transport's buffers, without the few bytes that every frame has. It
    /// is never more than is written, so that a count of them comes down to zero.
    var leastByteCount: Int {
        switch self {
        case .want(let want): want.blobs.count * BlobHash.byteCount
        case .unwant(let unwant): unwant.blobs.count * BlobHash.byteCount
        case .holding(let holding):
            if case .chunks(let chunks) = holding.part {
                BlobHash.byteCount + (chunks.count + 7) / 8
            } else {
                BlobHash.byteCount
            }
        case .hashes(let hashes): hashes.bytes.count
        case .hashesRequest, .request: BlobHash.byteCount
        case .chunk(let chunk): chunk.bytes.count
        case .smallRequest(let request): request.blobs.count * BlobHash.byteCount
        case .smallBlobs(let small): small.blobs.reduce(0) { $0 + $1.bytes.count }
        case .hello, .cancel, .refusal, .goodbye: 2
        }
    }
}
