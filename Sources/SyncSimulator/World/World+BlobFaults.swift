import SyncCore
import SyncModel
import SyncStore

// The faults of disks with blobs, and of connections that carry them.
extension World {
    enum BlobFault: CaseIterable {
        case disk
        case death
        case rot
        case lie
        case reset
    }

    mutating func planBlobs(until end: Int64) {
        guard let blobs = options.blobs else { return }
        func moments(_ perMinute: Double) -> [Int64] {
            let count = Int((perMinute * Double(options.safetySeconds) / 60).rounded())
            return (0..<count).map { _ in Int64.random(in: 0..<end, using: &blobRandom) }
        }
        let faults: [(BlobFault, Double)] = [
            (.disk, blobs.diskFaultsPerMinute), (.death, blobs.deathsPerMinute), (.rot, blobs.rotPerMinute),
            (.lie, blobs.liesPerMinute), (.reset, blobs.resetsPerMinute),
        ]
        for (fault, rate) in faults {
            for moment in moments(rate) { queue.plan(.blobFault(fault), at: moment) }
        }
        let work: [(BlobWork, Double)] = [
            (.changePolicy, blobs.policyChangesPerMinute), (.fetch, blobs.personalFetchesPerMinute),
            (.sweep, 60_000 * Double(nodes.count) / Double(blobs.sweepMilliseconds)),
        ]
        for (work, rate) in work {
            for moment in moments(rate) {
                let node = Int.random(in: nodes.indices, using: &blobRandom)
                queue.plan(.blobWork(node: node, generation: nil, work), at: moment)
            }
        }
    }

    mutating func inflict(_ fault: BlobFault) {
        let up = nodes.indices.filter { nodes[$0].blobs?.core != nil }
        guard isFaulty, let node = up.randomElement(using: &blobRandom), let folder = nodes[node].blobs?.folder else {
            return
        }
        switch fault {
        case .disk: if nodes[node].blobs?.dies == nil { fillOrFail(node, folder) }
        case .death:
            let losesPower = Int.random(in: 0..<100, using: &blobRandom) < max(30, options.powerLossPercent)
            nodes[node].blobs?.dies = losesPower ? .power : .process
            end(folder, losingPower: losesPower)
        case .rot: rot(node, folder)
        case .lie:
            nodes[node].blobs?.liesUntil = now + Int64.random(in: 5_000...40_000, using: &blobRandom) * 1_000_000
            trace.record(now, node, "begins to lie")
        case .reset: resetBulk()
        }
    }

    /// Plans the last step of a process. Few steps are syncs or removals, so those are among the choices by themselves: drawn
    /// as steps they would hardly ever come.
    private mutating func end(_ folder: CrashFolder, losingPower: Bool) {
        let step = folder.attempts + Int.random(in: 0..<10, using: &blobRandom)
        switch losingPower ? 0 : Int.random(in: 0..<4, using: &blobRandom) {
        case 0: folder.die(at: step)
        case 1: folder.dieAfterRemoval()
        // The disk fails, and the process ends before it can do anything about it.
        case 2: folder.fail(.inputOutput(code: 5), at: step..<step + 1)
        default: folder.failSyncs(.inputOutput(code: 5))
        }
    }

    private mutating func fillOrFail(_ node: Int, _ folder: CrashFolder) {
        if Int.random(in: 0..<2, using: &blobRandom) == 0 {
            folder.setFreeBytes(UInt64.random(in: 0...UInt64(2 * BlobLayout.chunkBytes), using: &blobRandom))
            trace.record(now, node, "has no room for blobs")
            let length = Int64.random(in: 200...15_000, using: &blobRandom) * 1_000_000
            queue.plan(.blobWork(node: node, generation: nil, .freeDisk), at: now + length)
        } else {
            let first = folder.attempts + Int.random(in: 0..<4, using: &blobRandom)
            let error: BlobError = Int.random(in: 0..<2, using: &blobRandom) == 0 ? .diskFull : .inputOutput(code: 5)
            folder.fail(error, at: first..<first + Int.random(in: 1...3, using: &blobRandom))
        }
    }

