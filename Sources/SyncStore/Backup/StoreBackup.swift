package import SyncModel

/// Everything that a store and its blobs hold, as of one moment, while both go on.
///
/// First the blobs in files, in parts of 256 KiB, each checked; then the database. A blob that is removed meanwhile, or turns
/// out damaged, is left out, and the database says that it is missing: that comes last because only then it is known.
///
/// Calls block, and come one after the other. Memory: a chunk and a page of rows. Disk: the database a second time.
package final class StoreBackup {
    package enum Step: Sendable, Equatable {
        case blob(BlobName)
        case database(size: UInt64)
        /// The next bytes of the blob or database that began last. If a blob turns out damaged in the middle, zeros
        /// replace the rest.
        case bytes([UInt8])
    }

    private enum State {
        case blobs
        case blob(BlobReader, next: Int)
        /// The rest of one that is left out.
        case zeros(UInt64)
        case database(offset: UInt64, size: UInt64)
        case ended
    }

    private static let pageRows = 256
    private static let partBytes = 256 << 10

    private let blobs: BlobStore
    private let copy: StoreCopy
    private var state = State.blobs
    private var page: ArraySlice<BlobRow> = []
    private var last: Int64 = 0
    /// The blobs left out, in the order in which the damage was noticed.
    package private(set) var leftOut: [BlobName] = []
    /// About what all of it has.
    package let estimatedBytes: UInt64

    /// The moment is while it begins: everything that was acknowledged before is in it.
    ///
    /// - Parameter isStopped: asked while the database is copied, which takes as long as the disk needs for all of it.
    /// - Throws: `diskFull`, `store`.
    package init(_ blobs: BlobStore, isStopped: () -> Bool = { false }) throws(BlobError) {
        self.blobs = blobs
        do throws(StoreError) {
            copy = try StoreCopy(of: blobs.store, isStopped: isStopped)
            estimatedBytes = try copy.blobBytes() + copy.byteCount
        } catch {
            throw BlobError(error)
        }
    }

    /// The version of the database's schema.
    package var schemaVersion: Int { blobs.store.configuration.schema.version }

    /// Gives the room of the copy back; so does the end of this.
    package func close() { copy.close() }

    /// - Returns: nil behind the last.
    /// - Throws: `store`, `diskFull`.
    package func next() throws(BlobError) -> Step? {
        switch state {
        case .blobs: return try nextBlob()
        case .blob(let reader, let next): return try read(reader, next)
        case .zeros(let rest):
            let count = min(rest, UInt64(Self.partBytes))
            state = rest > count ? .zeros(rest - count) : .blobs
            return .bytes([UInt8](repeating: 0, count: Int(count)))
        case .database(let offset, let size): return try readDatabase(from: offset, to: size)
        case .ended: return nil
        }
    }

    private func nextBlob() throws(BlobError) -> Step {
        while let row = try nextRow() {
            do throws(BlobError) {
                let reader = try blobs.open(row.blob)
                state = .blob(reader, next: 0)
                return .blob(row.blob)
            } catch {
                try leaveOut(row.blob, error)
            }
        }
        let size = try stored { () throws(StoreError) in
            try copy.leaveOut(leftOut)
            return try copy.finish()
        }
        state = .database(offset: 0, size: size)
        return .database(size: size)
    }

    private func nextRow() throws(BlobError) -> BlobRow? {
        if page.isEmpty {
            page = try stored { () throws(StoreError) in try copy.blobs(after: last, limit: Self.pageRows) }[...]
        }
        guard let row = page.popFirst() else { return nil }
        last = row.id
        return row
    }

    private func read(_ reader: BlobReader, _ chunk: Int) throws(BlobError) -> Step {
        var reader = reader
        do throws(BlobError) {
            let bytes = try reader.read(chunk)
            state = chunk + 1 < reader.layout.chunkCount ? .blob(reader, next: chunk + 1) : .blobs
            return .bytes(bytes)
        } catch {
            try leaveOut(reader.blob, error)
            state = .zeros(reader.layout.size - reader.layout.range(of: chunk).lowerBound)
            return try next() ?? .bytes([])
        }
    }

    private func readDatabase(from offset: UInt64, to size: UInt64) throws(BlobError) -> Step? {
        guard offset < size else {
            state = .ended
            copy.close()
            return nil
        }
        let count = min(size - offset, UInt64(Self.partBytes))
        let bytes = try stored { () throws(StoreError) in try copy.read(at: offset, count: Int(count)) }
        guard bytes.count == Int(count) else { throw .store(.corrupt(detail: "the database's copy became shorter")) }
        state = .database(offset: offset + count, size: size)
        return .bytes(bytes)
    }

    /// A backup without one file is worth more than none. What the database refuses is another matter.
    private func leaveOut(_ blob: BlobName, _ error: BlobError) throws(BlobError) {
        switch error {
        case .notHere, .damaged, .inputOutput, .unreadable: leftOut.append(blob)
        case .diskFull, .quotaExceeded, .tooLarge, .sourceChanged, .sourceUnreadable, .wrongChunk, .wrongHashes,
            .incomplete, .store:
            throw error
        }
    }

    private func stored<Value>(_ body: () throws(StoreError) -> Value) throws(BlobError) -> Value {
        do throws(StoreError) { return try body() } catch { throw BlobError(error) }
    }
}
