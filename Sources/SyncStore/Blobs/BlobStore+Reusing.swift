import SyncModel
import Synchronization

// Bytes that are on this disk under another name: a file that was changed and attached again shares most of its chunks.
extension BlobStore {
    /// Chunks to a slice: 16 MiB are copied in some 20 ms.
    package static let reuseSliceChunks = 64

    /// Copies chunks that whole blobs here have, and this one lacks. Each is hashed when it is read, and when it is written.
    ///
    /// Finds a chunk wherever it stands in another file, but only whole chunks: bytes that were appended or changed in place
    /// leave all others as they are; bytes that were inserted move all that stand behind them.
    ///
    /// - Parameters:
    ///   - first: where to begin.
    ///   - limit: of chunks to look at.
    /// - Returns: where to go on; nil: all were looked at.
    /// - Throws: as `BlobPartial.write`. A source that cannot be read is passed over; `store(.closed)` behind `endScans`.
    package func reuseChunks(
        for partial: BlobPartial, from first: Int, limit: Int
    ) throws(BlobError) -> Int? {
        let present = try partial.present()
        if present.isComplete { return nil }
        let end = min(first + limit, partial.layout.chunkCount)
        // Neighbours mostly come from the same file.
        var source: BlobReader?
        for chunk in first..<max(first, end) where !present.contains(chunk) {
            if isEnding.load(ordering: .relaxed) { throw .store(.closed) }
            guard let hash = partial.hash(of: chunk) else { continue }
            let places = try read { rows throws(StoreError) in try rows.chunkPlaces.find(hash) }
            for place in places where place.blob != partial.blob {
                // The prefix was the same; are the hashes?
                guard let bytes = bytes(of: place, &source), bytes.withUnsafeBytes({ ChunkHash(of: $0) == hash })
                else { continue }
                _ = try bytes.withUnsafeBufferPointer { bytes throws(BlobError) in
                    try partial.write(UnsafeRawBufferPointer(bytes), as: chunk)
                }
                break
            }
        }
        return end < partial.layout.chunkCount ? end : nil
    }

    /// Nil if it cannot be read: the blob was removed just now, or its disk is bad, which those who need *it* report.
    private func bytes(of place: (blob: BlobName, chunk: Int), _ source: inout BlobReader?) -> [UInt8]? {
        do throws(BlobError) {
            if source?.blob != place.blob { source = try open(place.blob) }
            return try source?.read(place.chunk)
        } catch {
            source = nil
            return nil
        }
    }
}
