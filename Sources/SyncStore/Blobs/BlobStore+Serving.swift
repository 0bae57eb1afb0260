import Synchronization
package import SyncModel

// Requests of peers.
extension BlobStore {
    /// Returns the part of each blob that can be served, in the order of `names`. One read of the database.
    package func holdings(of names: [BlobName]) throws(BlobError) -> [BlobHolding] {
        let found = try read { rows throws(StoreError) in
            var found: [BlobRow?] = []
            found.reserveCapacity(names.count)
            for blob in names { found.append(try rows.find(blob)) }
            return found
        }
        return found.map { row in
            guard let row else { return .nothing }
            if row.isWhole { return .all }
            return .chunks(openPartial(row.blob)?.knownPresent ?? ChunkSet(count: row.layout.chunkCount))
        }
    }

    /// Returns a chunk, checked, of a blob that is stored or being fetched. Its file stays open for the next.
    ///
    /// - Throws: `notHere`; `damaged`; `inputOutput`, `unreadable`, `store`.
    package func readChunk(_ chunk: Int, of blob: BlobName) throws(BlobError) -> [UInt8] {
        if let partial = openPartial(blob), try !isWhole(blob) { return try partial.read(chunk) }
        let (open, generation) = readers.take(blob)
        var reader = if let open { open } else { try self.open(blob) }
        let bytes = try reader.read(chunk)
        readers.put(reader, generation)
        return bytes
    }

    // Small ones

    /// Reads small blobs, each checked, in as few looks at the database as the first ones take: as many as fit into the
    /// budget, and at least one if any of them is here. What is not here, or not small, or damaged, is left out.
    ///
    /// - Throws: `store`.
    package func readSmall(_ names: [BlobName], byteBudget: Int) throws(BlobError) -> SmallBlobs {
        var small = SmallBlobs()
        while small.blobs.isEmpty, small.nextIndex < names.count {
            let found = try read { rows throws(StoreError) in
                try find(names, from: &small.nextIndex, byteBudget, rows)
            }
            for (index, row, bytes) in found {
                if let bytes = try checked(row, bytes) {
                    small.blobs.append(SmallBlobs.Blob(index: index, bytes: bytes))
                } else {
                    small.unreadable.append(row.blob)
                }
            }
        }
        return small
    }

    private func find(
        _ names: [BlobName], from next: inout Int, _ byteBudget: Int, _ rows: BlobRows
    ) throws(StoreError) -> [(index: Int, row: BlobRow, bytes: [UInt8]?)] {
        var found: [(index: Int, row: BlobRow, bytes: [UInt8]?)] = []
        var size: UInt64 = 0
        while next < names.count {
            if let (row, bytes) = try rows.findSmall(names[next], upTo: configuration.smallBytes) {
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
            if BlobName(ofSmall: bytes) == row.blob { return bytes }
            try recordDamage(row.blob)
            return nil
        }
        do throws(BlobError) {
            return row.layout.chunkCount == 0 ? [] : try readChunk(0, of: row.blob)
        } catch .store(let error) {
            throw .store(error)
        } catch {
            return nil
        }
    }

    /// Takes small blobs that a peer sent: those that match their names are stored, in one transaction.
    ///
    /// - Throws: `quotaExceeded`, `diskFull`, `inputOutput`, `store`: none of them is kept then.
    package func receive(_ blobs: [(name: BlobName, bytes: [UInt8])]) throws(BlobError) -> ReceivedBlobs {
        var received = ReceivedBlobs()
        var batch: [(BlobName, [UInt8])] = []
        var batchBytes = 0
        for (blob, bytes) in blobs {
            guard bytes.count <= configuration.smallBytes,
                configuration.faults.contains(.skipChunkHash) || BlobName(ofSmall: bytes) == blob
            else {
                received.wrong.append(blob)
                continue
            }
            received.right.append(blob)
            batch.append((blob, bytes))
            batchBytes += bytes.count
        }
        if !batch.isEmpty { try keepClaimed(batch, batchBytes) }
        return received
    }
}
