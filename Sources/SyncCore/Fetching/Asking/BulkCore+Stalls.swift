import SyncModel

// What is taken back from peers that do not get on, and when nothing is read at all.
extension BulkCore {
    // MARK: Taking back

    /// Tells the peer to send no more of the request; other peers are asked.
    mutating func cancel(_ index: Int, _ id: UInt64) {
        guard let ask = links[index].asks[id] else { return }
        // It answers nothing at all, or it would be known that nothing more comes of the first.
        guard links[index].cancelled.count < 16 * BulkLimits.openRequests else { return close(index, .suspected) }
        counters.requestsCancelled += 1
        links[index].cancelled[id] = CancelledAsk(subject: ask.subject, lastAskID: lastAskID)
        takeBack(index, id)
        send(index, .cancel(BulkFrame.Cancel(id: id)))
    }

    /// Cancels a request whose answer will not come: other peers may be asked.
    mutating func takeBack(_ index: Int, _ id: UInt64) {
        guard let ask = links[index].asks.removeValue(forKey: id) else { return }
        let connection = links[index].id
        switch ask.subject {
        case .chunks(let blob, let next, let end):
            for chunk in next..<end {
                let bytes = blob.layout.range(of: chunk).count
                release(connection, bytes)
                downloads?.giveBack(bytes)
                if work[blob]?.writing.contains(chunk) != true { planner.release(blob, chunk: chunk) }
            }
        case .hashes(let blob):
            guard let want = wants[blob], want.stage == .askingHashes(connection) else { return }
            // With none collected nothing is held, and what was set aside for them is free for another blob.
            if work[blob]?.hashes.isEmpty != false { dropHashes(blob, want) }
            wants[blob]?.stage = .lackingHashes
            dropUnsent(blob)
        case .small(let blobs, let came):
            for place in blobs.indices where !came.contains(place) {
                release(connection, blobs[place].weight)
                downloads?.giveBack(blobs[place].weight)
                giveUp(blobs[place], askedOf: connection)
            }
        }
    }

    // MARK: Peers that do not get on

    func stallAt(_ link: BulkLink) -> Tick? {
        link.asks.isEmpty || !link.isReading ? nil : link.lastProgressAt + configuration.timing.stall
    }

    /// The time at which a connection that brings no answers is closed; nil while nothing is asked or it is not read.
    func silenceAt(_ link: BulkLink) -> Tick? {
        guard !link.asks.isEmpty, link.isReading else { return nil }
        let silences = peerIndex(link.device).map { peers[$0].silences } ?? 0
        let span = configuration.timing.silence.nanoseconds << Int64(min(silences, 4))
        return link.lastReceivedAt + Tick.Span(nanoseconds: span)
    }

    func hashDeadline(_ link: BulkLink) -> Tick? {
        link.asks.values.lazy.compactMap { ask in
            if case .hashes = ask.subject { ask.sentAt + configuration.timing.hashDeadline } else { nil }
        }.min()
    }

    mutating func passStalls() {
        for index in links.indices where links[index].state == .up {
            if let at = silenceAt(links[index]), now >= at {
                endSilent(index)
                continue
            }
            passHashDeadlines(index)
            guard let at = stallAt(links[index]), now >= at else { continue }
            if !links[index].isSlow(at: now) { effects.append(.report(.slow(links[index].device))) }
            links[index].slowUntil = now + configuration.timing.slowPause
            links[index].windowBytes = max(BlobLayout.chunkBytes, links[index].windowBytes / 2)
            links[index].lastProgressAt = now
            let others = quickDevices(but: links[index].device)
            // What no other peer has may still come from this one.
            for id in links[index].asks.keys.sorted() {
                if othersHave(links[index].asks[id], others) { cancel(index, id) }
            }
        }
    }

    /// The other end is gone, or hangs; a new connection finds out.
    private mutating func endSilent(_ index: Int) {
        let device = links[index].device
        close(index, .suspected)
        guard let peer = peerIndex(device) else { return }
        peers[peer].silences += 1
        pauseDialling(peer)
    }

    /// Ends requests for hashes that are overdue. Hashes of chunks come at once, and few blobs can wait for them at a time,
    /// so no peer may withhold them.
    private mutating func passHashDeadlines(_ index: Int) {
        let late = links[index].asks.filter { _, ask in
            if case .hashes = ask.subject { now >= ask.sentAt + configuration.timing.hashDeadline } else { false }
        }
        for (id, ask) in late.sorted(by: { $0.key < $1.key }) {
            guard case .hashes(let blob) = ask.subject else { continue }
            cancel(index, id)
            if let want = wants[blob] { dropHashes(blob, want) }
            loseHolder(blob, links[index].device)
        }
    }

    private func othersHave(_ ask: BulkAsk?, _ others: [DeviceID]) -> Bool {
        switch ask?.subject {
        case nil: false
        case .chunks(let blob, let next, _): others.contains { planner.holds($0, blob, chunk: next) }
        case .hashes(let blob): others.contains { wants[blob]?.holders[$0] != nil }
        case .small(let blobs, let came):
            blobs.indices.contains { place in
                !came.contains(place) && others.contains { wants[blobs[place]]?.holders[$0] != nil }
            }
        }
    }

    /// Records progress: something that was asked for came.
    mutating func recordProgress(_ index: Int, _ id: UInt64, _ sentAt: Tick, bytes: Int) {
        links[index].lastProgressAt = now
        links[index].slowUntil = nil
        if let peer = peerIndex(links[index].device) { peers[peer].silences = 0 }
        if !links[index].cancelled.isEmpty {
            links[index].cancelled = links[index].cancelled.filter { $0.value.lastAskID >= id }
        }
        let brisk = configuration.timing.brisk.nanoseconds
        let took = (now - sentAt).nanoseconds
        if took <= brisk {
            links[index].windowBytes = min(configuration.bounds.peerWindowBytes, links[index].windowBytes + bytes)
        } else if took >= 4 * brisk {
            links[index].windowBytes = max(BlobLayout.chunkBytes, links[index].windowBytes - bytes)
        }
    }

    // MARK: Memory

    /// Stops reading while more bytes wait for the disk than may. Only answers to cancelled requests can exceed what was
    /// asked for.
    mutating func planReading() {
        let most = configuration.bounds.windowBytes
        for index in links.indices where links[index].state == .up {
            let reads = links[index].isReading ? unwrittenBytes <= most : unwrittenBytes <= most / 2
            guard reads != links[index].isReading else { continue }
            links[index].isReading = reads
            (links[index].lastProgressAt, links[index].lastReceivedAt) = (now, now)
            effects.append(.setReading(links[index].id, reads))
        }
    }
}
