import SyncModel

// The amount that is asked of each peer: windows, and the limit of what is downloaded.
extension BulkCore {
    // MARK: Room

    /// The bytes that may be asked of a peer now.
    private func room(_ index: Int) -> Int {
        if configuration.faults.contains(.unboundedInFlight) {
            return BulkLimits.chunksPerRequest * BlobLayout.chunkBytes
        }
        let bounds = configuration.bounds
        let isPolite = politeUntil.map { now < $0 } ?? false
        let peerWindow = isPolite ? bounds.politePeerWindowBytes : bounds.peerWindowBytes
        return min(
            min(links[index].windowBytes, peerWindow) - links[index].flightBytes,
            (isPolite ? bounds.politeWindowBytes : bounds.windowBytes) - flightBytes)
    }

    private func mayAsk(_ index: Int) -> Bool {
        links[index].state == .up && links[index].asks.count < BulkLimits.openRequests
            && (links[index].pausedUntil.map { now >= $0 } ?? true)
    }

    /// Takes them of what may be downloaded, or records when it can.
    private mutating func takeTokens(_ bytes: Int) -> Bool {
        guard let bucket = downloads else { return true }
        guard bucket.holds(bytes) else {
            downloadAt = bucket.time(of: bytes)
            return false
        }
        downloads?.take(bytes)
        return true
    }

    mutating func reserve(_ index: Int, _ bytes: Int) {
        links[index].flightBytes += bytes
        flightBytes += bytes
    }

    /// Takes bytes out of flight: the disk has answered for them, or they will not come.
    mutating func release(_ connection: ConnectionID, _ bytes: Int) {
        flightBytes -= bytes
        if let index = linkIndex(connection) { links[index].flightBytes -= bytes }
    }

    // MARK: Asking

    /// Asks each peer in turn, until no peer has room or no peer has anything that is needed.
    mutating func planAsks() {
        downloadAt = nil
        guard refusals.diskRetryAt == nil, !links.isEmpty else { return }
        askTurn = (askTurn + 1) % links.count
        var isMoving = true
        while isMoving {
            isMoving = false
            for step in links.indices {
                let index = (askTurn + step) % links.count
                if mayAsk(index), askNext(index) { isMoving = true }
            }
        }
    }

    private mutating func askNext(_ index: Int) -> Bool {
        if askHashes(index) { return true }
        let isLargeFirst =
            planner.canSendPersonal(links[index].device) && links[index].small.first()?.isPersonal != true
        return isLargeFirst ? askChunks(index) || askSmall(index) : askSmall(index) || askChunks(index)
    }

    private mutating func askChunks(_ index: Int) -> Bool {
        let chunk = BlobLayout.chunkBytes
        let room = room(index)
        guard room >= chunk else { return false }
        let device = links[index].device
        // A slow peer is asked only for what no other peer can send.
        let others = links[index].isSlow(at: now) ? quickDevices(but: device) : []
        let tokens = downloads.map { Int(clamping: max(1, $0.level / Int64(chunk))) } ?? .max
        let limit = min(configuration.bounds.requestChunks, room / chunk, tokens)
        if downloads?.holds(chunk) == false {
            downloadAt = downloads?.time(of: chunk)
            return false
        }
        guard let (blob, chunks) = planner.next(from: device, limit: limit, before: others) else { return false }
        ask(index, blob, chunks)
        if configuration.faults.contains(.askTwice) {
            for other in links.indices where other != index && links[other].state == .up {
                if planner.holds(links[other].device, blob, chunk: chunks.lowerBound) {
                    ask(other, blob, chunks)
                }
            }
        }
        return true
    }

    private mutating func ask(_ index: Int, _ blob: BlobName, _ chunks: Range<Int>) {
        let bytes = chunks.reduce(0) { $0 + blob.layout.range(of: $1).count }
        downloads?.take(bytes)
        reserve(index, bytes)
        let id = open(index, .chunks(blob, next: chunks.lowerBound, end: chunks.upperBound))
        send(
            index,
            .request(
                BulkFrame.Request(
                    id: id, space: configuration.space, blob: blob, first: UInt32(chunks.lowerBound),
                    count: UInt32(chunks.count))))
    }

    /// Asks the peer for small blobs that it holds, best first.
    private mutating func askSmall(_ index: Int) -> Bool {
        guard isWorthAsking(index) else { return false }
        let (bounds, device) = (configuration.bounds, links[index].device)
        let room = min(room(index), bounds.smallRequestBytes)
        // Many in one request are worth a wait for what is under way.
        guard room >= bounds.smallRequestBytes / 2 || links[index].flightBytes == 0 else { return false }
        let others = links[index].isSlow(at: now) ? quickDevices(but: device) : []
        var (blobs, bytes, kept) = ([BlobName](), 0, [FetchRank]())
        while blobs.count < BulkLimits.blobsPerFrame, kept.count < BulkLimits.blobsPerFrame,
            let rank = links[index].small.popFirst()
        {
            guard let want = wants[rank.blob], want.stage == .waiting, want.holders[device] != nil, want.rank == rank
            else { continue }
            if refusals.blocks(rank) {
                refusals.tooLarge.insert(rank.blob)
                continue
            }
            if others.contains(where: { want.holders[$0] != nil }) {
                kept.append(rank)
                continue
            }
            guard bytes + rank.blob.weight <= room, takeTokens(rank.blob.weight) else {
                kept.append(rank)
                break
            }
            bytes += rank.blob.weight
            blobs.append(rank.blob)
        }
        for rank in kept { links[index].small.insert(rank) }
        guard !blobs.isEmpty else { return false }
        reserve(index, bytes)
        let id = open(index, .small(blobs, came: ChunkSet(count: blobs.count)))
        if !configuration.faults.contains(.askTwice) {
            for blob in blobs { wants[blob]?.stage = .asked(links[index].id) }
        }
        send(index, .smallRequest(BulkFrame.SmallRequest(id: id, space: configuration.space, blobs: blobs)))
        return true
    }

    /// True if a request is worth sending now. Holdings come one by one, requests are for many: while one is open, few wait
    /// for more (as in Nagle, RFC 896). No more than two are open, so that a quick peer leaves some to others.
    private func isWorthAsking(_ index: Int) -> Bool {
        let queue = links[index].small
        guard !queue.isEmpty else { return false }
        let open = links[index].asks.values.reduce(0) { count, ask in
            if case .small = ask.subject { count + 1 } else { count }
        }
        let isMany = queue.count >= 128 || queue.byteCount >= UInt64(configuration.bounds.smallRequestBytes / 2)
        return open == 0 || open == 1 && isMany
    }

    mutating func open(_ index: Int, _ subject: BulkAsk.Subject) -> UInt64 {
        lastAskID += 1
        if links[index].asks.isEmpty { (links[index].lastProgressAt, links[index].lastReceivedAt) = (now, now) }
        links[index].asks[lastAskID] = BulkAsk(subject: subject, sentAt: now)
        links[index].lastAskID = lastAskID
        links[index].lastUseAt = now
        counters.requestsSent += 1
        return lastAskID
    }

    func quickDevices(but device: DeviceID) -> [DeviceID] {
        links.filter { $0.state == .up && $0.device != device && !$0.isSlow(at: now) }.map(\.device)
    }
}
