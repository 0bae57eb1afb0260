import SyncModel

// Large blobs: begun a few at a time, their chunks' hashes first, then their chunks, then the whole.
extension BulkCore {
    // MARK: Beginning

    mutating func planWork() {
        guard refusals.diskRetryAt == nil else { return }
        while let rank = ready.first() {
            guard let want = wants[rank.blob], want.stage == .waiting, !want.holders.isEmpty, want.rank == rank else {
                ready.remove(rank.blob)
                continue
            }
            if refusals.blocks(rank) {
                refusals.quotaBlocked.insert(rank.blob)
                ready.remove(rank.blob)
                continue
            }
            guard work.count < configuration.bounds.blobsAtWork || makeRoom(for: rank) else { return }
            ready.remove(rank.blob)
            work[rank.blob] = BulkWork(toldAt: now)
            wants[rank.blob]?.stage = .beginning
            effects.append(.begin(rank.blob, want.layout, hashes: nil))
        }
    }

    /// Puts one aside that does not get on, or for a person one that nobody waits for.
    private mutating func makeRoom(for rank: FetchRank) -> Bool {
        let ranks = work.keys.compactMap { wants[$0]?.rank }.sorted()
        let idle = ranks.last { isIdle($0.blob) }
        let lesser = rank.isPersonal ? ranks.last { !$0.isPersonal && mayPutAside($0.blob) } : nil
        guard let gone = idle ?? lesser else { return false }
        putAside(gone.blob)
        // What was put aside for nothing but room waits for its turn; what nobody has, for somebody to say more.
        if idle == nil { enqueue(gone.blob) }
        return true
    }

    private func mayPutAside(_ blob: BlobHash) -> Bool {
        switch wants[blob]?.stage {
        case .fetching, .lackingHashes, .askingHashes: true
        case .waiting, .asked, .writing, .beginning, .proving, .finishing, nil: false
        }
    }

    /// It waits for peers, and they have nothing.
    private func isIdle(_ blob: BlobHash) -> Bool {
        guard let want = wants[blob] else { return false }
        switch want.stage {
        case .fetching: return !isMoving(blob) && !want.holders.keys.contains { planner.canSend($0, blob) }
        case .lackingHashes: return want.holders.isEmpty
        case .waiting, .asked, .writing, .beginning, .askingHashes, .proving, .finishing: return false
        }
    }

    /// Chunks of it are asked for, or on their way to the disk.
    func isMoving(_ blob: BlobHash) -> Bool {
        if work[blob]?.writing.isEmpty == false { return true }
        return links.contains { link in
            link.asks.values.contains { ask in
                if case .chunks(blob, _, _) = ask.subject { true } else { false }
            }
        }
    }

    /// Nothing of it is waited for any more; what is here of it stays.
    mutating func putAside(_ blob: BlobHash) {
        guard work[blob] != nil, let want = wants[blob] else { return }
        dropHashes(blob, want)
        wants[blob]?.stage = .waiting
        work[blob] = nil
        planner.end(blob)
        for index in links.indices {
            for id in links[index].asks.keys.sorted() {
                switch links[index].asks[id]?.subject {
                case .chunks(blob, _, _), .hashes(blob): cancel(index, id)
                case .chunks, .hashes, .small, nil: continue
                }
            }
        }
        effects.append(.putAside(blob))
    }

    // MARK: Hashes of chunks

    mutating func noteHashesMissing(_ blob: BlobHash) {
        guard wants[blob]?.stage == .beginning else { return }
        wants[blob]?.stage = .lackingHashes
    }

    /// Asks the peer for the next hashes of a blob that lacks them.
    mutating func askHashes(_ index: Int) -> Bool {
        let device = links[index].device
        let others = links[index].isSlow(at: now) ? quickDevices(but: device) : []
        let ranks = work.keys.compactMap { wants[$0] }.filter { want in
            want.stage == .lackingHashes && want.holders[device] != nil
                && !others.contains { want.holders[$0] != nil }
        }.map(\.rank).sorted()
        for rank in ranks {
            guard let want = wants[rank.blob] else { continue }
            let whole = want.layout.chunkCount * BlobHash.byteCount
            let held = work[rank.blob]?.hashes.count ?? 0
            if held == 0 {
                guard hashBytes == 0 || hashBytes + whole <= configuration.bounds.hashBytes else { continue }
                hashBytes += whole
            }
            wants[rank.blob]?.stage = .askingHashes(links[index].id)
            let id = open(index, .hashes(rank.blob))
            let first = UInt32(held / BlobHash.byteCount)
            send(
                index,
                .hashesRequest(
                    BulkFrame.HashesRequest(id: id, space: configuration.space, blob: rank.blob, first: first)))
            return true
        }
        return false
    }

