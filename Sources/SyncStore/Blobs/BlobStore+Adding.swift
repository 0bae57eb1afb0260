import Synchronization
package import SyncModel

// Blobs added on this device.
extension BlobStore {
    /// Begins a blob of which the bytes come in parts.
    ///
    /// - Parameter size: of all of it, in bytes; nil where it is not known. With it, a blob that has no room is refused before
    ///   a byte is read.
    /// - Throws: `tooLarge`, `quotaExceeded`, `diskFull`.
    package func beginAdding(size: UInt64?) throws(BlobError) -> BlobAddition {
        try BlobAddition(self, declaredBytes: size)
    }

    /// Adds what a source gives. Durable when it returns.
    ///
    /// - Throws: `sourceUnreadable`, `sourceChanged`, `tooLarge`, `quotaExceeded`, `diskFull`, `inputOutput`, `store`.
    package func add(from source: some BlobSource) throws(BlobError) -> BlobName {
        var source = source
        let addition = try beginAdding(size: source.size)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: BlobLayout.chunkBytes, alignment: 4096)
        defer {
            addition.giveUp()
            buffer.deallocate()
        }
        while true {
            let count = try source.read(into: buffer)
            if count == 0 { break }
            try addition.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        try source.checkUnchanged()
        return try addition.finish()
    }

    /// Adds blobs that are in memory, small ones in as few transactions as `batchBytes` allows. All are durable when it
    /// returns; when it throws, the first few may be here.
    ///
    /// - Throws: `quotaExceeded`, `diskFull`, `inputOutput`, `store`.
    /// - Returns: their names, in the same order.
    package func add(_ blobs: [[UInt8]]) throws(BlobError) -> [BlobName] {
        var names: [BlobName] = []
        names.reserveCapacity(blobs.count)
        var batch: [(BlobName, [UInt8])] = []
        var batchBytes = 0
        for bytes in blobs {
            guard bytes.count <= configuration.smallBytes else {
                let addition = try beginAdding(size: UInt64(bytes.count))
                try bytes.withUnsafeBufferPointer { bytes throws(BlobError) in
                    try addition.append(UnsafeRawBufferPointer(bytes))
                }
                names.append(try addition.finish())
                continue
            }
            let blob = BlobName(ofSmall: bytes)
            names.append(blob)
            batch.append((blob, bytes))
            batchBytes += bytes.count
            if batchBytes >= configuration.batchBytes {
                try keepClaimed(batch, batchBytes)
                (batch, batchBytes) = ([], 0)
            }
        }
        if !batch.isEmpty { try keepClaimed(batch, batchBytes) }
        return names
    }

    /// The same, with room for them.
    func keepClaimed(_ batch: [(BlobName, [UInt8])], _ bytes: Int) throws(BlobError) {
        do throws(BlobError) {
            try claim(UInt64(bytes))
        } catch .quotaExceeded {
            // Some of them may be here, and cost nothing.
            let fresh = try read { rows throws(StoreError) in
                var fresh: [BlobName: Int] = [:]
                for (blob, bytes) in batch where try rows.find(blob)?.isWhole != true { fresh[blob] = bytes.count }
                return fresh.values.reduce(0, +)
            }
            try claim(UInt64(fresh))
            defer { giveBack(UInt64(fresh)) }
            return try keep(batch)
        }
        defer { giveBack(UInt64(bytes)) }
        try keep(batch)
    }

    /// Small blobs, in one transaction.
    func keep(_ batch: [(BlobName, [UInt8])]) throws(BlobError) {
        let now = configuration.now()
        let replaced = try update { rows throws(StoreError) in
            var replaced: [BlobName] = []
            var change = BlobUsage()
            for (blob, bytes) in batch {
                let row = try rows.find(blob)
                if let row, row.isWhole {
                    // In place of what is there: these bytes are right, and those may have rotted.
                    if row.place == .database, try rows.bytes(of: row.id) != bytes { try rows.keep(bytes, of: row.id) }
                    try rows.touch(row.id, at: now)
                    continue
                }
                if let row {
                    try rows.removeChunks(of: row.id)
                    try rows.set(.database, of: row, at: now)
                    replaced.append(blob)
                    change.partialCount += 1
                    change.partialSizeBytes += blob.size
                }
                let id = if let row { row.id } else { try rows.insert(blob, .database, at: now) }
                try rows.keep(bytes, of: id)
                change.wholeCount += 1
                change.wholeBytes += blob.size
            }
            count { usage in
                usage.wholeCount += change.wholeCount
                usage.wholeBytes += change.wholeBytes
                usage.partialCount -= change.partialCount
                usage.partialSizeBytes -= change.partialSizeBytes
            }
            return replaced
        }
        for blob in replaced {
            naming.withLock { _ in
                // Unless it was damaged and begun anew just then.
                guard (try? isWhole(blob)) ?? false else { return }
                endPartial(blob)
                // Left over if this fails, and swept.
                _ = try? removePartialFile(blob.hash)
            }
        }
    }

