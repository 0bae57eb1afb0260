import SyncModel

// Chunks: what came is written, and counts once the disk has said what it is.
extension BulkCore {
    mutating func handleBegun(_ blob: BlobName, _ present: ChunkSet) {
        guard let want = wants[blob] else { return }
        switch want.stage {
        case .beginning: break
        case .proving: dropHashes(blob, want)
        case .waiting, .asked, .writing, .lackingHashes, .askingHashes, .fetching, .finishing: return
        }
        wants[blob]?.stage = .fetching
        wants[blob]?.isLookedAt = true
        wants[blob]?.refusal = nil
        work[blob]?.presentBytes = Self.bytes(of: present, blob.layout)
        planner.begin(want.rank, present: present)
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

    mutating func handleChunk(_ index: Int, _ chunk: BulkFrame.Chunk) {
        let place = Int(chunk.index)
        if let ask = links[index].asks[chunk.id] {
            guard case .chunks(let blob, let next, let end) = ask.subject, place == next else {
                return offend(index, .unsolicited)
            }
            guard wants[blob] != nil, blob.layout.has(chunk.bytes, at: place) else {
                return offend(index, .badChunk)
            }
            links[index].asks[chunk.id]?.subject = .chunks(blob, next: next + 1, end: end)
            if next + 1 == end { links[index].asks[chunk.id] = nil }
            recordProgress(index, chunk.id, ask.sentAt, bytes: chunk.bytes.count)
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

    private func isNeeded(_ blob: BlobName, _ chunk: Int) -> Bool {
        guard let present = planner.present(blob) else { return false }
        return !present.contains(chunk) && work[blob]?.writing.contains(chunk) == false
    }

    /// Takes a chunk of a request that was cancelled, if it is still missing and there is room for it.
    private mutating func takeLate(_ index: Int, _ blob: BlobName, _ chunk: Int, _ bytes: [UInt8]) {
        counters.chunksReceived += 1
        links[index].lastProgressAt = now
        links[index].slowUntil = nil
        guard isNeeded(blob, chunk), blob.layout.has(bytes, at: chunk),
            !isLiar(links[index].device, about: blob),
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

    private mutating func write(_ index: Int, _ blob: BlobName, _ chunk: Int, _ bytes: [UInt8]) {
        let link = links[index]
        work[blob]?.writing.insert(chunk)
        writes[blob, default: [:]][chunk] = BulkWrite(connection: link.id, device: link.device, bytes: bytes.count)
        unwrittenBytes += bytes.count
        effects.append(.write(blob, chunk: chunk, bytes))
    }

    mutating func handleChunkWritten(_ blob: BlobName, _ chunk: Int, _ outcome: ChunkOutcome) {
        guard let write = writes[blob]?.removeValue(forKey: chunk) else { return }
        if writes[blob]?.isEmpty == true { writes[blob] = nil }
        unwrittenBytes -= write.bytes
        release(write.connection, write.bytes)
        // It may have been put aside, and begun again, since.
        let isAtWork = work[blob]?.writing.remove(chunk) != nil
        switch outcome {
        case .right:
            refusals.recordSuccess()
            wants[blob]?.refusal = nil
            guard isAtWork, planner.came(blob, chunk: chunk) else { return }
            work[blob]?.presentBytes += UInt64(write.bytes)
            work[blob]?.untoldChunks += 1
            reportProgress(of: blob)
            finishIfWhole(blob)
        case .wrong:
            counters.chunksWrong += 1
            releaseUnlessAsked(blob, chunk)
            lied(write.device, blob)
        case .refused(let code):
            releaseUnlessAsked(blob, chunk)
            // What it was put aside for was said of the first.
            if isAtWork { refuseBytes(blob, code) }
        }
    }

    /// Releases a chunk whose bytes are not kept, unless another peer has been asked for it: the bytes may be a late answer
    /// to a request that was cancelled.
    private mutating func releaseUnlessAsked(_ blob: BlobName, _ chunk: Int) {
        let isAsked = links.contains { link in
            link.asks.values.contains { ask in
                if case .chunks(blob, let next, let end) = ask.subject { (next..<end).contains(chunk) } else { false }
            }
        }
        if !isAsked { planner.release(blob, chunk: chunk) }
    }

    static func bytes(of present: ChunkSet, _ layout: BlobLayout) -> UInt64 {
        let last = layout.chunkCount - 1
        guard last >= 0 else { return 0 }
        let whole = UInt64(present.presentCount) * UInt64(BlobLayout.chunkBytes)
        return present.contains(last) ? whole - UInt64(BlobLayout.chunkBytes - layout.range(of: last).count) : whole
    }
}

extension BlobLayout {
    /// True if the chunk may have this number of bytes.
    fileprivate func has(_ bytes: [UInt8], at chunk: Int) -> Bool {
        chunk < chunkCount && range(of: chunk).count == bytes.count
    }
}
