import SyncModel

// The blobs wanted here: by the policy, or because a user waits for them.
extension BulkCore {
    mutating func fetch(_ want: BlobWant) {
        if wants[want.blob] == nil {
            add(want, isPersonal: true)
            lookForSmall(want)
        } else if wants[want.blob]?.isPersonal == false {
            wants[want.blob]?.isPersonal = true
            rerank(want.blob)
        }
        // A user waits: what was refused, or failed, is tried again at once.
        refusals.diskRetryAt = nil
        wants[want.blob]?.notBefore = nil
        refusals.tooLarge.remove(want.blob)
        enqueue(want.blob)
        doubt(want.blob)
    }

    /// Looks for a small blob that may have come meanwhile. For a large blob, `begin` answers that.
    private mutating func lookForSmall(_ want: BlobWant) {
        guard wants[want.blob] != nil, want.blob.isSmall else { return }
        wants[want.blob]?.stage = .beginning
        let id = ReadID(rawValue: nextID())
        looks[id] = want.blob
        effects.append(.lookUp(id, configuration.space, [want.blob]))
    }

    mutating func handleLooked(_ blob: BlobName, _ holdings: [BulkFrame.Holding]) {
        guard blob.isSmall, wants[blob]?.stage == .beginning else { return }
        let isHere = holdings.contains { holding in
            if case .all = holding.part { holding.blob == blob } else { false }
        }
        if isHere { return recordFetched(blob) }
        wants[blob]?.stage = .waiting
        enqueue(blob)
    }

    mutating func endFetch(_ blob: BlobName) {
        guard let want = wants[blob], want.isPersonal else { return }
        doubted.removeAll { $0 == blob }
        guard want.isListed else { return drop(blob) }
        wants[blob]?.isPersonal = false
        rerank(blob)
    }

    mutating func add(_ want: BlobWant, isPersonal: Bool) {
        if configuration.faults.contains(.believeFirstSize), wants.keys.contains(where: { $0.hash == want.blob.hash }) {
            return
        }
        wants[want.blob] = BulkWantState(want, isListed: !isPersonal, isPersonal: isPersonal)
        if !isPersonal { listedCount += 1 }
        enqueue(want.blob)
        for index in links.indices where links[index].state == .up {
            if isPersonal {
                links[index].untold.insert(want.blob, at: 0)
            } else {
                links[index].untold.append(want.blob)
            }
        }
    }

    /// Removes a want: the blob is not wanted any more, or is stored.
    mutating func drop(_ blob: BlobName) {
        listing.underWay?.ended.insert(blob)
        guard let want = wants[blob] else { return }
        // A request for small ones is not cancelled: the others of it are still wanted, and what comes of this is left out.
        if work[blob] != nil { putAside(blob) }
        forgetHoldings(of: blob)
        wants[blob] = nil
        if want.isListed { listedCount -= 1 }
        ready.remove(blob)
        doubted.removeAll { $0 == blob }
        refusals.tooLarge.remove(blob)
        for index in links.indices where links[index].state == .up {
            links[index].small.remove(blob)
            if links[index].told.remove(blob) != nil { unwant(index, blob) }
        }
    }

    /// The peer need not tell of it any more.
    mutating func unwant(_ index: Int, _ blob: BlobName) {
        links[index].unwanted.append(blob)
        if links[index].unwanted.count >= BulkLimits.blobsPerFrame {
            sendUnwants(index)
        } else if links[index].unwantAt == nil {
            links[index].unwantAt = now + configuration.timing.unwantPause
        }
    }

    private mutating func forgetHoldings(of blob: BlobName) {
        guard let holders = wants[blob]?.holders else { return }
        for (device, held) in holders {
            guard case .chunks(let chunks) = held, let index = upLink(device) else { continue }
            links[index].holdingBytes -= chunks.count / 8
        }
    }

