import SyncModel

// `doctor --deep`.
extension BlobStore {
    /// Reads and hashes every blob that is here as a whole. What is wrong counts as missing from then on; the parts of it that
    /// are right are found again when it is asked for. About half a second per GiB, without keeping anybody waiting.
    ///
    /// - Parameters:
    ///   - isStopped: asked after each chunk; true ends it, and says nothing of the blob it was at.
    ///   - progress: hears after each blob what was found so far.
    /// - Throws: `store`, `diskFull`: nothing can be noted.
    package func checkAll(
        isStopped: () -> Bool = { false }, _ progress: (BlobCheck) -> Void = { _ in }
    ) throws(BlobError) -> BlobCheck {
        var check = BlobCheck()
        var last: Int64 = 0
        while !isStopped(),
            let row = try read({ rows throws(StoreError) in try rows.page(after: last, limit: 1).first })
        {
            last = row.id
            guard row.isWhole else { continue }
            try look(at: row, &check, isStopped)
            progress(check)
        }
        return check
    }

    private func look(at row: BlobRow, _ check: inout BlobCheck, _ isStopped: () -> Bool) throws(BlobError) {
        do throws(BlobError) {
            guard try readTwice(row, isStopped) else { return }
            check.rightCount += 1
            check.rightBytes += row.layout.size
        } catch .damaged(let blob) {
            check.damaged.append(blob)
        } catch .notHere {
            // Swept meanwhile.
        } catch .inputOutput(let code) where PosixFailure.isOfDisk(code) {
            // A disk that was only away for a moment loses nothing by this: what is right is found again.
            try recordDamage(row.blob)
            check.damaged.append(row.blob)
        } catch .inputOutput, .unreadable {
            // Too few descriptors, too little memory, a file that is not ours: that says nothing of the bytes, and what is
            // held nowhere else must not be lost to readers by it.
            check.unreadCount += 1
        }
    }

    /// All of a blob; once more from its beginning where the disk fails, because a failure may pass.
    ///
    /// - Returns: false: stopped.
    private func readTwice(_ row: BlobRow, _ isStopped: () -> Bool) throws(BlobError) -> Bool {
        do throws(BlobError) {
            return try readAll(row, isStopped)
        } catch .inputOutput(let code) where PosixFailure.isOfDisk(code) {
            return try readAll(row, isStopped)
        }
    }

    private func readAll(_ row: BlobRow, _ isStopped: () -> Bool) throws(BlobError) -> Bool {
        var reader = try open(row.blob)
        for chunk in 0..<row.layout.chunkCount {
            _ = try reader.read(chunk)
            if isStopped() { return false }
        }
        return true
    }
}
