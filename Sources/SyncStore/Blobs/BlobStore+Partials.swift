import Synchronization
package import SyncModel

// Blobs received from peers, chunk by chunk.
extension BlobStore {
    /// Begins a blob, or goes on with one that was begun. Durable when it returns.
    ///
    /// - Parameter chunks: the hashes of its chunks, as a peer says; believed only if they come to its name.
    /// - Returns: nil if all of it is here.
    /// - Throws: `wrongHashes`, `quotaExceeded`, `diskFull`, `store`.
    package func beginPartial(_ blob: BlobName, _ chunks: ChunkList) throws(BlobError) -> BlobPartial? {
        guard chunks.isOf(blob) else { throw .wrongHashes(blob) }
        return try naming.withLock { _ throws(BlobError) in
            if let row = try read({ rows throws(StoreError) in try rows.find(blob) }) {
                return row.isWhole ? nil : try open(row)
            }
            try claimNaming(blob.size)
            defer { giveBack(blob.size) }
            let now = configuration.now()
            let row = try update { rows throws(StoreError) in
                let id = try rows.insert(blob, .partial, at: now)
                try rows.keep(chunks, of: id)
                count { usage in
                    usage.partialCount += 1
                    usage.partialSizeBytes += blob.size
                }
                return BlobRow(id: id, blob: blob, place: .partial, touched: now)
            }
            return try open(row)
        }
    }

    /// Goes on with a blob of which the chunk hashes are here. Nil: none are, or all of it is.
    package func resumePartial(_ blob: BlobName) throws(BlobError) -> BlobPartial? {
        try naming.withLock { _ throws(BlobError) in
            guard let row = try read({ rows throws(StoreError) in try rows.find(blob) }), !row.isWhole else {
                return nil
            }
            return try open(row)
        }
    }

    /// Blobs of which some is here, or nothing yet, in pages.
    /// - Parameter hash: the last of the page before; nil for the first.
    package func partials(after blob: BlobName?, limit: Int) throws(BlobError) -> [BlobName] {
        try read { rows throws(StoreError) in
            let last = try blob.flatMap { blob throws(StoreError) in try rows.find(blob) }
            return try rows.partials(after: last?.id ?? 0, limit: limit).map(\.blob)
        }
    }

    /// Under `naming`: one object for all who work on it.
    private func open(_ row: BlobRow) throws(BlobError) -> BlobPartial {
        if let partial = openPartial(row.blob), partial.id == row.id { return partial }
        // Under its full name there is what was complete, or found damaged, when the process ended before it said so.
        // Nothing is believed of it: its chunks are looked at like all others.
        try makePartialFile(row.blob)
        let chunks = try read { rows throws(StoreError) in try rows.chunks(of: row) }
        let partial = BlobPartial(row, chunks, self)
        register(partial)
        return partial
    }

    /// Forgets partial blobs without a stored chunk that no fetch has open. Called under `naming`. The peer that had
    /// such a blob may be gone for good, and the blob would hold its whole size in the quota for ever. Only its hashes
    /// have to be sent again.
    func dropEmptyPartials() throws(BlobError) {
        var last: Int64 = 0
        while let row = try read({ rows throws(StoreError) in try rows.partials(after: last, limit: 1).first }) {
            last = row.id
            let hash = row.blob.hash
            guard openPartial(row.blob) == nil, try isEmpty(.partial(hash)), try isEmpty(.whole(hash)) else { continue }
            try update { rows throws(StoreError) in
                try rows.remove(row)
                count { $0.remove(row) }
            }
            // Left over if this fails, and swept.
            _ = try? removePartialFile(hash)
        }
    }

    private func isEmpty(_ name: BlobFileName) throws(BlobError) -> Bool {
        guard let file = try files.open(name) else { return true }
        return try file.written(from: 0) == nil
    }

    /// Names and notes a blob whose bytes are all here and durable.
    func finish(_ partial: BlobPartial) throws(BlobError) {
        try naming.withLock { _ throws(BlobError) in
            let row = try read { rows throws(StoreError) in try rows.find(partial.blob) }
            // Added on this device meanwhile, or removed.
            guard let row, row.id == partial.id else { throw .notHere(partial.blob) }
            if row.isWhole { return }
            // It was whole, and is damaged: what the partial remembers of its bytes is of before.
            if partial.hasEnded { throw .notHere(row.blob) }
            if configuration.faults.contains(.rowBeforeFile) {
                _ = try recordWhole(row.blob, nil)
                try give(.partial(row.blob.hash), to: row.blob)
                endPartial(row.blob)
                return
            }
            try give(.partial(row.blob.hash), to: row.blob)
            let isFile = try recordWhole(row.blob, nil)
            endPartial(row.blob)
            // It is in the database. Left over if this fails, and swept.
            if !isFile { _ = try? files.remove(.whole(row.blob.hash)) }
        }
    }
}
