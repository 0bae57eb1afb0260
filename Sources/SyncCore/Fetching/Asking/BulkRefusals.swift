import SyncModel

/// The refusals of the disk and the quota, and the times at which they are tried again.
struct BulkRefusals: Sendable {
    /// The time before which nothing is asked for.
    var diskRetryAt: Tick?
    /// The number of refusals since something was kept.
    var diskCount = 0
    /// The least size that did not fit into the quota, or on the disk.
    var leastTooLarge: UInt64?
    /// The code of that refusal.
    var tooLargeCode = ""
    var tooLargeRetryAt: Tick?
    var tooLargeCount = 0
    /// The blobs that wait until the quota is tried again.
    var tooLarge: Set<BlobName> = []

    /// True if a blob of this rank is not tried now. A blob that a user waits for is tried, to say why it does not fit.
    func blocks(_ rank: FetchRank) -> Bool { !rank.isPersonal && (leastTooLarge.map { rank.size >= $0 } ?? false) }

    mutating func recordSuccess() { diskCount = 0 }

    func pause(after count: Int, _ timing: BulkConfiguration.Timing) -> Tick.Span {
        let nanoseconds = timing.refusalLeast.nanoseconds << Int64(min(count, 16))
        return Tick.Span(nanoseconds: min(timing.refusalGreatest.nanoseconds, nanoseconds))
    }

    var deadline: Tick? { [diskRetryAt, tooLargeRetryAt].compactMap(\.self).min() }
}

// What does not fit, into the quota or on the disk, waits with all that is as large; a disk that is full to the last byte stops
// all; anything else concerns one blob. Nothing of it loses what is here.
extension BulkCore {
    mutating func handleRefused(_ blob: BlobName, _ code: String) {
        switch wants[blob]?.stage {
        case .beginning, .proving: break
        case .waiting, .asked, .writing, .lackingHashes, .askingHashes, .fetching, .finishing, nil: return
        }
        putAside(blob)
        // Room for all of it is set aside when it is begun: a smaller one may fit.
        if [BulkConfiguration.quotaCode, BulkConfiguration.diskFullCode].contains(code) {
            refuseSize(blob, code)
        } else {
            refuseOne(blob, code)
        }
    }

    /// Handles bytes that could not be kept. What waits is tried again when the refusal has passed.
    mutating func refuseBytes(_ blob: BlobName, _ code: String) {
        if code == BulkConfiguration.quotaCode {
            refuseSize(blob, code)
        } else if code == BulkConfiguration.diskFullCode {
            refuseAll(blob, code)
        } else {
            refuseOne(blob, code)
        }
    }

    private mutating func refuseSize(_ blob: BlobName, _ code: String) {
        guard let want = wants[blob] else { return }
        if work[blob] != nil { putAside(blob) }
        refusals.tooLarge.insert(blob)
        refusals.tooLargeCode = code
        let isNew = want.isPersonal || refusals.tooLargeRetryAt == nil || !refusals.blocks(want.rank)
        refusals.leastTooLarge = min(refusals.leastTooLarge ?? .max, blob.size)
        guard isNew else { return }
        recordRefusal(blob, code)
        guard refusals.tooLargeRetryAt == nil else { return }
        refusals.tooLargeRetryAt = now + refusals.pause(after: refusals.tooLargeCount, configuration.timing)
        refusals.tooLargeCount += 1
    }

    private mutating func refuseAll(_ blob: BlobName, _ code: String) {
        guard let want = wants[blob] else { return }
        enqueue(blob)
        // One report covers all blobs, but each user that waits is told about their own.
        if want.isPersonal || refusals.diskRetryAt == nil { recordRefusal(blob, code) }
        guard refusals.diskRetryAt == nil else { return }
        refusals.diskRetryAt = now + refusals.pause(after: refusals.diskCount, configuration.timing)
        refusals.diskCount += 1
    }

    /// Puts off one blob. An error of one blob says nothing about the others.
    private mutating func refuseOne(_ blob: BlobName, _ code: String) {
        guard let want = wants[blob] else { return }
        recordRefusal(blob, code)
        if work[blob] != nil { putAside(blob) }
        wants[blob]?.failures = want.failures + 1
        putOff(blob, until: now + refusals.pause(after: want.failures, configuration.timing))
    }

    private mutating func recordRefusal(_ blob: BlobName, _ code: String) {
        counters.refusedHere += 1
        wants[blob]?.refusal = code
        effects.append(.report(.refusedHere(blob, code: code)))
    }

    mutating func passRefusals() {
        if let at = refusals.diskRetryAt, now >= at { refusals.diskRetryAt = nil }
        if let at = refusals.tooLargeRetryAt, now >= at { endQuotaPause() }
    }

    /// The quota, or what counts for it, has changed, or the disk has more room.
    mutating func handleRoomChanged() {
        guard let at = refusals.tooLargeRetryAt else { return }
        refusals.tooLargeCount = 0
        // Not at once: what frees some often frees more.
        refusals.tooLargeRetryAt = min(at, now + configuration.timing.holdingPause)
    }

    private mutating func endQuotaPause() {
        let blobs = refusals.tooLarge.sorted()
        (refusals.tooLargeRetryAt, refusals.leastTooLarge, refusals.tooLarge) = (nil, nil, [])
        for blob in blobs { enqueue(blob) }
    }
}
