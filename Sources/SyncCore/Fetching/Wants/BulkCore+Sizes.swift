import SyncModel

// The size of a blob. Records name one, and may be wrong; holders name one, and may lie. One of these sizes comes to the
// blob's hash together with the hashes of its chunks, and is the truth from then on. Until then one is tried at a time, and
// peers that name another are set aside: they are no liars yet. Before that proof no room is made on the disk, and no more is
// collected than hashes (`Bounds.hashBytes`).
extension BulkCore {
    /// Records that a peer holds the blob with another size than the one that is tried.
    mutating func recordClaim(_ claim: BlobClaim, of blob: BlobHash, by device: DeviceID) {
        guard let want = wants[blob] else { return }
        loseHolder(blob, device)
        if want.isProven { return lied(device, blob) }
        wants[blob]?.claims[device] = claim
        reconsider(blob)
    }

    /// Marks the blob: whether it is tried with another size is decided before this step ends.
    mutating func reconsider(_ blob: BlobHash) {
        if wants[blob]?.claims.isEmpty == false { contested.insert(blob) }
    }

    mutating func planSizes() {
        guard !contested.isEmpty else { return }
        let due = contested.sorted()
        contested = []
        if configuration.faults.contains(.believeFirstSize) { return }
        for blob in due {
            guard let want = wants[blob], !want.isProven, want.holders.isEmpty || !want.isAllowed,
                let next = want.nextClaim
            else { continue }
            switch want.stage {
            case .lackingHashes: putAside(blob)
            case .waiting: break
            // Requests to peers or to the disk are answered first.
            case .asked, .writing, .beginning, .askingHashes, .proving, .fetching, .finishing: continue
            }
            // The policy does not want the blob at the claimed size.
            for device in want.holders.keys.sorted() { giveWay(blob, device) }
            contested.remove(blob)
            wants[blob]?.recordTried(next.device)
            take(next.layout, for: blob)
            enqueue(blob)
        }
    }

    /// The disk knows it with this size, which its hash was proven to cover.
    mutating func prove(_ layout: BlobLayout, of blob: BlobHash) {
        guard let want = wants[blob], !want.isProven else { return }
        wants[blob]?.isProven = true
        var wrong: [DeviceID] = []
        if want.layout != layout {
            wrong = want.holders.keys.sorted()
            take(layout, for: blob)
        }
        for device in wrong + (wants[blob]?.claims.keys.sorted() ?? []) { lied(device, blob) }
    }

    /// Takes this size for the blob: the peers that claim it become holders.
    private mutating func take(_ layout: BlobLayout, for blob: BlobHash) {
        guard let want = wants[blob] else { return }
        ready.remove(blob)
        for index in links.indices { links[index].small.remove(blob) }
        wants[blob]?.want = BlobWant(
            blob: blob, layout: layout, stamp: want.want.stamp, sizeLimit: want.want.sizeLimit,
            isBegun: want.want.isBegun)
        let isSmall = layout.isSmall
        for (device, claim) in want.claims.sorted(by: { $0.key < $1.key }) where claim.layout == layout {
            wants[blob]?.claims[device] = nil
            wants[blob]?.holders[device] = claim.isWhole ? .all : .some
            if claim.isWhole, !isSmall { effects.append(.recordHolder(blob, device)) }
        }
    }

    /// Tries another size first: the peer was asked and makes no progress, and others hold the blob with another size.
    mutating func giveWay(_ blob: BlobHash, _ device: DeviceID) {
        guard let want = wants[blob], !want.isProven, !want.claims.isEmpty, let held = want.holders[device] else {
            return
        }
        let isWhole = if case .all = held { true } else { false }
        loseHolder(blob, device)
        wants[blob]?.recordTried(device)
        wants[blob]?.claims[device] = BlobClaim(layout: want.layout, isWhole: isWhole)
        reconsider(blob)
    }

    /// The policy does not want it any more, as large as it is.
    mutating func stopIfTooLarge(_ blob: BlobHash) {
        guard let want = wants[blob], !want.isAllowed else { return }
        ready.remove(blob)
        for index in links.indices { links[index].small.remove(blob) }
        switch want.stage {
        case .lackingHashes, .askingHashes, .fetching: putAside(blob)
        // Answered by the disk in a moment, which is looked at then; a small one came as it was asked for.
        case .waiting, .asked, .writing, .beginning, .proving, .finishing: return
        }
    }
}

extension BulkWantState {
    /// The claim to try next. Peers not tried, or tried longest ago, come first; then the size of the record; then the least
    /// size.
    var nextClaim: (device: DeviceID, layout: BlobLayout)? {
        let allowed = claims.filter { isPersonal || want.allows($0.value.layout) }
        func rank(_ device: DeviceID, _ claim: BlobClaim) -> (Int, Int, UInt64) {
            (tried.firstIndex(of: device) ?? -1, claim.layout == recorded ? 0 : 1, claim.layout.size)
        }
        let next = allowed.min { left, right in
            let (first, second) = (rank(left.key, left.value), rank(right.key, right.value))
            return first == second ? left.key < right.key : first < second
        }
        return next.map { ($0.key, $0.value.layout) }
    }

    mutating func recordTried(_ device: DeviceID) {
        tried.removeAll { $0 == device }
        tried.append(device)
    }
}
