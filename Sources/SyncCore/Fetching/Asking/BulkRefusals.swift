import SyncModel

/// What the disk and the quota refused, and when they are tried again.
struct BulkRefusals: Sendable {
    /// Nothing is asked for before.
    var diskRetryAt: Tick?
    /// Refusals since something was kept.
    var diskCount = 0
    /// The least that did not fit into the quota.
    var quotaSize: UInt64?
    var quotaRetryAt: Tick?
    var quotaCount = 0
    /// What waits for that.
    var quotaBlocked: Set<BlobHash> = []

    /// Whether it is not tried now. For a person it is, to say what the quota says.
    func blocks(_ rank: FetchRank) -> Bool { !rank.isPersonal && (quotaSize.map { rank.size >= $0 } ?? false) }

    mutating func noteSuccess() { diskCount = 0 }

    func pause(after count: Int, _ timing: BulkConfiguration.Timing) -> Tick.Span {
        let nanoseconds = timing.refusalLeast.nanoseconds << Int64(min(count, 16))
        return Tick.Span(nanoseconds: min(timing.refusalGreatest.nanoseconds, nanoseconds))
    }

    var deadline: Tick? { [diskRetryAt, quotaRetryAt].compactMap(\.self).min() }
}

// A full disk stops all, a quota what does not fit. Neither loses what is here.
extension BulkCore {
    mutating func noteRefused(_ blob: BlobHash, _ code: String) {
        switch wants[blob]?.stage {
        case .beginning, .proving: break
        case .waiting, .asked, .writing, .lackingHashes, .askingHashes, .fetching, .finishing, nil: return
        }
        putAside(blob)
        refuse(blob, code)
    }

    /// What waits of it is tried again when the refusal has passed.
    mutating func refuse(_ blob: BlobHash, _ code: String) {
        guard let want = wants[blob] else { return }
        if code == BulkConfiguration.quotaCode {
            if work[blob] != nil { putAside(blob) }
            refusals.quotaBlocked.insert(blob)
            let isNew = want.isPersonal || refusals.quotaRetryAt == nil || !refusals.blocks(want.rank)
            refusals.quotaSize = min(refusals.quotaSize ?? .max, want.layout.size)
            guard isNew else { return }
            note(blob, code)
            if refusals.quotaRetryAt == nil {
                refusals.quotaRetryAt = now + refusals.pause(after: refusals.quotaCount, configuration.timing)
                refusals.quotaCount += 1
            }
        } else {
            enqueue(blob)
            guard refusals.diskRetryAt == nil else { return }
            note(blob, code)
            refusals.diskRetryAt = now + refusals.pause(after: refusals.diskCount, configuration.timing)
            refusals.diskCount += 1
        }
    }

    private mutating func note(_ blob: BlobHash, _ code: String) {
        counters.refusedHere += 1
        effects.append(.report(.refusedHere(blob, code: code)))
    }

    mutating func passRefusals() {
        if let at = refusals.diskRetryAt, now >= at { refusals.diskRetryAt = nil }
        if let at = refusals.quotaRetryAt, now >= at { endQuotaPause() }
    }

    /// The quota, or what counts for it, may have changed.
    mutating func retryQuota() {
        guard let at = refusals.quotaRetryAt else { return }
        refusals.quotaCount = 0
        // Not with every change: what it was may have nothing to do with the quota.
        refusals.quotaRetryAt = min(at, now + configuration.timing.holdingPause)
    }

    private mutating func endQuotaPause() {
        let blobs = refusals.quotaBlocked.sorted()
        (refusals.quotaRetryAt, refusals.quotaSize, refusals.quotaBlocked) = (nil, nil, [])
        for blob in blobs { enqueue(blob) }
    }
}
