import Synchronization
package import SyncModel

/// The bytes of attachments at rest: each blob once, under its name, small ones in the database, large ones as files.
///
/// What the database says of blobs is written by the store's own connection: there is one that writes, and a row of a record
/// and a row of a blob are asked about in one transaction. Each transaction here is short, at most `batchBytes`.
///
/// A large blob: its bytes are written and synced under another name, renamed, the folder synced, then the row. Removal: row
/// first, then the file. So a row means that the bytes are there, and a file without a row is rubbish, whenever the power
/// goes; `sweep` takes it away. What may be wrong nevertheless (a disk that rots, a person in the folder) is found by every
/// read, which checks each chunk before it hands it over.
///
/// All calls block, and are safe from any thread. Memory: a few chunks of 256 KiB per call, 32 bytes per chunk of a blob
/// that is being added or is partial.
package final class BlobStore: Sendable {
    let store: SQLiteStore
    let files: any BlobFiles
    let configuration: BlobConfiguration
    let needs: any BlobNeeds
    /// Held while a name and its row are changed together, so that no sweep removes a file that was just named. Inside
    /// it may be asked: a partial's own lock, the store, `state`. Nothing that syncs a blob's bytes.
    let naming = Mutex(())
    let readers = OpenReaders()
    private let state: Mutex<State>

    /// See `endScans`.
    let isEnding = Atomic(false)

    private struct State {
        var usage: BlobUsage
        var quotaBytes: UInt64?
        /// A transaction failed, and may have happened nevertheless.
        var mustCount = false
        var lastNumber: UInt64 = 0
        /// Files that are being written.
        var additions: Set<BlobFileName> = []
        var partials: [BlobName: WeakPartial] = [:]
        /// Partial blobs with a file that cannot be trusted: a sync of it failed.
        var spoiled: Set<BlobHash> = []
    }

    struct WeakPartial {
        weak var partial: BlobPartial?
    }

    /// Under the quota of the configuration, or else of the one space that there is.
    ///
    /// - Throws: `unreadable`, `inputOutput`, `store`.
    package init(
        _ store: SQLiteStore, files: any BlobFiles, needs: any BlobNeeds, _ configuration: BlobConfiguration
    ) throws(BlobError) {
        self.store = store
        self.files = files
        self.needs = needs
        self.configuration = configuration
        try files.prepare()
        do throws(StoreError) {
            let usage = try store.read { access throws(StoreError) in try BlobRows(access).usage() }
            var quota = configuration.quotaBytes
            if quota == nil { quota = try store.quota(of: .home) }
            state = Mutex(State(usage: usage, quotaBytes: quota))
        } catch {
            throw BlobError(error)
        }
    }

    // The database

    func read<Value>(_ body: (BlobRows) throws(StoreError) -> Value) throws(BlobError) -> Value {
        do throws(StoreError) {
            return try store.read { access throws(StoreError) in try body(BlobRows(access)) }
        } catch {
            throw BlobError(error)
        }
    }

    func update<Value: Sendable>(_ body: (BlobRows) throws(StoreError) -> Value) throws(BlobError) -> Value {
        do throws(StoreError) {
            return try store.update { access throws(StoreError) in
                let rows = BlobRows(access)
                try countAnew(rows)
                return try body(rows)
            }
        } catch {
            state.withLock { $0.mustCount = true }
            throw BlobError(error)
        }
    }

    // Figures and quota

    /// Returns the space that blobs take now.
    package func usage() throws(BlobError) -> BlobUsage {
        try countAnew()
        var usage = state.withLock(\.usage)
        usage.partialBytes = try read { rows throws(StoreError) in
            var bytes: UInt64 = 0
            var last: Int64 = 0
            while let row = try rows.partials(after: last, limit: 1).first {
                bytes += row.layout.byteCount(of: try rows.present(of: row))
                last = row.id
            }
            return bytes
        }
        return usage
    }

    /// Sets the greatest space that all blobs may take, in bytes; nil: as much as the disk holds. Stored blobs stay.
    package func setQuota(_ bytes: UInt64?) { state.withLock { $0.quotaBytes = bytes } }

    /// The same, kept for the next start.
    ///
    /// There is one space, so what its blobs may take is what all may: also those that no record names any more and that
    /// are kept for the grace period. With a second space each would have to be counted by its own references.
    package func setQuota(_ bytes: UInt64?, of space: SpaceID) throws(BlobError) {
        do throws(StoreError) {
            try store.setQuota(bytes, space: space)
        } catch {
            throw BlobError(error)
        }
        setQuota(bytes)
    }

    private func countAnew() throws(BlobError) {
        guard state.withLock(\.mustCount) else { return }
        try update { _ throws(StoreError) in }
    }

    /// Before anything else is counted: a change that was counted and did not happen must not happen twice. Under the store's
    /// writing lock, so that no transaction is counted twice.
    private func countAnew(_ rows: BlobRows) throws(StoreError) {
        guard state.withLock(\.mustCount) else { return }
        let counted = try rows.usage()
        state.withLock { state in
            let adding = state.usage.addingBytes
            state.usage = counted
            state.usage.addingBytes = adding
            state.mustCount = false
        }
    }

    /// Promises room for so many bytes more, as being added; where there is none, what is begun and holds nothing makes it.
    /// For callers that do not hold the lock `naming`.
    ///
    /// - Throws: `quotaExceeded`, `diskFull`, `store`; `inputOutput`, `unreadable`.
    func claim(_ bytes: UInt64) throws(BlobError) {
        do throws(BlobError) {
            return try promise(bytes)
        } catch .quotaExceeded {
            try naming.withLock { _ throws(BlobError) in try dropEmptyPartials() }
        }
        try promise(bytes)
    }

    /// Promises room as `claim` does, for a caller that holds the lock `naming`.
    func claimNaming(_ bytes: UInt64) throws(BlobError) {
        do throws(BlobError) {
            return try promise(bytes)
        } catch .quotaExceeded {
            try dropEmptyPartials()
        }
        try promise(bytes)
    }

    private func promise(_ bytes: UInt64) throws(BlobError) {
        try countAnew()
        try state.withLock { state throws(BlobError) in
            let needed = state.usage.claimedBytes + bytes
            if let quota = state.quotaBytes, needed > quota { throw .quotaExceeded(quota: quota, needed: needed) }
            state.usage.addingBytes += bytes
        }
        do throws(BlobError) {
            try checkRoom(for: bytes)
        } catch {
            giveBack(bytes)
            throw error
        }
    }

    func giveBack(_ bytes: UInt64) { state.withLock { $0.usage.addingBytes -= min(bytes, $0.usage.addingBytes) } }

    /// - Throws: `diskFull` where so many bytes more would leave the log no room.
    func checkRoom(for bytes: UInt64) throws(BlobError) {
        guard let free = files.freeBytes else { return }
        let (needed, isBeyond) = bytes.addingReportingOverflow(configuration.reserveBytes)
        if isBeyond || free < needed { throw .diskFull }
    }

    /// Changes the usage counts. Called last in the transaction whose rows the change follows: under the lock of the
    /// store no other change comes between. If the commit fails, all is counted anew.
    func count(_ change: (inout BlobUsage) -> Void) { state.withLock { change(&$0.usage) } }

    /// Returns a name for a file that no sweep removes before `endAdding`.
    func nextFileName() -> BlobFileName {
        state.withLock { state in
            state.lastNumber += 1
            let name = BlobFileName.adding(run: configuration.run, number: state.lastNumber)
            state.additions.insert(name)
            return name
        }
    }

    func endAdding(_ name: BlobFileName) { state.withLock { _ = $0.additions.remove(name) } }

    func isAdding(_ name: BlobFileName) -> Bool { state.withLock { $0.additions.contains(name) } }

    // Partial blobs in use

    /// Before the end: to look at what is here of a blob of many GiB takes minutes, and stops at its next chunk from now on,
    /// as if the store were closed. What was not looked at is looked at after the next start.
    package func endScans() { isEnding.store(true, ordering: .relaxed) }

    func openPartial(_ blob: BlobName) -> BlobPartial? { state.withLock { $0.partials[blob]?.partial } }

    /// Ends the partial blob, because it became whole or the whole blob turned out damaged. Called under `naming`. A
    /// fetch that still has the partial open must not give it a name: its open file is another one by now, or has other
    /// bytes than it remembers.
    func endPartial(_ blob: BlobName) {
        let weak = state.withLock { $0.partials.removeValue(forKey: blob) }
        weak?.partial?.end()
    }

    /// Under `naming`: the file of a part goes, once nothing speaks of it any more.
    func removePartialFile(_ hash: BlobHash) throws(BlobError) -> UInt64? {
        let removed = try files.remove(.partial(hash))
        setSpoiled(hash, false)
        return removed
    }

    /// Under `naming`: what lies under the full name is looked at chunk by chunk from now on.
    func makePartialFile(_ blob: BlobName) throws(BlobError) {
        if try files.rename(.whole(blob.hash), to: .partial(blob.hash)) { setSpoiled(blob.hash, false) }
    }

    func isSpoiled(_ hash: BlobHash) -> Bool { state.withLock { $0.spoiled.contains(hash) } }

    func setSpoiled(_ hash: BlobHash, _ isSpoiled: Bool) {
        state.withLock { state in
            if isSpoiled { state.spoiled.insert(hash) } else { state.spoiled.remove(hash) }
        }
    }

    func register(_ partial: BlobPartial) {
        state.withLock { state in
            state.partials = state.partials.filter { $0.value.partial != nil }
            state.partials[partial.blob] = WeakPartial(partial: partial)
        }
    }
}

extension BlobLayout {
    /// Returns the total size of these chunks, in bytes.
    func byteCount(of chunks: ChunkSet) -> UInt64 {
        guard chunkCount > 0, chunks.contains(chunkCount - 1) else {
            return UInt64(chunks.presentCount) * UInt64(Self.chunkBytes)
        }
        let last = range(of: chunkCount - 1)
        return UInt64(chunks.presentCount - 1) * UInt64(Self.chunkBytes) + (last.upperBound - last.lowerBound)
    }
}
