import SyncModel

/// A device with which there is a session, or at least a connection.
struct BulkPeer: Sendable {
    let device: DeviceID
    /// A connection may open before its session is heard of.
    var hasSession = false
    /// The address to dial; nil if the other side dials.
    var dial: Endpoint?
    /// True if the peer asked for a connection.
    var isAsking = false
    var attempt: ConnectionID?
    /// The number of dials, and of requests to be dialled, since a connection was last up.
    var failures = 0
    /// The number of connections ended because of what the peer sent, since the session began.
    var offences = 0
    /// The number of connections ended because nothing came, since something last did.
    var silences = 0
    /// The time before which the peer is not dialled.
    var nextDialAt: Tick?
    /// Blobs about which it was wrong: bytes or hashes.
    var lies: [BlobName: BulkLie] = [:]
    var bytesIn: UInt64 = 0
    var bytesOut: UInt64 = 0

    init(device: DeviceID) { self.device = device }

    /// True if the peer is not believed about that blob now.
    func isLiar(about blob: BlobName, at now: Tick) -> Bool { lies[blob].map { now < $0.until } ?? false }
}

/// A record that a peer was wrong about a blob.
struct BulkLie: Sendable {
    /// The number of times in this session.
    var count = 0
    /// The time before which the peer is not asked for the blob.
    var until: Tick
}