    /// A bit of a file turns over.
    private mutating func rot(_ node: Int, _ folder: CrashFolder) {
        let names = blobContents.flatMap { [BlobFileName.whole($0.name.hash), .partial($0.name.hash)] }
        let there = names.compactMap { name in folder.bytes(of: name).map { (name: name, byteCount: $0.count) } }
        guard let file = there.filter({ $0.byteCount > 0 }).randomElement(using: &blobRandom) else { return }
        folder.rot(file.name, at: Int.random(in: 0..<file.byteCount, using: &blobRandom))
        switch file.name {
        case .whole(let hash), .partial(let hash):
            nodes[node].blobs?.rotten.insert(hash)
            trace.record(now, node, "has a bad sector in \(hash.shortName)")
        case .adding: break
        }
    }

    private mutating func resetBulk() {
        let open = links.indices.filter {
            links[$0].isBulk && !links[$0].dialer.isClosed && !links[$0].acceptor.isClosed
        }
        if let number = open.randomElement(using: &blobRandom) { reset(number) }
    }

    // MARK: On the way

    /// Returns what a lying node sends in place of a frame: bytes of the right length that are not those requested.
    mutating func lie(_ node: Int, instead frame: BulkFrame) -> BulkFrame {
        guard isFaulty, let blobs = nodes[node].blobs, blobs.liesUntil > now else { return frame }
        func bent(_ bytes: [UInt8]) -> [UInt8] {
            guard !bytes.isEmpty, Bool.random(using: &blobRandom) else { return bytes }
            var bent = bytes
            bent[Int.random(in: bent.indices, using: &blobRandom)] ^= 1 << UInt8.random(in: 0..<8, using: &blobRandom)
            return bent
        }
        switch frame {
        case .chunk(var chunk):
            chunk.bytes = bent(chunk.bytes)
            return .chunk(chunk)
        case .hashes(var hashes):
            hashes.bytes = bent(hashes.bytes)
            return .hashes(hashes)
        case .smallBlobs(var blobs):
            for index in blobs.blobs.indices { blobs.blobs[index].bytes = bent(blobs.blobs[index].bytes) }
            return .smallBlobs(blobs)
        case .hello, .want, .unwant, .holding, .hashesRequest, .request, .cancel, .smallRequest, .refusal, .goodbye:
            return frame
        }
    }

    // MARK: Ends of processes, and of faults

    /// The process is gone, and perhaps what was not synced.
    mutating func crashBlobs(_ node: Int, losingPower: Bool) {
        guard var blobs = nodes[node].blobs else { return }
        blobs.store = nil
        blobs.core = nil
        blobs.partials = [:]
        blobs.wakeAt = nil
        blobs.writesFreeAt = 0
        blobs.readsFreeAt = 0
        blobs.answersAfter = 0
        blobs.dies = nil
        blobs.awaited = []
        blobs.folder.heal()
        if losingPower {
            let loss = FolderReplay.Loss.allCases.randomElement(using: &blobRandom) ?? .losesAll
            let freeBytes = blobs.folder.freeBytes
            let found = blobs.folder.disk.afterPowerLoss(loss, seed: blobRandom.next())
            blobs.folder = CrashFolder(found, nil)
            blobs.folder.setFreeBytes(freeBytes)
        }
        blobs.needs.set(nil, blobs.folder)
        nodes[node].blobs = blobs
    }

    /// Heals the disk and ends lies; most users want every blob again.
    mutating func healBlobs(_ node: Int) {
        guard let blobs = nodes[node].blobs else { return }
        blobs.folder.heal()
        blobs.folder.setFreeBytes(nil)
        nodes[node].blobs?.dies = nil
        nodes[node].blobs?.liesUntil = 0
        guard let records = nodes[node].store, let store = blobs.store else { return }
        // Records can be written by now.
        try? records.setQuota(nil, space: .home)
        store.setQuota(nil)
        if options.blobs?.keepsPolicies == false { try? records.setFetchPolicy(.all, space: .home) }
        if !blobs.rotten.isEmpty { examine(node) }
        stepBulk(node, .missingChanged)
        stepBulk(node, .roomChanged)
        fetchForPerson(node)
    }
}
