import SyncModel

/// A blob that should be here, and how far it is.
///
/// Small: (`beginning`: is it here? →) `waiting` → `asked` → `writing` → gone; back to `waiting` when it did not come, was
/// wrong, or was refused. Large: `waiting` → `beginning` → (`lackingHashes` → `askingHashes` → `proving` →) `fetching` →
/// `finishing` → gone; from all of them back to `waiting` when it is put aside.
struct BulkWantState: Sendable {
    enum Stage: Sendable, Equatable {
        case waiting
        case asked(ConnectionID)
        case writing
        case beginning
        case lackingHashes
        case askingHashes(ConnectionID)
        /// The hashes that this device sent are looked at by the disk.
        case proving(DeviceID)
        case fetching
        case finishing
    }

    enum Held: Sendable {
        case all
        case chunks(ChunkSet)
        /// The peer holds some chunks. It is asked which once it matters.
        case some
    }

    var want: BlobWant
    /// The policy wants it.
    var isListed: Bool
    /// True if a user waits for the blob.
    var isPersonal: Bool
    /// The code of the disk's last refusal, since something of it was kept.
    var refusal: String?
    var stage = Stage.waiting
    /// The peers that claim the blob or some of it.
    var holders: [DeviceID: Held] = [:]
    /// True if no peer has the blob, and that was reported since the last change.
    var saidNobody = false
    /// The time since which nothing changed about which peers have it.
    var doubtedSince: Tick?
    /// The time by which a holder should have announced itself.
    var doubtAt: Tick?
    /// The number of times that it could not be finished.
    var failures = 0
    /// The time before which the blob is not worked on.
    var notBefore: Tick?
    /// True if the stored part was looked at: that tells peers what they may have of it, and whether it is whole.
    var isLookedAt = false

    init(_ want: BlobWant, isListed: Bool, isPersonal: Bool) {
        (self.want, self.isListed, self.isPersonal) = (want, isListed, isPersonal)
    }

    /// True if a large blob is of use to begin.
    var isWorthBeginning: Bool { !holders.isEmpty || want.isBegun && !isLookedAt }

    var rank: FetchRank { FetchRank(isPersonal: isPersonal, stamp: want.stamp, blob: want.blob) }
}

/// A large blob at work, beside what `FetchPlanner` knows.
struct BulkWork: Sendable {
    /// The hashes of its chunks, as far as they came. They are not verified.
    var hashes: [UInt8] = []
    /// Chunks on the way to the disk.
    var writing: Set<Int> = []
    /// The time at which `holding` was last sent, and the number of chunks since.
    var toldAt: Tick
    var untoldChunks = 0
    var progressAt: Tick?
    var presentBytes: UInt64 = 0
}

/// Bytes on the way to the disk.
struct BulkWrite: Sendable {
    let connection: ConnectionID
    let device: DeviceID
    /// The bytes as counted in flight.
    let bytes: Int
}