    private mutating func rerank(_ blob: BlobName) {
        guard let rank = wants[blob]?.rank else { return }
        planner.rerank(rank)
        if wants[blob]?.stage == .waiting { enqueue(blob) }
    }

    /// Queues the blob with every peer that has it.
    mutating func enqueue(_ blob: BlobName) {
        guard let want = wants[blob], want.stage == .waiting else { return }
        if let at = want.notBefore, now < at { return }
        if blob.isSmall {
            for index in links.indices where links[index].state == .up {
                if want.holders[links[index].device] != nil { links[index].small.insert(want.rank) }
            }
        } else if want.isWorthBeginning {
            ready.insert(want.rank)
        }
    }

    /// Puts the blob off until that time.
    mutating func putOff(_ blob: BlobName, until at: Tick) {
        guard wants[blob] != nil else { return }
        wants[blob]?.notBefore = at
        deferred.append((at, blob))
    }

    mutating func passDeferred() {
        guard deferred.contains(where: { now >= $0.at }) else { return }
        let due = deferred.filter { now >= $0.at }.map(\.blob)
        deferred.removeAll { now >= $0.at }
        for blob in due { enqueue(blob) }
    }

    // MARK: Telling peers

    mutating func tellWants() {
        for index in links.indices where links[index].state == .up {
            guard !links[index].untold.isEmpty, links[index].told.count < BulkLimits.wants else { continue }
            let untold = links[index].untold
            var blobs: [BlobName] = []
            var rest: [BlobName] = []
            for blob in untold where wants[blob] != nil && !links[index].told.contains(blob) {
                guard links[index].told.count < BulkLimits.wants else {
                    rest.append(blob)
                    continue
                }
                links[index].told.insert(blob)
                blobs.append(blob)
            }
            links[index].untold = rest
            if blobs.isEmpty { continue }
            // What was given up must not count any more with the peer when new ones arrive there.
            sendUnwants(index)
            sendWants(index, blobs)
        }
    }

    mutating func sendWants(_ index: Int, _ blobs: [BlobName]) {
        links[index].lastUseAt = now
        for start in stride(from: 0, to: blobs.count, by: BulkLimits.blobsPerFrame) {
            let part = Array(blobs[start..<min(blobs.count, start + BulkLimits.blobsPerFrame)])
            send(index, .want(BulkFrame.Want(space: configuration.space, blobs: part)))
        }
    }

    mutating func sendUnwants(_ index: Int) {
        links[index].unwantAt = nil
        // A blob that is wanted again was announced again only if it is not among these. A blob can be given up twice: by the
        // side that wanted it, and when the peer that was asked for it meanwhile turns out not to have it.
        var said: Set<BlobName> = []
        let blobs = links[index].unwanted.filter { !links[index].told.contains($0) && said.insert($0).inserted }
        links[index].unwanted = []
        for start in stride(from: 0, to: blobs.count, by: BulkLimits.blobsPerFrame) {
            let part = Array(blobs[start..<min(blobs.count, start + BulkLimits.blobsPerFrame)])
            send(index, .unwant(BulkFrame.Unwant(blobs: part)))
        }
    }

    // MARK: What peers have

    mutating func handleHolding(_ index: Int, _ holding: BulkFrame.Holding) {
        let (device, blob) = (links[index].device, holding.blob)
        guard let want = wants[blob], links[index].told.contains(blob) else { return }
        if isLiar(device, about: blob) { return }
        if case .chunks(let chunks) = holding.part, chunks.presentCount == 0 || blob.isSmall {
            // A small blob is had as a whole or not at all.
            return loseHolder(blob, device)
        }
        forgetHeld(index, blob)
        switch holding.part {
        case .nothing:
            loseHolder(blob, device)
        case .all:
            let isNews = if case .all = want.holders[device] { false } else { true }
            wants[blob]?.holders[device] = .all
            planner.offered(blob, by: device, nil)
            // A small one is here in a moment, and who had it of no interest; if it is not, that is noted at the end.
            if isNews, !blob.isSmall { effects.append(.recordHolder(blob, device)) }
            enqueue(blob)
        case .chunks(let chunks):
            let isSeen = work[blob] != nil
            if isSeen || links[index].holdingBytes + chunks.count / 8 <= configuration.bounds.holdingBytesPerPeer {
                links[index].holdingBytes += chunks.count / 8
                wants[blob]?.holders[device] = .chunks(chunks)
            } else {
                wants[blob]?.holders[device] = .some
            }
            planner.offered(blob, by: device, chunks)
            enqueue(blob)
        }
        if want.saidNobody { doubt(blob) }
    }

