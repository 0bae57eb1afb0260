import Synchronization
package import SyncModel

// Reads of blobs, to show or serve them.
extension BlobStore {
    /// Returns the part of the blob that is stored.
    package func status(of blob: BlobName) throws(BlobError) -> BlobStatus {
        try read { rows throws(StoreError) in
            guard let row = try rows.find(blob) else { return .missing }
            if row.isWhole { return .whole }
            let present = try rows.present(of: row)
            return .partial(presentChunks: present.presentCount, presentBytes: row.layout.byteCount(of: present))
        }
    }

    /// Returns the name of the blob with this hash that is here as a whole; nil: none is.
    package func wholeName(of hash: BlobHash) throws(BlobError) -> BlobName? {
        try read { rows throws(StoreError) in try rows.find(hash).flatMap { $0.isWhole ? $0.blob : nil } }
    }

    /// Returns the hashes of the blob's chunks; nil: they are not here.
    package func chunks(of blob: BlobName) throws(BlobError) -> ChunkList? {
        try read { rows throws(StoreError) in
            guard let row = try rows.find(blob) else { return nil }
            if row.place != .database { return try rows.chunks(of: row) }
            return ChunkList(ChunkHash.ofSmall(try rows.bytes(of: row.id) ?? []))
        }
    }

    /// Opens a blob that is here as a whole.
    ///
    /// - Throws: `notHere`, `damaged` (also where its file is gone), `inputOutput`, `unreadable`, `store`.
    package func open(_ blob: BlobName) throws(BlobError) -> BlobReader {
        let found = try read { rows throws(StoreError) -> (BlobRow, [UInt8])? in
            guard let row = try rows.find(blob), row.isWhole else { return nil }
            return (row, row.place == .database ? try rows.bytes(of: row.id) ?? [] : [])
        }
        guard let (row, bytes) = found else { throw .notHere(blob) }
        if row.place == .database { return BlobReader(row, .bytes(bytes), self) }
        guard let file = try files.open(.whole(blob.hash)) else {
            try recordDamage(blob)
            throw .damaged(blob)
        }
        return BlobReader(row, .file(file), self)
    }

    /// Hands over chunks, each checked, of a blob that is stored or being fetched (`BlobPartial`).
    ///
    /// - Throws: `notHere` at the first chunk that is not; `damaged`, `inputOutput`, `unreadable`, `store`.
    package func read(
        _ blob: BlobName, chunks: Range<Int>, _ take: (Int, [UInt8]) throws(BlobError) -> Void
    ) throws(BlobError) {
        if let partial = openPartial(blob), try !isWhole(blob) {
            for chunk in chunks { try take(chunk, partial.read(chunk)) }
            return
        }
        var reader = try open(blob)
        for chunk in chunks { try take(chunk, reader.read(chunk)) }
    }

    func isWhole(_ blob: BlobName) throws(BlobError) -> Bool {
        try read { rows throws(StoreError) in try rows.find(blob)?.isWhole ?? false }
    }

    /// Records that the stored bytes of a blob do not match its name: it counts as missing from now on. A small blob is
    /// removed. For a large blob the row goes first, then the name; its chunks are checked when it is requested again,
    /// and the right ones stay.
    func recordDamage(_ blob: BlobName) throws(BlobError) {
        try naming.withLock { _ throws(BlobError) in
            let isFile = try update { rows throws(StoreError) in
                guard let row = try rows.find(blob), row.isWhole else { return false }
                if row.place == .file {
                    try rows.set(.partial, of: row, at: row.touched)
                } else {
                    try rows.remove(row)
                }
                count { usage in
                    usage.wholeCount -= 1
                    usage.wholeBytes -= row.layout.size
                    if row.place == .file {
                        usage.partialCount += 1
                        usage.partialSizeBytes += row.layout.size
                    }
                }
                return row.place == .file
            }
            readers.forget(blob)
            endPartial(blob)
            if isFile { try makePartialFile(blob) }
        }
    }
}
