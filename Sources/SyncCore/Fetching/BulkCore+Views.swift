package import SyncModel

extension BulkCore {
    /// The peers, sorted by device.
    package var peerViews: [BulkPeerView] {
        peers.filter(\.hasSession).map { peer in
            let link = upLink(peer.device)
            return BulkPeerView(
                device: peer.device, isConnected: link != nil, bytesIn: peer.bytesIn, bytesOut: peer.bytesOut,
                inFlightBytes: link.map { links[$0].flightBytes } ?? 0,
                isSlow: link.map { links[$0].isSlow(at: now) } ?? false)
        }.sorted { $0.device < $1.device }
    }

    /// The large blobs at work and the blobs that a user waits for, in the order in which they are fetched.
    package var transfers: [BulkTransferView] {
        let personal = wants.values.filter(\.isPersonal).map(\.rank)
        let ranks = Set(personal).union(work.keys.compactMap { wants[$0]?.rank })
        return ranks.sorted().map { rank in
            BulkTransferView(
                blob: rank.blob, presentBytes: work[rank.blob]?.presentBytes ?? 0, isPersonal: rank.isPersonal)
        }
    }

    package var load: BulkLoad {
        BulkLoad(
            inFlightBytes: flightBytes, unwrittenBytes: unwrittenBytes, hashBytes: hashBytes,
            hashBytesAtWork: countedHashBytes,
            outboundBytes: links.map { $0.serving.bufferedBytes + $0.serving.readingBytes }.max() ?? 0,
            lookUps: links.map(\.serving.toLookUp.count).max() ?? 0, wants: wants.count, blobsAtWork: work.count)
    }

    package func view(of blob: BlobName) -> BulkWantView {
        let want = wants[blob]
        let liars = peers.filter { $0.isLiar(about: blob, at: now) }
        let isArriving =
            switch want?.stage {
            case .asked, .writing, .askingHashes, .proving, .finishing: true
            case .fetching: isMoving(blob)
            case .waiting, .beginning, .lackingHashes, nil: false
            }
        // What is set aside with all that is as large as something that was refused, was not tried itself.
        let isTooLarge = refusals.tooLarge.contains(blob)
        return BulkWantView(
            blob: blob, isWanted: want != nil, isArriving: isArriving,
            holders: want?.holders.keys.sorted() ?? [], spentHolders: want.map(spentHolders) ?? [],
            liars: liars.map(\.device).sorted(), pardonAt: liars.compactMap { $0.lies[blob]?.until }.min(),
            refusal: want?.refusal ?? (isTooLarge ? refusals.tooLargeCode : nil),
            presentBytes: work[blob]?.presentBytes ?? 0)
    }

    private func spentHolders(_ want: BulkWantState) -> [DeviceID] {
        guard let present = planner.present(want.want.blob) else { return [] }
        return want.holders.filter { _, held in
            switch held {
            case .all, .some: false
            case .chunks(let chunks):
                (0..<min(chunks.count, present.count)).allSatisfy { !chunks.contains($0) || present.contains($0) }
            }
        }.keys.sorted()
    }

    /// True if the blob is wanted and not stored, as far as this machine knows: the policy may want more than was listed.
    package func isWanted(_ blob: BlobName) -> Bool { wants[blob] != nil }
}
