import SyncModel

// Hashes of chunks: collected of one peer at a time, and believed once the disk says that they come to the blob's name.
extension BulkCore {
    mutating func handleHashesMissing(_ blob: BlobName) {
        guard wants[blob]?.stage == .beginning else { return }
        wants[blob]?.stage = .lackingHashes
        wants[blob]?.isLookedAt = true
        if wants[blob]?.holders.isEmpty == true { putAside(blob) }
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
            let whole = rank.blob.layout.chunkCount * BlobHash.byteCount
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

    mutating func handleHashes(_ index: Int, _ hashes: BulkFrame.Hashes) {
        guard let ask = links[index].asks[hashes.id], case .hashes(let blob) = ask.subject else {
            return handleLateAnswer(index, hashes.id)
        }
        links[index].asks[hashes.id] = nil
        recordProgress(index, hashes.id, ask.sentAt, bytes: hashes.bytes.count)
        guard wants[blob]?.stage == .askingHashes(links[index].id) else { return }
        let whole = blob.layout.chunkCount * BlobHash.byteCount
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
        effects.append(.begin(blob, hashes: work[blob]?.hashes))
        work[blob]?.hashes = []
    }

    mutating func handleHashesWrong(_ blob: BlobName) {
        guard case .proving(let device) = wants[blob]?.stage else { return }
        disbelieve(blob, device)
    }

    private mutating func disbelieve(_ blob: BlobName, _ device: DeviceID) {
        counters.hashesWrong += 1
        if let want = wants[blob] { dropHashes(blob, want) }
        wants[blob]?.stage = .lackingHashes
        if configuration.faults.contains(.believeHashes) {
            effects.append(.report(.wrongBytes(device, blob)))
        } else {
            lied(device, blob)
        }
    }

    /// Drops partial hashes that no peer continues, so that other blobs can collect theirs.
    mutating func dropUnsent(_ blob: BlobName) {
        guard let want = wants[blob], want.stage == .lackingHashes, want.holders.isEmpty else { return }
        dropHashes(blob, want)
    }

    /// The sum that `hashBytes` keeps, computed anew.
    var countedHashBytes: Int {
        work.reduce(0) { sum, work in
            guard let want = wants[work.key], countsHashes(want) else { return sum }
            return sum + work.key.layout.chunkCount * BlobHash.byteCount
        }
    }

    private func countsHashes(_ want: BulkWantState) -> Bool {
        switch want.stage {
        case .askingHashes, .proving: true
        case .lackingHashes: work[want.want.blob]?.hashes.isEmpty == false
        case .waiting, .asked, .writing, .beginning, .fetching, .finishing: false
        }
    }

    /// Drops the hashes of a blob whose hashes the disk has, or are not collected any more.
    mutating func dropHashes(_ blob: BlobName, _ want: BulkWantState) {
        if countsHashes(want) { hashBytes -= blob.layout.chunkCount * BlobHash.byteCount }
        work[blob]?.hashes = []
    }
}