    /// The set of chunks that it said it holds, if there was room to remember one.
    private mutating func forgetHeld(_ index: Int, _ blob: BlobName) {
        guard case .chunks(let chunks) = wants[blob]?.holders[links[index].device] else { return }
        links[index].holdingBytes -= chunks.count / 8
        wants[blob]?.holders[links[index].device] = .some
    }

    /// Removes the peer as holder: it has nothing of the blob any more, or nothing that can be used.
    mutating func loseHolder(_ blob: BlobName, _ device: DeviceID) {
        if let index = upLink(device) { forgetHeld(index, blob) }
        wants[blob]?.holders[device] = nil
        planner.withdrawn(blob, by: device)
        dropUnsent(blob)
        if let index = upLink(device) { links[index].small.remove(blob) }
        if wants[blob]?.isPersonal == true { doubt(blob) }
    }

    func isLiar(_ device: DeviceID, about blob: BlobName) -> Bool {
        peerIndex(device).map { peers[$0].isLiar(about: blob, at: now) } ?? false
    }

    /// Records that the peer sent something that is not of the blob.
    mutating func lied(_ device: DeviceID, _ blob: BlobName) {
        if configuration.faults.contains(.trustLiars) { return effects.append(.report(.wrongBytes(device, blob))) }
        if let peer = peerIndex(device) {
            // What else was under way of it is as wrong.
            guard !isLiar(device, about: blob) else { return }
            let pause = lastingDistrust(after: peers[peer].lies[blob]?.count ?? 0)
            peers[peer].lies[blob, default: BulkLie(until: now)].count += 1
            peers[peer].lies[blob]?.until = now + pause
            pardons.append((now + pause, device, blob))
            effects.append(.report(.wrongBytes(device, blob)))
            if peers[peer].lies.count > configuration.bounds.liesPerPeer, let index = upLink(device) {
                return offend(index, .badChunk)
            }
        }
        loseHolder(blob, device)
        guard let index = upLink(device) else { return }
        for id in links[index].asks.keys.sorted() {
            switch links[index].asks[id]?.subject {
            case .chunks(blob, _, _), .hashes(blob): cancel(index, id)
            case .chunks, .hashes, .small, nil: continue
            }
        }
    }
}

// A peer that was wrong is believed again after a while: its disk may have been mended, and no other peer may have the blob.
extension BulkCore {
    private func lastingDistrust(after count: Int) -> Tick.Span {
        let timing = configuration.timing
        let nanoseconds = timing.lieLeast.nanoseconds << Int64(min(count, 16))
        return Tick.Span(nanoseconds: min(timing.lieGreatest.nanoseconds, nanoseconds))
    }

    /// Asks pardoned peers again, since what they announced of the blob meanwhile was ignored.
    mutating func passPardons() {
        guard pardons.contains(where: { now >= $0.at }) else { return }
        let due = pardons.filter { now >= $0.at }
        pardons.removeAll { now >= $0.at }
        for (_, device, blob) in due {
            guard wants[blob] != nil, let index = upLink(device), links[index].told.contains(blob) else { continue }
            sendWants(index, [blob])
        }
    }
}

extension BlobName {
    /// True if blobs of this size travel whole.
    var isSmall: Bool { size <= UInt64(BulkLimits.smallBytes) }
}
