import SyncModel

/// A device with which there is a session, or at least a connection.
struct BulkPeer: Sendable {
    let device: DeviceID
    /// A connection may open before its session is heard of.
    var hasSession = false
    /// Where to dial; nil: the other side does.
    var dial: Endpoint?
    /// It asked for a connection.
    var isAsking = false
    var attempt: ConnectionID?
    /// Dials and questions for one since a connection was up last.
    var failures = 0
    /// Connections ended because of what it sent, since the session began.
    var offences = 0
    /// Connections ended because nothing came, since something did.
    var silences = 0
    /// Nothing is dialled before.
    var nextDialAt: Tick?
    /// Blobs about which it was wrong: bytes, hashes or the size.
    var lies: [BlobHash: BulkLie] = [:]
    var bytesIn: UInt64 = 0
    var bytesOut: UInt64 = 0

    init(device: DeviceID) { self.device = device }

    /// It is not believed about that blob now.
    func isLiar(about blob: BlobHash, at now: Tick) -> Bool { lies[blob].map { now < $0.until } ?? false }
}

/// That a peer was wrong about a blob.
struct BulkLie: Sendable {
    /// How often, in this session.
    var count = 0
    /// It is not asked for the blob before.
    var until: Tick
}
