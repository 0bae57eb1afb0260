package import SyncModel

// Fetching
extension SQLiteStore {
    package func fetchPolicy(of space: SpaceID) throws(StoreError) -> FetchPolicy {
        try readFetching(space) { rows throws(StoreError) in try rows.policy() } ?? .all
    }

    package func setFetchPolicy(_ policy: FetchPolicy, space: SpaceID) throws(StoreError) {
        _ = try updateFetching(space) { rows throws(StoreError) in try rows.set(policy) }
    }

    package func quota(of space: SpaceID) throws(StoreError) -> UInt64? {
        try readFetching(space) { rows throws(StoreError) in try rows.quota() } ?? nil
    }

    package func setQuota(_ bytes: UInt64?, space: SpaceID) throws(StoreError) {
        _ = try updateFetching(space) { rows throws(StoreError) in try rows.set(quota: bytes) }
    }

    package func pin(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> Bool {
        try updateFetching(space) { rows throws(StoreError) in try rows.pin(blob) } ?? false
    }

    package func unpin(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> Bool {
        try updateFetching(space) { rows throws(StoreError) in try rows.unpin(blob) } ?? false
    }

    package func isPinned(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> Bool {
        try readFetching(space) { rows throws(StoreError) in try rows.isPinned(blob) } ?? false
    }

    package func missingBlobs(
        of space: SpaceID, except: Set<BlobHash>, limit: Int
    ) throws(StoreError) -> [MissingBlob] {
        try readFetching(space) { rows throws(StoreError) in try rows.missing(except: except, limit: limit) } ?? []
    }

    package func missingCount(of space: SpaceID) throws(StoreError) -> Int {
        try readFetching(space) { rows throws(StoreError) in try rows.missingCount() } ?? 0
    }

    package func missingBlob(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> MissingBlob? {
        try readFetching(space) { rows throws(StoreError) in try rows.missing(blob) } ?? nil
    }

    package func allowed(_ blobs: [BlobHash], space: SpaceID) throws(StoreError) -> [BlobHash] {
        try readFetching(space) { rows throws(StoreError) in try rows.allowed(blobs) } ?? []
    }

    package func recordHolders(
        _ blobs: [BlobHash], device: DeviceID, at wallMilliseconds: Int64
    ) throws(StoreError) {
        let news = try read { access throws(StoreError) in
            try ReferenceRows(access).news(blobs, device, at: wallMilliseconds)
        }
        guard !news.isEmpty else { return }
        try update { access throws(StoreError) in
            for blob in news { try ReferenceRows(access).recordHolder(blob, device, at: wallMilliseconds) }
        }
    }

    package func lastHolders(of blob: BlobHash) throws(StoreError) -> [BlobHolder] {
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
