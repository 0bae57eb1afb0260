package import SyncModel

// Fetching
extension MemoryStore {
    /// Records a blob as whole or not whole, as a blob store beside this one would in its transaction.
    package func recordBlob(_ blob: BlobHash, isWhole: Bool) throws(StoreError) {
        try update { contents in
            if isWhole { contents.fetching.wholeBlobs.insert(blob) } else { contents.fetching.wholeBlobs.remove(blob) }
        }
    }

    package func fetchPolicy(of space: SpaceID) throws(StoreError) -> FetchPolicy {
        try snapshot(of: space)?.fetching.policy ?? .all
    }

    package func setFetchPolicy(_ policy: FetchPolicy, space: SpaceID) throws(StoreError) {
        guard try snapshot(of: space) != nil else { return }
        try update { $0.fetching.policy = policy }
    }

    package func quota(of space: SpaceID) throws(StoreError) -> UInt64? {
        try snapshot(of: space)?.fetching.quotaBytes
    }

    package func setQuota(_ bytes: UInt64?, space: SpaceID) throws(StoreError) {
        guard try snapshot(of: space) != nil else { return }
        try update { $0.fetching.quotaBytes = bytes }
    }

    package func pin(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> Bool {
        guard try snapshot(of: space) != nil else { return false }
        var isPinned = false
        try update { contents in
            isPinned = contents.references[blob]?.isHeld ?? false
            if isPinned { contents.fetching.pins.insert(blob) }
        }
        return isPinned
    }

    package func unpin(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> Bool {
        guard try snapshot(of: space) != nil else { return false }
        var wasPinned = false
        try update { contents in
            wasPinned = contents.isPinned(blob)
            contents.fetching.pins.remove(blob)
        }
        return wasPinned
    }

    package func isPinned(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> Bool {
        try snapshot(of: space)?.isPinned(blob) ?? false
    }

    package func missingBlobs(
        of space: SpaceID, except: Set<BlobHash>, limit: Int
    ) throws(StoreError) -> [MissingBlob] {
        let missing = try snapshot(of: space)?.wantedMissing.filter { !except.contains($0.blob) } ?? []
        return Array(missing.prefix(max(0, limit)))
    }

    package func missingCount(of space: SpaceID) throws(StoreError) -> Int {
        try snapshot(of: space)?.wantedMissing.count ?? 0
    }

    package func missingBlob(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> MissingBlob? {
        try snapshot(of: space)?.namedMissing.first { $0.blob == blob }
    }

    package func allowed(_ blobs: [BlobHash], space: SpaceID) throws(StoreError) -> [BlobHash] {
        guard let contents = try snapshot(of: space) else { return [] }
        return blobs.filter { contents.references[$0]?.isHeld ?? false }
    }

    package func recordHolders(
        _ blobs: [BlobHash], device: DeviceID, at wallMilliseconds: Int64
    ) throws(StoreError) {
        try update { contents in
            for blob in blobs where contents.references[blob] != nil {
                contents.fetching.recordHolder(blob, device, at: wallMilliseconds)
            }
        }
    }

    package func lastHolders(of blob: BlobHash) throws(StoreError) -> [BlobHolder] {
        try snapshot(of: .home)?.lastHolders(of: blob) ?? []
    }
}
