import SyncCore
import SyncModel
import SyncStore

// Looking at disks of blobs past the store that keeps them, and waiting until bytes are where they should be.
extension World {
    /// The time after the heal within which every wanted blob that a node holds must be there.
    private static let blobPatienceNanoseconds: Int64 = 240_000_000_000

    mutating func lookAt(_ node: Int, _ blob: BlobName, _ occasion: BlobLook.Occasion) {
        guard failure == nil else { return }
        guard let content = BlobContent.byName[blob] else { return lookAtFalseName(node, blob) }
        guard let look = look(node, content, occasion, missing: []) else { return }
        check { $0.lookedAt(look) }
    }

    /// Fails if the store has any of a blob that no bytes are: the hash is that of a known content, and the size is another.
    private mutating func lookAtFalseName(_ node: Int, _ blob: BlobName) {
        guard BlobContent.all.contains(where: { $0.name.hash == blob.hash }),
            let status = try? nodes[node].blobs?.store?.status(of: blob), status != .missing
        else { return }
        fail(
            "names are true",
            "node \(node) has \(status) of \(blob.hash.bytes.hexadecimal), as if it had \(blob.size) bytes")
    }

    mutating func lookAtAll(_ node: Int, _ occasion: BlobLook.Occasion) {
        for look in looks(node, occasion) where failure == nil { check { $0.lookedAt(look) } }
    }

    mutating func looks(_ node: Int, _ occasion: BlobLook.Occasion) -> [BlobLook] {
        let missing = Set(wanted(node))
        return blobContents.compactMap { look(node, $0, occasion, missing: missing) }
    }

    /// Returns the missing blobs that policy and pins want.
    private func wanted(_ node: Int) -> [BlobName] { missing(node, except: []).map(\.blob) }

    /// Nil where nothing can be asked: no process runs.
    private mutating func look(
        _ node: Int, _ content: BlobContent, _ occasion: BlobLook.Occasion, missing: Set<BlobName>
    ) -> BlobLook? {
        guard let options = options.blobs, let blobs = nodes[node].blobs, let store = blobs.store,
            let records = nodes[node].store, let status = try? store.status(of: content.name),
            let need = try? records.need(of: content.name)
        else { return nil }
        var isRight: Bool?
        if status == .whole, occasion != .swept {
            // What has just become whole must outlive the power: looked at as a loss of it would leave it now.
            let folder =
                occasion == .kept
                ? CrashFolder(blobs.folder.disk.afterPowerLoss(.losesAll, seed: 0), nil) : blobs.folder
            isRight = Self.isRight(content, store, folder)
            // What turned over before it was written out is right on the disk, and still wrong where it is read.
            if isRight == true, occasion != .kept || Self.isRight(content, store, blobs.folder) {
                nodes[node].blobs?.rotten.remove(content.name.hash)
            }
        }
        let isWanted = missing.contains(content.name) || blobs.awaited.contains(content.name)
        return BlobLook(
            node: node, occasion: occasion, content: content, status: status, isRight: isRight,
            isRotten: nodes[node].blobs?.rotten.contains(content.name.hash) ?? false, need: need, isWanted: isWanted,
            wallMilliseconds: wall(node), graceMilliseconds: options.graceMilliseconds)
    }

    /// True if the stored bytes are right. The bytes of a file are compared directly: a read through the store hashes them,
    /// and that is what is under test.
    private static func isRight(_ content: BlobContent, _ store: BlobStore, _ folder: CrashFolder) -> Bool {
        guard content.bytes.count <= BulkLimits.smallBytes else {
            return folder.bytes(of: .whole(content.name.hash)) == content.bytes
        }
        guard var reader = try? store.open(content.name), reader.blob == content.name else { return false }
        return content.bytes.isEmpty || (try? reader.read(0)) == content.bytes
    }

    mutating func lookAtPartial(_ node: Int, _ blob: BlobName, _ present: ChunkSet) {
        guard let content = BlobContent.byName[blob] else { return lookAtFalseName(node, blob) }
        guard let blobs = nodes[node].blobs else { return }
        let look = PartialLook(
            node: node, content: content, present: present,
            found: content.chunks(in: blobs.folder.bytes(of: .partial(blob.hash)) ?? []),
            isRotten: blobs.rotten.contains(blob.hash))
        check { $0.lookedAt(look) }
    }

    // MARK: Rest

    /// True if bytes are where they should be, as far as any node has them.
    func haveBlobsConverged() -> Bool {
        guard options.blobs != nil else { return true }
        let nodes = memberNodes.map { self.nodes[$0] }
        return nodes.allSatisfy { node in
            let wanted = wanted(node.number) + (node.blobs?.awaited.sorted() ?? [])
            return wanted.allSatisfy { blob in
                !nodes.contains { (try? $0.blobs?.store?.status(of: blob)) == .whole }
            }
        }
    }

    /// Adds the blobs' state to the trace of a failed run.
    mutating func describeBlobs(_ node: SimulatedNode) {
        guard let blobs = node.blobs, let core = blobs.core else { return }
        for want in missing(node.number, except: []) {
            trace.record(now, node.number, "lacks \(want.blob.shortName)")
        }
        for blob in blobs.awaited.sorted() { trace.record(now, node.number, "is asked for \(blob.shortName)") }
        for content in blobContents where (try? blobs.store?.status(of: content.name)) == .whole {
            trace.record(now, node.number, "has \(content.name.shortName)")
        }
        for peer in core.peerViews { trace.record(now, node.number, "moves bytes: \(peer)") }
        trace.record(now, node.number, "\(core.transfers), \(core.load), \(core.counters)")
    }

    /// Called while records are at rest and bytes are not.
    mutating func checkBlobPatience(_ healedAt: Int64) {
        guard now - healedAt > Self.blobPatienceNanoseconds else { return }
        for node in nodes.indices { lookAtAll(node, .ended) }
        fail("attachments arrive", "bytes were not where they should be within 240 s")
    }

    /// The world is at rest: what is wanted is here, and what is not needed goes.
    mutating func inspectBlobs() {
        guard options.blobs != nil, failure == nil else { return }
        let ended = memberNodes.flatMap { looks($0, .ended) }
        check { $0.blobsEnded(ended) }
        for node in memberNodes where failure == nil {
            guard let blobs = nodes[node].blobs, let store = blobs.store else { continue }
            // Clocks were years off in both directions; grace is over for all of it now.
            nodes[node].wallOffsetMilliseconds = 100 * 365 * 86_400_000
            nodes[node].blobs?.partials = [:]
            do {
                blobs.clock.set(wall(node))
                _ = try store.sweep()
                _ = try store.sweepStrays()
            } catch {
                fail("removed after grace", "node \(node) cannot sweep: \(error)")
            }
            lookAtAll(node, .outlived)
            checkCount(node, store)
        }
    }

    /// Checks that the quota counts exactly the stored blobs.
    private mutating func checkCount(_ node: Int, _ store: BlobStore) {
        guard failure == nil, let usage = try? store.usage() else { return }
        let here = blobContents.filter { (try? store.status(of: $0.name)) != .missing }
        let size = here.map(\.layout.size).reduce(0, +)
        if usage.claimedBytes != size {
            fail("blobs are counted", "node \(node) counts \(usage.claimedBytes) bytes of blobs, and has \(size)")
        }
    }
}
