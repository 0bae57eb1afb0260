package import SyncModel

// Fetching
extension SQLiteStore {
    /// Returns which blobs are fetched by themselves; `all` at first.
    package func fetchPolicy(of space: SpaceID) throws(StoreError) -> FetchPolicy {
        try readFetching(space) { rows throws(StoreError) in try rows.policy() } ?? .all
    }

    package func setFetchPolicy(_ policy: FetchPolicy, space: SpaceID) throws(StoreError) {
        _ = try updateFetching(space) { rows throws(StoreError) in try rows.set(policy) }
    }

    /// Returns the space that the blobs named by records of the space may take together, in bytes; nil: as much as the disk
    /// holds.
    package func quota(of space: SpaceID) throws(StoreError) -> UInt64? {
        try readFetching(space) { rows throws(StoreError) in try rows.quota() } ?? nil
    }

    package func setQuota(_ bytes: UInt64?, space: SpaceID) throws(StoreError) {
        _ = try updateFetching(space) { rows throws(StoreError) in try rows.set(quota: bytes) }
    }

    /// Has a blob fetched whatever the policy says, while a record names it.
    /// - Returns: false if no record does, and nothing is pinned.
    package func pin(_ blob: BlobName, space: SpaceID) throws(StoreError) -> Bool {
        try updateFetching(space) { rows throws(StoreError) in try rows.pin(blob) } ?? false
    }

    /// - Returns: false if it was not pinned.
    package func unpin(_ blob: BlobName, space: SpaceID) throws(StoreError) -> Bool {
        try updateFetching(space) { rows throws(StoreError) in try rows.unpin(blob) } ?? false
    }

    /// Returns whether the blob is pinned. False also for one that no record names now; within the grace period it may be
    /// named again.
    package func isPinned(_ blob: BlobName, space: SpaceID) throws(StoreError) -> Bool {
        try readFetching(space) { rows throws(StoreError) in try rows.isPinned(blob) } ?? false
    }

    /// Returns the blobs that policy or pins want and that are missing here, in the order in which to fetch them: small
    /// before large, newest first. Costs what it returns and the size of `except`, however many are missing.
    package func missingBlobs(
        of space: SpaceID, except: Set<BlobName>, limit: Int
    ) throws(StoreError) -> [MissingBlob] {
        try readFetching(space) { rows throws(StoreError) in try rows.missing(except: except, limit: limit) } ?? []
    }

    /// Returns the number of missing blobs in all.
    package func missingCount(of space: SpaceID) throws(StoreError) -> Int {
        try readFetching(space) { rows throws(StoreError) in try rows.missingCount() } ?? 0
    }

    /// Returns how many blobs should be here and are not, and their sizes.
    package func missingFigures(of space: SpaceID) throws(StoreError) -> MissingFigures {
        try readFetching(space) { rows throws(StoreError) in try rows.missingFigures() } ?? MissingFigures()
    }

    /// The blob as it would be asked for, whatever the policy; nil: no record names it, or it is here as a whole.
    package func missingBlob(_ blob: BlobName, space: SpaceID) throws(StoreError) -> MissingBlob? {
        try readFetching(space) { rows throws(StoreError) in try rows.missing(blob) } ?? nil
    }

    /// Returns the blobs among these that a record of the space names, in the same order: a member may fetch them.
    package func allowed(_ blobs: [BlobName], space: SpaceID) throws(StoreError) -> [BlobName] {
        try readFetching(space) { rows throws(StoreError) in try rows.allowed(blobs) } ?? []
    }

    /// Records that a device said that it holds all of these, in one transaction, or none where it said so just before.
    /// Blobs that no record named are left out.
    package func recordHolders(
        _ blobs: [BlobName], device: DeviceID, at wallMilliseconds: Int64
    ) throws(StoreError) {
        let news = try read { access throws(StoreError) in
            try ReferenceRows(access).news(blobs, device, at: wallMilliseconds)
        }
        guard !news.isEmpty else { return }
        try update { access throws(StoreError) in
            for blob in news { try ReferenceRows(access).recordHolder(blob, device, at: wallMilliseconds) }
        }
    }

    package func recordHolder(_ blob: BlobName, device: DeviceID, at wallMilliseconds: Int64) throws(StoreError) {
        try recordHolders([blob], device: device, at: wallMilliseconds)
    }

    /// Returns the peers that last claimed to hold the blob, the newest claim first.
    package func lastHolders(of blob: BlobName) throws(StoreError) -> [BlobHolder] {
        try read { access throws(StoreError) in try ReferenceRows(access).holders(of: blob) }
    }

    /// Nil: the space is not here.
    private func readFetching<Value>(
        _ space: SpaceID, _ body: (FetchRows) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        try readLog(space) { rows throws(StoreError) in try body(FetchRows(rows)) }
    }

    private func updateFetching<Value: Sendable>(
        _ space: SpaceID, _ body: (FetchRows) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        try update { access throws(StoreError) in
            guard let rows = try LogRows(access, space: space) else { return nil }
            return try body(FetchRows(rows))
        }
    }
}
