import SyncCore
import SyncModel
import SyncStore

// The work of users and applications with the bytes of attachments.
extension World {
    enum BlobWork {
        case sweep
        case changePolicy
        case fetch
        case endFetch(BlobName)
        /// The file that filled the disk is removed.
        case freeDisk
    }

    mutating func perform(_ node: Int, _ work: BlobWork) {
        guard nodes[node].blobs?.core != nil else { return }
        switch work {
        case .freeDisk: break
        case .sweep: sweep(node)
        case .changePolicy: changePolicy(node)
        case .fetch: fetchForPerson(node)
        case .endFetch(let blob): endFetch(node, blob)
        }
    }

    // MARK: Adding

    /// The bytes of what is about to be attached are durable before any record names them. A write whose bytes found no
    /// room is given up, as its application would have been told.
    mutating func addingBytes(_ node: Int, _ writes: [LocalWrite]) -> [LocalWrite] {
        guard nodes[node].blobs != nil else { return writes }
        return writes.filter { write in
            guard case .planned(let steps, row: _) = write else { return true }
            return steps.allSatisfy { step in
                guard case .attach(_, let file) = step else { return true }
                return add(node, file.blob)
            }
        }
    }

    /// - Returns: false when it was refused, or the machine did not outlive it.
    private mutating func add(_ node: Int, _ blob: BlobName) -> Bool {
        guard let content = BlobContent.byName[blob] else { return true }
        let isHere = onDisk(node) { _, store in (try? store.add([content.bytes])) == [blob] }
        guard isHere == true else { return false }
        recordKept(node, blob)
        stepBulk(node, .unwanted(blob))
        stepBulk(node, .holdingChanged(blob))
        return nodes[node].isUp
    }

    // MARK: What should be here

    private mutating func changePolicy(_ node: Int) {
        guard let records = nodes[node].store, let store = nodes[node].blobs?.store else { return }
        let blob = blobContents[Int.random(in: blobContents.indices, using: &blobRandom)].name
        // A disk of records that refuses leaves all as it was.
        switch Int.random(in: 0..<8, using: &blobRandom) {
        case 0: try? records.setFetchPolicy(.onDemand, space: .home)
        case 1: try? records.setFetchPolicy(.upTo(UInt64(BulkLimits.smallBytes)), space: .home)
        case 2: try? records.setFetchPolicy(.upTo(UInt64(2 * BlobLayout.chunkBytes)), space: .home)
        case 3: _ = try? records.pin(blob, space: .home)
        case 4: _ = try? records.unpin(blob, space: .home)
        case 5:
            let quota = UInt64.random(in: 0...3 << 20, using: &blobRandom)
            if (try? records.setQuota(quota, space: .home)) != nil { store.setQuota(quota) }
        case 6: if (try? records.setQuota(nil, space: .home)) != nil { store.setQuota(nil) }
        case _: try? records.setFetchPolicy(.all, space: .home)
        }
        trace.record(now, node, "wants \((try? records.fetchPolicy(of: .home)) ?? .all) of all blobs")
        stepBulk(node, .missingChanged)
        stepBulk(node, .roomChanged)
    }

    /// A person asks for one that is named and not here, whatever the policy.
    mutating func fetchForPerson(_ node: Int) {
        guard let records = nodes[node].store, let store = nodes[node].blobs?.store else { return }
        let missing = blobContents.compactMap { content -> BlobWant? in
            guard (try? store.status(of: content.name)) != .whole,
                let found = try? records.missingBlob(content.name, space: .home)
            else { return nil }
            return BlobWant(found)
        }
        guard let want = missing.randomElement(using: &blobRandom) else { return }
        trace.record(now, node, "is asked for \(want.blob.shortName)")
        nodes[node].blobs?.awaited.insert(want.blob)
        stepBulk(node, .fetch(want))
        // Some people wait for long.
        guard isFaulty, Int.random(in: 0..<2, using: &blobRandom) == 0 else { return }
        let patience = Int64.random(in: 1...30_000, using: &blobRandom) * 1_000_000
        queue.plan(
            .blobWork(node: node, generation: nodes[node].generation, .endFetch(want.blob)), at: now + patience)
    }

    private mutating func endFetch(_ node: Int, _ blob: BlobName) {
        nodes[node].blobs?.awaited.remove(blob)
        stepBulk(node, .endFetch(blob))
    }

    // MARK: Upkeep

    private mutating func sweep(_ node: Int) {
        let before = looks(node, .swept)
        let swept = onDisk(node) { _, store in
            // Refused by a disk that fails: what was removed by then is gone.
            try? store.sweep()
        }
        guard swept != nil, failure == nil else { return }
        let after = looks(node, .swept)
        check { $0.swept(before: before, after: after) }
        for (old, new) in zip(before, after) where old.status != .missing && new.status == .missing {
            trace.record(now, node, "removes \(old.content.name.shortName)")
            stepBulk(node, .holdingChanged(old.content.name))
        }
        stepBulk(node, .roomChanged)
    }

    /// Reads all of it, as `doctor --deep` does.
    mutating func examine(_ node: Int) {
        guard let check = onDisk(node, { _, store in try? store.checkAll() }) ?? nil else { return }
        for input in afterDamage(check.damaged) { stepBulk(node, input) }
    }
}
