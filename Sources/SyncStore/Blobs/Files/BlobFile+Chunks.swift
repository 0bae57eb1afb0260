import SyncModel

extension BlobFile {
    /// The bytes of a chunk; nil unless they are what the hash says.
    /// - Parameter place: of its hash in `chunks`.
    func chunk(
        _ chunk: Int, of layout: BlobLayout, _ chunks: ChunkList, at place: Int
    ) throws(BlobError) -> [UInt8]? {
        let range = layout.range(of: chunk)
        var failure: BlobError?
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { target, count in
            do throws(BlobError) {
                let whole = UnsafeMutableRawBufferPointer(start: target.baseAddress, count: range.count)
                count = try read(into: whole, at: range.lowerBound)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes.withUnsafeBytes { bytes in
            bytes.count == range.count && chunks.has(ChunkHash(of: bytes), at: place)
        } ? bytes : nil
    }

    /// Returns the chunks in a partly written file that have the right hash. Gaps are not read. A chunk that the disk
    /// fails to read counts as missing: writing it anew lets the disk put it elsewhere.
    ///
    /// - Parameter isStopped: asked before each chunk.
    /// - Returns: nil if stopped.
    func presentChunks(
        of layout: BlobLayout, _ chunks: ChunkList, isStopped: () -> Bool
    ) throws(BlobError) -> ChunkSet? {
        var present = ChunkSet(count: layout.chunkCount)
        let chunkBytes = UInt64(BlobLayout.chunkBytes)
        var offset: UInt64 = 0
        while offset < layout.size, let written = try written(from: offset), written.lowerBound < layout.size {
            let first = max(offset, written.lowerBound) / chunkBytes
            let end = (min(written.upperBound, layout.size) + chunkBytes - 1) / chunkBytes
            for chunk in first..<max(first + 1, end) {
                if isStopped() { return nil }
                do throws(BlobError) {
                    if try self.chunk(Int(chunk), of: layout, chunks, at: Int(chunk)) != nil {
                        present.insert(Int(chunk))
                    }
                } catch .inputOutput(let code) where PosixFailure.isOfDisk(code) {
                    continue
                }
            }
            offset = max(first + 1, end) * chunkBytes
        }
        return present
    }
}
