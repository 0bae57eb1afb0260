package import SyncModel

/// A peer as `status`, `peers`, metrics and the simulator's checkers see it. Views are copies, taken between two steps.
package struct BulkPeerView: Sendable, Equatable {
    package let device: DeviceID
    /// True if a bulk connection is up.
    package let isConnected: Bool
    /// The bytes received in frames of bulk connections since the session began.
    package let bytesIn: UInt64
    package let bytesOut: UInt64
    /// The bytes asked of the peer and not answered by the disk.
    package let inFlightBytes: Int
    package let isSlow: Bool
}

/// A blob that is being fetched.
package struct BulkTransferView: Sendable, Equatable {
    package let blob: BlobName
    package let presentBytes: UInt64
    /// True if a user waits for the blob.
    package let isPersonal: Bool
}

/// A blob that is wanted, or about which a peer was wrong, for `why`. Lists are sorted.
package struct BulkWantView: Sendable, Equatable {
    package let blob: BlobName
    /// The policy, a pin or a person wants it.
    package let isWanted: Bool
    /// True while chunks of the blob come, or its bytes as a whole.
    package let isArriving: Bool
    /// The peers that claim to hold the blob or some of it.
    package let holders: [DeviceID]
    /// The holders that have nothing that is not stored.
    package let spentHolders: [DeviceID]
    /// The peers that were wrong about the blob and are not asked.
    package let liars: [DeviceID]
    /// The time at which the first of the liars is asked again.
    package let pardonAt: Tick?
    /// The code of the disk's last refusal.
    package let refusal: String?
    package let presentBytes: UInt64
}

package struct BulkCounters: Sendable, Equatable {
    package var connectionsOpened = 0
    package var dials = 0
    package var offences = 0
    package var requestsSent = 0
    package var requestsCancelled = 0
    package var chunksReceived = 0
    /// Chunks that came though they were stored, or under way to the disk.
    package var chunksDuplicate = 0
    package var chunksWrong = 0
    package var smallReceived = 0
    package var smallWrong = 0
    package var hashesWrong = 0
    package var blobsFetched = 0
    package var refusedHere = 0
    package var refusedByPeers = 0
    package var chunksServed = 0
    package var smallServed = 0

    package init() {}
}

/// The used part of each bound.
package struct BulkLoad: Sendable, Equatable {
    /// The bytes asked of peers and not answered by the disk: at most `Bounds.windowBytes`.
    package var inFlightBytes: Int
    /// The bytes that came and are not answered by the disk.
    package var unwrittenBytes: Int
    /// Hashes of chunks being collected: at most `Bounds.hashBytes`.
    package var hashBytes: Int
    /// The same sum computed anew: what is counted must be what is held or asked for.
    package var hashBytesAtWork: Int
    /// The most that waits in the transport for one peer, or is being read for it.
    package var outboundBytes: Int
    /// Blobs that are to be looked up for one peer, at most: 2 × `BulkLimits.wants`.
    package var lookUps: Int
    package var wants: Int
    package var blobsAtWork: Int
}
