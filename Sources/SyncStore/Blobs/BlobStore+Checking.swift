import SyncModel

// `doctor --deep`.
extension BlobStore {
    /// Reads and hashes every blob that is here as a whole. What is wrong counts as missing from then on; the parts of it that
    /// are right are found again when it is asked for. About half a second per GiB, without keeping anybody waiting.
    ///
    /// - Parameter proceed: asked after each blob, with what was found so far; false ends it.
    /// - Throws: `store`, `diskFull`: nothing can be noted.
    package func checkAll(_ proceed: (BlobCheck) -> Bool = { _ in true }) throws(BlobError) -> BlobCheck {
        var check = BlobCheck()
        var last: Int64 = 0
        while let row = try read({ rows throws(StoreError) in try rows.page(after: last, limit: 1).first }) {
            last = row.id
            guard row.isWhole else { continue }
            try look(at: row, &check)
            if !proceed(check) { break }
        }
        return check
    }

    private func look(at row: BlobRow, _ check: inout BlobCheck) throws(BlobError) {
        do throws(BlobError) {
            var reader = try open(row.hash)
            for chunk in 0..<row.layout.chunkCount { _ = try reader.read(chunk) }
            check.rightCount += 1
            check.rightBytes += row.layout.size
        } catch .damaged(let hash) {
            check.damaged.append(hash)
        } catch .notHere {
            // Swept meanwhile.
        } catch .inputOutput, .unreadable {
            // A disk that was only away for a moment loses nothing by this: what is right is found again.
            try noteDamage(row.hash)
            check.damaged.append(row.hash)
        }
    }
}