    mutating func noteHashes(_ index: Int, _ hashes: BulkFrame.Hashes) {
        guard let ask = links[index].asks[hashes.id], case .hashes(let blob) = ask.subject else {
            return noteLateAnswer(index, hashes.id)
        }
        links[index].asks[hashes.id] = nil
        noteProgress(index, hashes.id, ask.sentAt, bytes: hashes.bytes.count)
        guard let want = wants[blob], want.stage == .askingHashes(links[index].id) else { return }
        let whole = want.layout.chunkCount * BlobHash.byteCount
        let held = work[blob]?.hashes.count ?? 0
        guard hashes.bytes.count == min(whole - held, BulkLimits.hashesPerFrame * BlobHash.byteCount) else {
            return disbelieve(blob, links[index].device)
        }
        work[blob]?.hashes += hashes.bytes
        guard held + hashes.bytes.count == whole else {
            wants[blob]?.stage = .lackingHashes
            return
        }
        wants[blob]?.stage = .proving(links[index].device)
        effects.append(.begin(blob, want.layout, hashes: work[blob]?.hashes))
        work[blob]?.hashes = []
    }

    mutating func noteHashesWrong(_ blob: BlobHash) {
        guard case .proving(let device) = wants[blob]?.stage else { return }
        disbelieve(blob, device)
    }

    private mutating func disbelieve(_ blob: BlobHash, _ device: DeviceID) {
        counters.hashesWrong += 1
        if let want = wants[blob] { dropHashes(blob, want) }
        wants[blob]?.stage = .lackingHashes
        if configuration.faults.contains(.believeHashes) {
            effects.append(.report(.wrongBytes(device, blob)))
        } else {
            lied(device, blob)
        }
    }

    /// Its hashes are here, or not collected any more.
    mutating func dropHashes(_ blob: BlobHash, _ want: BulkWantState) {
        let isCounted: Bool
        switch want.stage {
        case .askingHashes, .proving: isCounted = true
        case .lackingHashes: isCounted = work[blob]?.hashes.isEmpty == false
        case .waiting, .asked, .writing, .beginning, .fetching, .finishing: isCounted = false
        }
        if isCounted { hashBytes -= want.layout.chunkCount * BlobHash.byteCount }
        work[blob]?.hashes = []
    }

    // MARK: Chunks

    mutating func noteBegun(_ blob: BlobHash, _ present: ChunkSet) {
        guard let want = wants[blob] else { return }
        switch want.stage {
        case .beginning: break
        case .proving: dropHashes(blob, want)
        case .waiting, .asked, .writing, .lackingHashes, .askingHashes, .fetching, .finishing: return
        }
        guard present.count == want.layout.chunkCount else { return retryLater(blob) }
        wants[blob]?.stage = .fetching
        work[blob]?.presentBytes = Self.bytes(of: present, want.layout)
        planner.begin(want.rank, want.layout, present: present)
        var asksAgain: [Int] = []
        for index in links.indices where links[index].state == .up {
            switch want.holders[links[index].device] {
            case .all: planner.offered(blob, by: links[index].device, nil)
            case .chunks(let chunks): planner.offered(blob, by: links[index].device, chunks)
            case .some: asksAgain.append(index)
            case nil: continue
            }
        }
        // There was no room to remember which chunks they have.
        for index in asksAgain { sendWants(index, [blob]) }
        tellHolding(of: blob)
        finishIfWhole(blob)
    }

    mutating func noteChunk(_ index: Int, _ chunk: BulkFrame.Chunk) {
        let place = Int(chunk.index)
        if let ask = links[index].asks[chunk.id] {
            guard case .chunks(let blob, let next, let end) = ask.subject, place == next else {
                return offend(index, .unsolicited)
            }
            guard let want = wants[blob], want.layout.range(of: place).count == chunk.bytes.count else {
                return offend(index, .badChunk)
            }
            links[index].asks[chunk.id]?.subject = .chunks(blob, next: next + 1, end: end)
            if next + 1 == end { links[index].asks[chunk.id] = nil }
            noteProgress(index, chunk.id, ask.sentAt, bytes: chunk.bytes.count)
            counters.chunksReceived += 1
            guard isNeeded(blob, place) else {
                counters.chunksDuplicate += 1
                return release(links[index].id, chunk.bytes.count)
            }
            write(index, blob, place, chunk.bytes)
        } else if case .chunks(let blob, let next, let end) = links[index].cancelled[chunk.id]?.subject {
            guard place == next else { return offend(index, .unsolicited) }
            links[index].cancelled[chunk.id]?.subject = .chunks(blob, next: next + 1, end: end)
            if next + 1 == end { links[index].cancelled[chunk.id] = nil }
            takeLate(index, blob, place, chunk.bytes)
        } else {
            offend(index, .unsolicited)
        }
    }

    private func isNeeded(_ blob: BlobHash, _ chunk: Int) -> Bool {
        guard let present = planner.present(blob) else { return false }
        return !present.contains(chunk) && work[blob]?.writing.contains(chunk) == false
    }

