import Synchronization
import SyncModel

// Removal of blobs that are no longer needed.
extension BlobStore {
    private static let pageRows = 256

    /// Removes blobs that no record has named for the grace period, row first, then file, a page of them in a
    /// transaction. Blobs that are being fetched stay. Stopped at any point, it leaves blobs that are whole and files
    /// without a row.
    ///
    /// - Throws: `inputOutput`, `unreadable`, `diskFull`, `store`. What was removed by then is gone.
    package func sweep() throws(BlobError) -> BlobSweep {
        var sweep = BlobSweep()
        var last: Int64 = 0
        while true {
            let page = try read { rows throws(StoreError) in try rows.page(after: last, limit: Self.pageRows) }
            guard let end = page.last else { break }
            last = end.id
            // Looked at without keeping writers waiting; looked at again before anything goes.
            let due = try filter(page)
            if !due.isEmpty { try remove(due, &sweep) }
        }
        try forgetVanished()
        return sweep
    }

    /// Forgets blobs that records named and that were never received.
    private func forgetVanished() throws(BlobError) {
        let end = configuration.now() - configuration.graceMilliseconds
        while try read({ rows throws(StoreError) in try rows.references.hasVanished(releasedUpTo: end) }) {
            try update { rows throws(StoreError) in
                try rows.references.forgetVanished(releasedUpTo: end, limit: Self.pageRows)
            }
        }
    }

    private func filter(_ page: [BlobRow]) throws(BlobError) -> [BlobRow] {
        let now = configuration.now()
        var due: [BlobRow] = []
        do throws(StoreError) {
            for row in page where try isDue(row, at: now) { due.append(row) }
        } catch {
            throw BlobError(error)
        }
        return due
    }

    /// True if no record has named the blob for the grace period. The blob may have come before the first record that
    /// names it, so grace begins at its arrival at the earliest.
    private func isDue(_ row: BlobRow, at now: Int64) throws(StoreError) -> Bool {
        guard row.touched <= now - configuration.graceMilliseconds else { return false }
        if configuration.faults.contains(.sweepReferenced) { return true }
        switch try needs.need(of: row.blob) {
        case .needed: return false
        case .unneeded(let since): return since <= now - configuration.graceMilliseconds
        case .neverNeeded: return true
        }
    }

    private func remove(_ due: [BlobRow], _ sweep: inout BlobSweep) throws(BlobError) {
        try naming.withLock { _ throws(BlobError) in
            let now = configuration.now()
            if configuration.faults.contains(.fileBeforeRow) {
                for row in due { try files.remove(.whole(row.blob.hash)) }
                try files.syncFolder()
            }
            let removed = try update { rows throws(StoreError) in
                var removed: [BlobRow] = []
                for row in due where openPartial(row.blob) == nil {
                    // As it is now: no write can come between here and the commit.
                    guard let row = try rows.find(row.blob), try isDue(row, at: now) else { continue }
                    try rows.remove(row)
                    if !configuration.faults.contains(.sweepReferenced) { try rows.references.forget(row.blob) }
                    removed.append(row)
                }
                count { usage in
                    for row in removed { usage.remove(row) }
                }
                return removed
            }
            sweep.blobCount += removed.count
            for row in removed {
                readers.forget(row.blob)
                if row.place == .database {
                    sweep.blobBytes += row.layout.size
                } else {
                    sweep.blobBytes += try files.remove(.whole(row.blob.hash)) ?? 0
                    sweep.blobBytes += try removePartialFile(row.blob.hash) ?? 0
                }
            }
        }
    }

    /// Removes files that have no row and that no caller is writing: once after each start, and after a disk was full.
    ///
    /// - Throws: `inputOutput`, `unreadable`, `store`. What was removed by then is gone.
    package func sweepStrays() throws(BlobError) -> BlobSweep {
        var sweep = BlobSweep()
        for name in try files.names() {
            let removed = try naming.withLock { _ throws(BlobError) -> UInt64? in
                guard try isStray(name) else { return nil }
                if case .partial(let hash) = name { return try removePartialFile(hash) }
                return try files.remove(name)
            }
            guard let removed else { continue }
            sweep.strayCount += 1
            sweep.strayBytes += removed
        }
        return sweep
    }

    private func isStray(_ name: BlobFileName) throws(BlobError) -> Bool {
        switch name {
        case .adding: return !isAdding(name)
        case .whole(let hash):
            // Beside a partial blob it may be all of it: looked at when that is gone on with.
            let row = try read { rows throws(StoreError) in try rows.find(hash) }
            return row.map { $0.place == .database } ?? true
        case .partial(let hash):
            return try read { rows throws(StoreError) in try rows.find(hash) }?.place != .partial
        }
    }
}

extension BlobUsage {
    mutating func remove(_ row: BlobRow) {
        if row.isWhole {
            wholeCount -= 1
            wholeBytes -= row.layout.size
        } else {
            partialCount -= 1
            partialSizeBytes -= row.layout.size
        }
    }
}
