import SyncModel

extension SQLiteStore {
    /// Pages that are moved in one transaction: half a MiB is written for it.
    private static let pagesPerStep = 128

    /// Moves what is in the last pages into empty ones, and cuts the file off behind it (`PRAGMA incremental_vacuum`).
    ///
    /// `VACUUM` would need twice the space of all of it and keep every writer waiting until it is done. A database that was
    /// made before pages knew who refers to them (`auto_vacuum`) keeps its empty pages, and later writes use them.
    /// - Returns: by how many bytes the database is smaller.
    func giveBackEmptyPages() throws(StoreError) -> UInt64 {
        var pages: Int64 = 0
        while true {
            let step = try update { access throws(StoreError) in
                let before = try access.number("PRAGMA page_count")
                try access.run("PRAGMA incremental_vacuum(\(Self.pagesPerStep))")
                return before - (try access.number("PRAGMA page_count"))
            }
            if step <= 0 { break }
            pages += step
        }
        guard pages > 0 else { return 0 }
        // The file is cut off when the write-ahead log is brought into it.
        try checkpoint()
        let pageBytes = try read { access throws(StoreError) in try access.number("PRAGMA page_size") }
        return UInt64(clamping: pages) * UInt64(clamping: pageBytes)
    }
}

extension SQLiteAccess {
    /// Returns the integer that a statement yields; 0 if it yields nothing.
    fileprivate func number(_ sql: String) throws(StoreError) -> Int64 {
        try first(sql) { row throws(StoreError) in row.integer(0) } ?? 0
    }
}