    /// A large blob that was written under another name: bytes durable, name durable, row, in this order.
    func keep(
        _ file: any BlobFile, named name: BlobFileName, as blob: BlobName, _ chunks: ChunkList
    ) throws(BlobError) {
        if !configuration.faults.contains(.skipFileSync), !configuration.faults.contains(.rowBeforeFile) {
            try file.sync()
        }
        try naming.withLock { _ throws(BlobError) in
            let row = try read { rows throws(StoreError) in try rows.find(blob) }
            if let row, row.isWhole {
                // In place of the file that is there: these bytes are right, and that one may have rotted.
                if row.place == .file { try give(name, to: blob) } else { try files.remove(name) }
                readers.forget(blob)
                try update { rows throws(StoreError) in try rows.touch(row.id, at: configuration.now()) }
                return
            }
            if configuration.faults.contains(.rowBeforeFile) {
                _ = try recordWhole(blob, chunks)
                try file.sync()
                try give(name, to: blob)
                return
            }
            try give(name, to: blob)
            let isFile: Bool
            do throws(BlobError) {
                isFile = try recordWhole(blob, chunks)
            } catch .diskFull {
                // Surely no row says that it is whole. Beside a part it stays: it may be what was renamed from there.
                if row == nil { _ = try? files.remove(.whole(blob.hash)) }
                throw .diskFull
            }
            endPartial(blob)
            // Left over if this fails, and swept.
            _ = try? removePartialFile(blob.hash)
            if !isFile { _ = try? files.remove(.whole(blob.hash)) }
        }
    }

    /// True if a whole blob of this size is stored.
    func hasWhole(size: UInt64) throws(BlobError) -> Bool {
        try read { rows throws(StoreError) in try rows.hasWhole(size: size) }
    }

    /// Begins the grace period of a blob anew, so that it is not swept before a record names it. False if the blob is not here.
    package func touch(_ blob: BlobName) throws(BlobError) -> Bool {
        try update { rows throws(StoreError) in
            guard let row = try rows.find(blob), row.isWhole else { return false }
            try rows.touch(row.id, at: configuration.now())
            return true
        }
    }

    /// Gives what is written and synced the name that says so; where it has that already, an earlier try got so far.
    func give(_ name: BlobFileName, to blob: BlobName) throws(BlobError) {
        let whole = BlobFileName.whole(blob.hash)
        if try !files.rename(name, to: whole), try files.open(whole) == nil { throw .notHere(blob) }
        if !configuration.faults.contains(.skipFolderSync) { try files.syncFolder() }
    }

    /// Writes the row that makes a file readable, replacing the row of a partial blob.
    /// - Returns: false if the blob was whole before: another caller added the same small blob at the same time.
    func recordWhole(_ blob: BlobName, _ chunks: ChunkList?) throws(BlobError) -> Bool {
        let now = configuration.now()
        return try update { rows throws(StoreError) in
            let row = try rows.find(blob)
            if let row, row.isWhole {
                try rows.touch(row.id, at: now)
                return false
            }
            var id = row?.id
            if let row { try rows.set(.file, of: row, at: now) }
            if id == nil { id = try rows.insert(blob, .file, at: now) }
            if let id, let chunks { try rows.keep(chunks, of: id) }
            count { usage in
                if let row { usage.remove(row) }
                usage.wholeCount += 1
                usage.wholeBytes += blob.size
            }
            return true
        }
    }
}
