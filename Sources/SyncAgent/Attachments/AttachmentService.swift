import Logging
import NIOCore
package import SyncCore
package import SyncModel
package import SyncStore

/// The bytes of attachments, for the control server: they stream in, are fetched from peers, and stream out.
///
/// Blocking work runs on threads of its own; the bulk loop hears of everything that concerns peers. Records are the store's
/// matter, not this one's.
package final class AttachmentService: Sendable {
    package let blobs: BlobStore
    private let store: StoreDriver
    private let driver: BlobDriver
    private let inlet: BulkInlet
    private let arrivals: Arrivals
    /// The thread of the readers: a chunk at a time, so that none waits long.
    private let reading = BlobThread()
    private let upkeep = BlobUpkeep()

    init(driver: BlobDriver, arrivals: Arrivals) {
        blobs = driver.blobs
        store = driver.store
        inlet = driver.inlet
        self.driver = driver
        self.arrivals = arrivals
    }

    // MARK: Bytes in and out

    /// Begins a blob whose bytes stream in. Durable once `AttachmentUpload.finish` returned, and kept for the grace period
    /// if nothing is attached by then.
    ///
    /// - Parameter size: in bytes; nil if unknown before the end. With it, a blob that has no room is refused before a byte is
    ///   read.
    /// - Throws: `tooLarge`, `quotaExceeded`, `diskFull`, `store`.
    package func begin(size: UInt64?) async throws(BlobError) -> AttachmentUpload {
        // A thread each: one that waits for the disk does not keep the others waiting.
        let thread = BlobThread()
        let addition = try await thread.run { [blobs] () throws(BlobError) in try blobs.beginAdding(size: size) }
        return AttachmentUpload(addition, thread: thread) { [arrivals, inlet] blob in
            arrivals.arrived(blob.name)
            inlet.tell([.unwanted(blob.name), .holdingChanged(blob.name)])
        }
    }

    /// A blob that is here as a whole, to be attached once more: kept for the grace period from now on.
    ///
    /// - Throws: `notHere`, `damaged`, `inputOutput`, `unreadable`, `store`.
    package func kept(_ blob: BlobName) async throws(BlobError) -> UploadedBlob {
        try await reading.run { [blobs] () throws(BlobError) in
            guard try blobs.touch(blob) else { throw .notHere(blob) }
            var reader = try blobs.open(blob)
            let head = reader.layout.chunkCount > 0 ? try reader.read(0).prefix(UploadedBlob.headBytes) : []
            return UploadedBlob(name: blob, head: Array(head))
        }
    }

    /// Opens a blob that is here as a whole.
    ///
    /// - Throws: `notHere`, `damaged`, `inputOutput`, `unreadable`, `store`.
    package func open(_ blob: BlobName) async throws(BlobError) -> AttachmentDownload {
        do throws(BlobError) {
            let reader = try await reading.run { [blobs] () throws(BlobError) in try blobs.open(blob) }
            return AttachmentDownload(reader, thread: reading) { [self] blob in handleDamaged([blob]) }
        } catch {
            if case .damaged(let blob) = error { handleDamaged([blob]) }
            throw error
        }
    }

    /// Returns the stored part of the blob, as last made durable; `progress` is fresher while the blob arrives.
    package func status(of blob: BlobName) async throws(BlobError) -> BlobStatus {
        try await reading.run { [blobs] () throws(BlobError) in try blobs.status(of: blob) }
    }

    /// Records that another component found the blob unreadable.
    func handleUnreadable(_ blob: BlobName) { handleDamaged([blob]) }

    private func handleDamaged(_ damaged: [BlobName]) {
        guard !damaged.isEmpty else { return }
        inlet.tell(damaged.map { .holdingChanged($0) } + [.missingChanged])
    }

    // MARK: Fetching

    /// Returns when the blob is here as a whole. It comes before all blobs without a waiting caller, whatever the policy. Ends
    /// early with its task; the part that came stays.
    ///
    /// - Parameter progress: called from time to time.
    package func fetch(
        _ want: BlobWant, progress: @Sendable (BlobProgress) -> Void = { _ in }
    ) async throws(FetchError) {
        let (id, news) = arrivals.wait(for: want.blob)
        defer {
            arrivals.leave(id, want.blob)
            // Another caller may have begun to wait meanwhile.
            inlet.tell(.endFetch(want.blob)) { [arrivals] in !arrivals.isAwaited(want.blob) }
        }
        // Checked after the wait is registered, so that the blob cannot arrive unseen between the two.
        if case .whole? = try? await status(of: want.blob) { return }
        inlet.tell(.fetch(want))
        for await item in news {
            switch item {
            case .progress(let now): progress(now)
            case .here: return
            case .failed(let error): throw error
            }
        }
        throw .cancelled
    }

    /// Returns the progress of all blobs that arrive now.
    package func transfers() -> [BlobProgress] { arrivals.all }

    /// Returns the progress of the blob; nil while nothing of it arrives.
    package func progress(of blob: BlobName) -> BlobProgress? { arrivals.progress(of: blob) }

    // MARK: What should be here

    /// Sets the policy; durable when it returns. Blobs that it wants are fetched from then on.
    package func setPolicy(_ policy: FetchPolicy, space: SpaceID) async throws(StoreError) {
        try await change { store throws(StoreError) in try store.setFetchPolicy(policy, space: space) }
    }

    /// - Parameter bytes: the most bytes of all blobs; nil: as much as the disk holds. Stored blobs stay.
    package func setQuota(_ bytes: UInt64?, space: SpaceID) async throws(StoreError) {
        try await change { [blobs] store throws(StoreError) in
            try store.setQuota(bytes, space: space)
            blobs.setQuota(bytes)
        }
        inlet.tell(.roomChanged)
    }

    /// Pins the blob: it is fetched whatever the policy says, and stays.
    ///
    /// - Returns: false if no record names it.
    @discardableResult
    package func pin(_ blob: BlobName, space: SpaceID) async throws(StoreError) -> Bool {
        try await change { store throws(StoreError) in try store.pin(blob, space: space) }
    }

    /// - Returns: false if it was not pinned.
    @discardableResult
    package func unpin(_ blob: BlobName, space: SpaceID) async throws(StoreError) -> Bool {
        try await change { store throws(StoreError) in try store.unpin(blob, space: space) }
    }

    /// The store first, then the core hears.
    private func change<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteStore) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let value = try await store.update(body)
        inlet.tell(.missingChanged)
        return value
    }

    // MARK: Upkeep

    /// Removes blobs that no record has named for the grace period, and files without a record.
    ///
    /// - Throws: `inputOutput`, `unreadable`, `diskFull`, `store`. Blobs that were removed by then are gone.
    package func sweep() async throws(BlobError) -> BlobSweep {
        handleFreed(try await upkeep.sweep(blobs))
    }

    /// Sweeps like `sweep`, and gives the database's empty pages back to the file system.
    package func compact() async throws(BlobError) -> BlobSweep {
        handleFreed(try await upkeep.compact(blobs))
    }

    /// Tells the bulk loop after a sweep that a blob refused for lack of room may fit now.
    private func handleFreed(_ sweep: BlobSweep) -> BlobSweep {
        if sweep.freedBytes > 0 { inlet.tell(.roomChanged) }
        return sweep
    }

    /// Reads and hashes every blob. Bad ones count as missing from then on, and are fetched again. Ends early with its task.
    ///
    /// - Parameter progress: called after each blob, on another thread.
    /// - Throws: `store`, `diskFull`: nothing can be noted.
    package func checkAll(
        progress: @escaping @Sendable (BlobCheck) -> Void = { _ in }
    ) async throws(BlobError) -> BlobCheck {
        let check = try await upkeep.checkAll(blobs, progress)
        handleDamaged(check.damaged)
        return check
    }

    /// Removes the remains of a crash, and sweeps now and once an hour.
    func start(on eventLoop: any EventLoop, journal: AgentJournal, logger: Logger) {
        upkeep.start(on: eventLoop, journal: journal) { [self] () async throws(BlobError) in
            let sweep = try await sweep()
            guard sweep.freedBytes > 0 else { return }
            logger.info("Blobs that nothing needs were removed.", metadata: ["freed.bytes": "\(sweep.freedBytes)"])
        }
    }

    /// Ends all waits. Returns when the threads are idle; to be called before the store closes.
    func stop() {
        arrivals.stop()
        blobs.endScans()
        upkeep.stop()
        reading.finish()
        driver.stop()
    }
}