    /// A chunk of a request that was cancelled: used if it is still missing and there is room for it.
    private mutating func takeLate(_ index: Int, _ blob: BlobHash, _ chunk: Int, _ bytes: [UInt8]) {
        counters.chunksReceived += 1
        links[index].lastProgressAt = now
        links[index].slowUntil = nil
        let isLiar = peerIndex(links[index].device).map { peers[$0].lies.contains(blob) } ?? false
        guard isNeeded(blob, chunk), wants[blob]?.layout.range(of: chunk).count == bytes.count, !isLiar,
            flightBytes + bytes.count <= configuration.bounds.windowBytes,
            !configuration.faults.contains(.forgetCancelled)
        else {
            counters.chunksDuplicate += 1
            return
        }
        planner.claim(blob, chunk: chunk)
        reserve(index, bytes.count)
        write(index, blob, chunk, bytes)
    }

    private mutating func write(_ index: Int, _ blob: BlobHash, _ chunk: Int, _ bytes: [UInt8]) {
        let link = links[index]
        work[blob]?.writing.insert(chunk)
        writes[blob, default: [:]][chunk] = BulkWrite(connection: link.id, device: link.device, bytes: bytes.count)
        unwrittenBytes += bytes.count
        effects.append(.write(blob, chunk: chunk, bytes))
    }

    mutating func noteWritten(_ blob: BlobHash, _ chunk: Int, _ outcome: ChunkOutcome) {
        guard let write = writes[blob]?.removeValue(forKey: chunk) else { return }
        if writes[blob]?.isEmpty == true { writes[blob] = nil }
        unwrittenBytes -= write.bytes
        release(write.connection, write.bytes)
        // It may have been put aside, and begun again, since.
        let isAtWork = work[blob]?.writing.remove(chunk) != nil
        switch outcome {
        case .right:
            refusals.noteSuccess()
            guard isAtWork, planner.came(blob, chunk: chunk) else { return }
            work[blob]?.presentBytes += UInt64(write.bytes)
            work[blob]?.untoldChunks += 1
            noteProgress(of: blob)
            finishIfWhole(blob)
        case .wrong:
            counters.chunksWrong += 1
            planner.release(blob, chunk: chunk)
            lied(write.device, blob)
        case .refused(let code):
            planner.release(blob, chunk: chunk)
            refuse(blob, code)
        }
    }

    static func bytes(of present: ChunkSet, _ layout: BlobLayout) -> UInt64 {
        let last = layout.chunkCount - 1
        guard last >= 0 else { return 0 }
        let whole = UInt64(present.presentCount) * UInt64(BlobLayout.chunkBytes)
        return present.contains(last) ? whole - UInt64(BlobLayout.chunkBytes - layout.range(of: last).count) : whole
    }

    // MARK: The whole

    private mutating func finishIfWhole(_ blob: BlobHash) {
        guard wants[blob]?.stage == .fetching, planner.present(blob)?.isComplete == true else { return }
        wants[blob]?.stage = .finishing
        effects.append(.finish(blob))
    }

    mutating func noteFinished(_ blob: BlobHash) {
        guard wants[blob]?.stage == .finishing else { return }
        refusals.noteSuccess()
        work[blob] = nil
        planner.end(blob)
        noteFetched(blob)
    }

    mutating func noteFetched(_ blob: BlobHash) {
        counters.blobsFetched += 1
        drop(blob)
        effects.append(.report(.fetched(blob)))
        tellHolding(of: blob)
    }

    mutating func noteFinishFailed(_ blob: BlobHash) {
        guard wants[blob]?.stage == .finishing else { return }
        retryLater(blob)
    }

    /// Looked at again: at once the first time, since what is damaged is only fetched then.
    private mutating func retryLater(_ blob: BlobHash) {
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

    private mutating func noteProgress(of blob: BlobHash) {
        guard let state = work[blob] else { return }
        if state.progressAt.map({ now >= $0 + configuration.timing.progressPause }) ?? true {
            work[blob]?.progressAt = now
            effects.append(.progress(blob, presentBytes: state.presentBytes))
        }
        if state.untoldChunks >= 64 { tellProgress(of: blob) }
    }

    private mutating func tellProgress(of blob: BlobHash) {
        work[blob]?.untoldChunks = 0
        work[blob]?.toldAt = now
        tellHolding(of: blob)
    }

    mutating func passProgress() {
        guard work.values.contains(where: { $0.untoldChunks > 0 }) else { return }
        for blob in work.keys.sorted() {
            guard let state = work[blob], state.untoldChunks > 0 else { continue }
            if now >= state.toldAt + configuration.timing.holdingPause { tellProgress(of: blob) }
        }
    }

    var progressDeadline: Tick? {
        work.values.lazy.filter { $0.untoldChunks > 0 }.map { $0.toldAt + configuration.timing.holdingPause }.min()
    }
}
