import SyncModel

/// The knowledge of a memory store about blobs beside its records: users' decisions, and the stored blobs.
struct MemoryFetching: Sendable {
    var policy = FetchPolicy.all
    var quotaBytes: UInt64?
    /// The pinned blobs, including blobs that no record names as long as there is a reference.
    var pins: Set<BlobHash> = []
    var wholeBlobs: Set<BlobHash> = []
    var holders: [BlobHash: [DeviceID: Int64]] = [:]

    /// With the reference.
    mutating func forget(_ blob: BlobHash) {
        pins.remove(blob)
        holders[blob] = nil
    }

    mutating func recordHolder(_ blob: BlobHash, _ device: DeviceID, at wallMilliseconds: Int64) {
        let noted = holders[blob]?[device]
        if BlobHolder.isNews(at: wallMilliseconds, behind: noted) {
            holders[blob, default: [:]][device] = wallMilliseconds
        }
    }
}

extension MemoryContents {
    /// The blobs that records name and that are not whole here, in the order in which they are fetched.
    var namedMissing: [MissingBlob] {
        var files: [BlobHash: [Attachment]] = [:]
        for object in objects.values {
            for attachment in object.state.shownAttachments {
                files[attachment.file.blob, default: []].append(attachment)
            }
        }
        let missing = files.compactMap { blob, attachments -> MissingBlob? in
            let order = attachments.sorted { ($0.stamp, $0.file.size) < ($1.stamp, $1.file.size) }
            guard !fetching.wholeBlobs.contains(blob), let oldest = order.first, let newest = order.last else {
                return nil
            }
            return MissingBlob(
                blob: blob, size: oldest.file.size, stamp: newest.stamp,
                sizeLimit: fetching.pins.contains(blob) ? nil : fetching.policy.sizeLimit)
        }
        return missing.sorted()
    }

    /// The missing blobs that policy or pins want.
    var wantedMissing: [MissingBlob] {
        namedMissing.filter { fetching.policy.wants(size: $0.size) || fetching.pins.contains($0.blob) }
    }

    func isPinned(_ blob: BlobHash) -> Bool { fetching.pins.contains(blob) && references[blob]?.isHeld ?? false }

    func lastHolders(of blob: BlobHash) -> [BlobHolder] {
        let holders = fetching.holders[blob, default: [:]].map {
            BlobHolder(device: $0.key, notedMilliseconds: $0.value)
        }
        return holders.sorted { left, right in
            left.notedMilliseconds != right.notedMilliseconds
                ? left.notedMilliseconds > right.notedMilliseconds : left.device < right.device
        }
    }
}
