import Synchronization
package import SyncModel

// Reads of blobs, to show or serve them.
extension BlobStore {
    /// Returns the part of the blob that is stored.
    package func status(of hash: BlobHash) throws(BlobError) -> BlobStatus {
        try read { rows throws(StoreError) in
            guard let row = try rows.find(hash) else { return .missing }
            if row.isWhole { return .whole }
            let present = try rows.present(of: row)
            return .partial(presentChunks: present.presentCount, presentBytes: row.layout.byteCount(of: present))
        }
    }

    /// The size of a blob that is here as a whole; nil: it is not. What records say of it may be wrong.
    package func layout(ofWhole hash: BlobHash) throws(BlobError) -> BlobLayout? {
        try read { rows throws(StoreError) in try rows.find(hash).flatMap { $0.isWhole ? $0.layout : nil } }
    }

    /// The size of a blob of which the hashes of the chunks are here, and those hashes. Nil: they are not.
    package func chunks(of hash: BlobHash) throws(BlobError) -> (size: UInt64, chunks: ChunkList)? {
        try read { rows throws(StoreError) in
            guard let row = try rows.find(hash) else { return nil }
            if row.place != .database { return (row.layout.size, try rows.chunks(of: row)) }
            return (row.layout.size, ChunkList(ChunkHash.ofSmall(try rows.bytes(of: row.id) ?? [])))
        }
    }

    /// Opens a blob that is here as a whole.
    ///
    /// - Throws: `notHere`, `damaged` (also where its file is gone), `inputOutput`, `unreadable`, `store`.
    package func open(_ hash: BlobHash) throws(BlobError) -> BlobReader {
        let found = try read { rows throws(StoreError) -> (BlobRow, [UInt8])? in
            guard let row = try rows.find(hash), row.isWhole else { return nil }
            return (row, row.place == .database ? try rows.bytes(of: row.id) ?? [] : [])
        }
        guard let (row, bytes) = found else { throw .notHere(hash) }
        if row.place == .database { return BlobReader(row, .bytes(bytes), self) }
        guard let file = try files.open(.whole(hash)) else {
            try recordDamage(hash)
            throw .damaged(hash)
        }
        return BlobReader(row, .file(file), self)
    }

    /// Hands over chunks, each checked, of a blob that is stored or being fetched (`BlobPartial`).
    ///
    /// - Throws: `notHere` at the first chunk that is not; `damaged`, `inputOutput`, `unreadable`, `store`.
    package func read(
        _ hash: BlobHash, chunks: Range<Int>, _ take: (Int, [UInt8]) throws(BlobError) -> Void
    ) throws(BlobError) {
        if let partial = openPartial(hash), try !isWhole(hash) {
            for chunk in chunks { try take(chunk, partial.read(chunk)) }
            return
        }
        var reader = try open(hash)
        for chunk in chunks { try take(chunk, reader.read(chunk)) }
    }

    func isWhole(_ hash: BlobHash) throws(BlobError) -> Bool {
        try read { rows throws(StoreError) in try rows.find(hash)?.isWhole ?? false }
    }

    /// Records that the stored bytes of a blob do not match its hash: it counts as missing from now on. A small blob is
    /// removed. For a large blob the row goes first, then the name; its chunks are checked when it is requested again,
    /// and the right ones stay.
    func recordDamage(_ hash: BlobHash) throws(BlobError) {
        try naming.withLock { _ throws(BlobError) in
            let isFile = try update { rows throws(StoreError) in
                guard let row = try rows.find(hash), row.isWhole else { return false }
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
            readers.forget(hash)
            endPartial(hash)
            if isFile { try makePartialFile(hash) }
        }
    }
}
