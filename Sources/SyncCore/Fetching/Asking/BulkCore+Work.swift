import SyncModel

// Large blobs: begun a few at a time, put aside when no peer has more of them, and finished. Users and peers are told how far
// each is.
extension BulkCore {
    // MARK: Beginning

    mutating func planWork() {
        guard refusals.diskRetryAt == nil else { return }
        while let rank = ready.first() {
            guard let want = wants[rank.blob], want.stage == .waiting, want.isWorthBeginning, want.rank == rank else {
                ready.remove(rank.blob)
                continue
            }
            if refusals.blocks(rank) {
                refusals.tooLarge.insert(rank.blob)
                ready.remove(rank.blob)
                continue
            }
            guard work.count < configuration.bounds.blobsAtWork || makeRoom(for: rank) else {
                guard isStuck(want) else { return }
                // Behind it may be some that quick peers have.
                ready.remove(rank.blob)
                putOff(rank.blob, until: now + configuration.timing.slowPause)
                continue
            }
            ready.remove(rank.blob)
            work[rank.blob] = BulkWork(toldAt: now)
            wants[rank.blob]?.stage = .beginning
            effects.append(.begin(rank.blob, hashes: nil))
        }
    }

    /// Puts one blob aside that makes no progress or, if a user waits for the new one, one that no user waits for.
    private mutating func makeRoom(for rank: FetchRank) -> Bool {
        let ranks = work.keys.compactMap { wants[$0]?.rank }.sorted()
        // The idle blob waits until a peer announces more of it.
        if let idle = ranks.last(where: { isIdle($0.blob) }) {
            putAside(idle.blob)
            return true
        }
        // A few peers that do not get on would keep all places for themselves.
        let isQuick = wants[rank.blob].map { !isStuck($0) } ?? false
        if isQuick, let stuck = ranks.last(where: { mayGiveWay($0, to: rank) && wants[$0.blob].map(isStuck) == true }) {
            putAside(stuck.blob)
            putOff(stuck.blob, until: now + configuration.timing.slowPause)
            return true
        }
        guard rank.isPersonal, let lesser = ranks.last(where: { !$0.isPersonal && mayGiveWay($0, to: rank) }) else {
            return false
        }
        putAside(lesser.blob)
        enqueue(lesser.blob)
        return true
    }

    /// True if only slow peers have the blob and other peers are connected.
    private func isStuck(_ want: BulkWantState) -> Bool {
        var hasQuick = false
        for link in links where link.state == .up && !link.isSlow(at: now) {
            if want.holders[link.device] != nil { return false }
            hasQuick = true
        }
        return hasQuick && !want.holders.isEmpty
    }

    private func mayGiveWay(_ rank: FetchRank, to other: FetchRank) -> Bool {
        (other.isPersonal || !rank.isPersonal) && mayPutAside(rank.blob)
    }

    private func mayPutAside(_ blob: BlobName) -> Bool {
        switch wants[blob]?.stage {
        case .fetching, .lackingHashes, .askingHashes: true
        case .waiting, .asked, .writing, .beginning, .proving, .finishing, nil: false
        }
    }

    /// True if the blob waits for peers and they have nothing of it to send.
    private func isIdle(_ blob: BlobName) -> Bool {
        guard let want = wants[blob] else { return false }
        switch want.stage {
        case .fetching: return !isMoving(blob) && !want.holders.keys.contains { planner.canSend($0, blob) }
        case .lackingHashes: return want.holders.isEmpty
        case .waiting, .asked, .writing, .beginning, .askingHashes, .proving, .finishing: return false
        }
    }

    /// True if chunks of the blob are asked for, or on their way to the disk.
    func isMoving(_ blob: BlobName) -> Bool {
        if work[blob]?.writing.isEmpty == false { return true }
        return links.contains { link in
            link.asks.values.contains { ask in
                if case .chunks(blob, _, _) = ask.subject { true } else { false }
            }
        }
    }

    /// Stops the work on a blob. Its stored chunks stay.
    mutating func putAside(_ blob: BlobName) {
        guard work[blob] != nil, let want = wants[blob] else { return }
        dropHashes(blob, want)
        wants[blob]?.stage = .waiting
        work[blob] = nil
        planner.end(blob)
        cancelAsks(of: blob)
        effects.append(.putAside(blob))
    }

    private mutating func cancelAsks(of blob: BlobName) {
        for index in links.indices {
            for id in links[index].asks.keys.sorted() {
                switch links[index].asks[id]?.subject {
                case .chunks(blob, _, _), .hashes(blob): cancel(index, id)
                case .chunks, .hashes, .small, nil: continue
                }
            }
        }
    }

    // MARK: The whole

    mutating func finishIfWhole(_ blob: BlobName) {
        guard wants[blob]?.stage == .fetching, planner.present(blob)?.isComplete == true else { return }
        wants[blob]?.stage = .finishing
        effects.append(.finish(blob))
    }

    mutating func handleFinished(_ blob: BlobName) {
        guard wants[blob]?.stage == .finishing else { return }
        refusals.recordSuccess()
        work[blob] = nil
        planner.end(blob)
        // Late answers of an earlier request may have been quicker.
        cancelAsks(of: blob)
        recordFetched(blob)
    }

    mutating func recordFetched(_ blob: BlobName) {
        counters.blobsFetched += 1
        drop(blob)
        effects.append(.report(.fetched(blob)))
        tellHolding(of: blob)
    }

    mutating func handleFinishFailed(_ blob: BlobName) {
        guard wants[blob]?.stage == .finishing else { return }
        retryLater(blob)
    }

    /// Plans to look at the blob again: at once the first time, since what is damaged is only fetched then.
    mutating func retryLater(_ blob: BlobName) {
        let failures = wants[blob]?.failures ?? 0
        wants[blob]?.failures = failures + 1
        putAside(blob)
        if failures == 0 {
            enqueue(blob)
        } else {
            putOff(blob, until: now + refusals.pause(after: failures - 1, configuration.timing))
        }
    }

    // MARK: Telling how far it is

    mutating func reportProgress(of blob: BlobName) {
        guard let state = work[blob] else { return }
        if state.progressAt.map({ now >= $0 + configuration.timing.progressPause }) ?? true {
            work[blob]?.progressAt = now
            effects.append(.progress(blob, presentBytes: state.presentBytes))
        }
        if state.untoldChunks >= 64 { tellProgress(of: blob) }
    }

    private mutating func tellProgress(of blob: BlobName) {
        work[blob]?.untoldChunks = 0
        work[blob]?.toldAt = now
        tellHolding(of: blob)
    }

    mutating func passProgress() {
        guard work.values.contains(where: { $0.untoldChunks > 0 }) else { return }
        for blob in work.keys.sorted() {
            guard let state = work[blob], state.untoldChunks > 0 else { continue }
            guard now >= state.toldAt + configuration.timing.holdingPause else { continue }
            tellProgress(of: blob)
            // Nothing may come after this for long: people see all that is here.
            work[blob]?.progressAt = now
            effects.append(.progress(blob, presentBytes: state.presentBytes))
        }
    }

    var progressDeadline: Tick? {
        work.values.lazy.filter { $0.untoldChunks > 0 }.map { $0.toldAt + configuration.timing.holdingPause }.min()
    }
}
