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

    /// The want, with the size that is tried.
    var want: BlobWant
    /// The policy wants it.
    var isListed: Bool
    /// True if a user waits for the blob.
    var isPersonal: Bool
    /// The code of the disk's last refusal, since something of it was kept.
    var refusal: String?
    var stage = Stage.waiting
    /// The peers that claim the blob with the size of `want`.
    var holders: [DeviceID: Held] = [:]
    /// The peers that claim it with another size.
    var claims: [DeviceID: BlobClaim] = [:]
    /// The peers whose sizes were tried, the latest last.
    var tried: [DeviceID] = []
    /// True if the hash is proven to cover the size of `want`: a peer that claims another is wrong.
    var isProven = false
    /// The layout that the record names.
    var recorded: BlobLayout
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
        recorded = want.layout
    }

    /// True if the blob may be fetched at its present size.
    var isAllowed: Bool { isPersonal || want.allows(want.layout) }

    /// True if a large blob is of use to begin.
    var isWorthBeginning: Bool { isAllowed && (!holders.isEmpty || want.isBegun && !isLookedAt) }

    var isSmall: Bool { want.layout.isSmall }

    var rank: FetchRank {
        FetchRank(isPersonal: isPersonal, size: want.layout.size, stamp: want.stamp, blob: want.blob)
    }
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
