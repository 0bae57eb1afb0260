import SyncModel

// `compact`.
extension BlobStore {
    /// Removes all blobs that are no longer needed (`sweep`, `sweepStrays`), and gives the database's empty pages back
    /// to the file system. Others write meanwhile: no transaction of it is long.
    ///
    /// - Throws: `inputOutput`, `unreadable`, `diskFull`, `store`. What was removed by then is gone.
    package func compact() throws(BlobError) -> BlobSweep {
        var sweep = try sweep()
        let strays = try sweepStrays()
        sweep.strayCount += strays.strayCount
        sweep.strayBytes += strays.strayBytes
        do throws(StoreError) {
            sweep.databaseBytes = try store.giveBackEmptyPages()
        } catch {
            throw BlobError(error)
        }
        return sweep
    }
}
