import SyncCore
import SyncModel
import SyncStore
import Synchronization

/// The bytes of attachments on one machine: the disk they lie on, and, while its agent runs, the store that keeps them and
/// the core that moves them.
struct SimulatedBlobs {
    /// Names are durable after a sync of the folder, bytes after one of their file.
    var folder: CrashFolder
    /// The database that rows of blobs lie in, apart from that of the records. Its process never ends: the agent that used
    /// it opens its blobs anew.
    let database: SQLiteStore
    let needs: RecordedNeeds
    let clock = SimulatedClock()
    /// The blob store of the running process.
    var store: BlobStore?
    var core: BulkCore?
    /// The partial blobs it works on.
    var partials: [BlobName: BlobPartial] = [:]
    /// The earliest `deadlinePassed` that is planned.
    var wakeAt: Int64?
    /// Disks do one thing after the other; reading goes on beside writing.
    var writesFreeAt: Int64 = 0
    var readsFreeAt: Int64 = 0
    /// The time before which no answer arrives, so that no answer overtakes another.
    var answersAfter: Int64 = 0

    /// The blobs that the records named at the last look.
    var named: Set<BlobName> = []
    /// The blobs that a user waits for.
    var awaited: Set<BlobName> = []

    // Faults
    /// The blobs of which the disk has changed bytes unnoticed, as their files are named.
    var rotten: Set<BlobHash> = []
    /// The next step that fails is its last: the power goes with it, or only the process.
    var dies: Death?
    /// Until then it sends bytes that are not of what was asked for.
    var liesUntil: Int64 = 0

    enum Death { case process, power }

    init(_ device: SimulatedDevice) throws(StoreError) {
        folder = CrashFolder(FolderReplay(), nil)
        database = try SimulatedDisk().open(device) { 0 }
        needs = RecordedNeeds(folder)
    }
}

/// The wall clock of a machine, as its blob store reads it.
final class SimulatedClock: Sendable {
    private let milliseconds = Mutex<Int64>(0)

    var now: Int64 { milliseconds.withLock { $0 } }

    func set(_ milliseconds: Int64) { self.milliseconds.withLock { $0 = milliseconds } }
}
