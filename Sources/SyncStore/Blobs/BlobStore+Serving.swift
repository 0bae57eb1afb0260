import Synchronization
package import SyncModel

// Requests of peers.
extension BlobStore {
    /// Returns the part of each blob that can be served, in the order of `hashes`. One read of the database.
    package func holdings(of hashes: [BlobHash]) throws(BlobError) -> [BlobHolding] {
        let found = try read { rows throws(StoreError) in
            var found: [BlobRow?] = []
            found.reserveCapacity(hashes.count)
            for hash in hashes { found.append(try rows.find(hash)) }
            return found
        }
        return found.map { row in
            guard let row else { return .nothing }
            if row.isWhole { return .all(row.layout) }
            let present = openPartial(row.hash)?.knownPresent ?? ChunkSet(count: row.layout.chunkCount)
            return .chunks(present, row.layout)
        }
    }

    /// Returns a chunk, checked, of a blob that is stored or being fetched. Its file stays open for the next.
    ///
    /// - Throws: `notHere`; `damaged`; `inputOutput`, `unreadable`, `store`.
    package func readChunk(_ chunk: Int, of hash: BlobHash) throws(BlobError) -> [UInt8] {
        if let partial = openPartial(hash), try !isWhole(hash) { return try partial.read(chunk) }
        let (open, generation) = readers.take(hash)
        var reader = if let open { open } else { try self.open(hash) }
        let bytes = try reader.read(chunk)
        readers.put(reader, generation)
        return bytes
    }

    // Small ones

    /// Reads small blobs, each checked, in as few looks at the database as the first ones take: as many as fit into the
    /// budget, and at least one if any of them is here. What is not here, or not small, or damaged, is left out.
    ///
    /// - Throws: `store`.
    package func readSmall(_ hashes: [BlobHash], byteBudget: Int) throws(BlobError) -> SmallBlobs {
        var small = SmallBlobs()
        while small.blobs.isEmpty, small.nextIndex < hashes.count {
            let found = try read { rows throws(StoreError) in
                try find(hashes, from: &small.nextIndex, byteBudget, rows)
            }
            for (index, row, bytes) in found {
                if let bytes = try checked(row, bytes) {
                    small.blobs.append(SmallBlobs.Blob(index: index, bytes: bytes))
                } else {
                    small.unreadable.append(row.hash)
                }
            }
        }
        return small
    }

    private func find(
        _ hashes: [BlobHash], from next: inout Int, _ byteBudget: Int, _ rows: BlobRows
    ) throws(StoreError) -> [(index: Int, row: BlobRow, bytes: [UInt8]?)] {
        var found: [(index: Int, row: BlobRow, bytes: [UInt8]?)] = []
        var size: UInt64 = 0
        while next < hashes.count {
            if let (row, bytes) = try rows.findSmall(hashes[next], upTo: configuration.smallBytes) {
                size += row.layout.size
                if !found.isEmpty, size > UInt64(clamping: byteBudget) { break }
                found.append((next, row, bytes))
            }
            next += 1
        }
        return found
    }

    /// Nil: it is not what it should be, or cannot be read now.
    private func checked(_ row: BlobRow, _ bytes: [UInt8]?) throws(BlobError) -> [UInt8]? {
        if let bytes {
            if BlobHash(ofSmall: bytes) == row.hash { return bytes }
            try recordDamage(row.hash)
            return nil
        }
        do throws(BlobError) {
            return row.layout.chunkCount == 0 ? [] : try readChunk(0, of: row.hash)
        } catch .store(let error) {
            throw .store(error)
        } catch {
            return nil
        }
    }

    /// Takes small blobs that a peer sent: those that match their hashes are stored, in one transaction.
    ///
    /// - Throws: `quotaExceeded`, `diskFull`, `inputOutput`, `store`: none of them is kept then.
    package func receive(_ blobs: [(hash: BlobHash, bytes: [UInt8])]) throws(BlobError) -> ReceivedBlobs {
        var received = ReceivedBlobs()
        var batch: [(BlobHash, [UInt8])] = []
        var batchBytes = 0
        for (hash, bytes) in blobs {
            guard bytes.count <= configuration.smallBytes,
                configuration.faults.contains(.skipChunkHash) || BlobHash(ofSmall: bytes) == hash
            else {
                received.wrong.append(hash)
                continue
            }
            received.right.append(hash)
            batch.append((hash, bytes))
            batchBytes += bytes.count
        }
        if !batch.isEmpty { try keepClaimed(batch, batchBytes) }
        return received
    }
}
