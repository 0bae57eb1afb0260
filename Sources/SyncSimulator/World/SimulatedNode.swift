import SyncCore
import SyncModel
import SyncStore
import Synchronization

/// A machine of the world: a disk, memory that a power cut empties, and sometimes a running agent.
struct SimulatedNode {
    let number: Int
    /// A copy of a disk runs with the keys of its original until a person gives it others.
    var device: SimulatedDevice
    var disk: SimulatedDisk
    let leases = MemoryLeases()
    /// Grows with every start: what was planned for an earlier process does not reach a later one.
    var generation = 0
    var store: SQLiteStore?
    var states = SimulatedStates()
    var core: AgentCore?
    var trusted: [DeviceID] = []
    /// Devices that may dial a session, to be told why they may have none.
    var heard: [DeviceID] = []
    /// The earliest `deadlinePassed` that is planned.
    var wakeAt: Int64?
    /// The steps in a row after which the core's next deadline had passed already.
    var lateDeadlines = 0
    /// Until when the process is stopped (SIGSTOP); what arrives waits.
    var pausedUntil: Int64 = 0
    /// Wall clock minus simulated time.
    var wallOffsetMilliseconds: Int64 = 0
    var nextAcceptedConnection: UInt64 = 0
    /// An older state of the disk, to be put back by a careless person.
    var backup: DiskImage?
    /// The image that will be found on the disk after the next crash.
    var tail: DiskImage?
    /// The moment to which the running machine will be put back.
    var snapshot: DiskImage?
    /// The machine was put back while it ran: its agent knows of no crash.
    var writesOn = false
    /// The node of which this machine runs a copy of the disk.
    var twinOf: Int?
    /// The changes that the disk holds, kept beside it for the checkers.
    var durable = VersionVector()
    /// Something on the disk came as state, now or before it was put back.
    var hasTakenState = false
    /// True once the node took a state after a machine was put back while it ran: that may hold the end of one of its two histories behind
    /// the beginning of the other, where neither node could tell (Decisions/24).
    var mayMix = false
    /// Disks do one thing after the other.
    var diskFreeAt: Int64 = 0
    /// The time at which the store's last answer is delivered.
    var answersAfter: Int64 = 0
    /// The version of the agent, or of the next one if none runs.
    var version = SimulatedVersion.present
    var isPaired = true
    /// The devices of which the core has said, since it started and in their sessions of now, that they show another state of the same changes.
    var diverged: Set<DeviceID> = []
    /// Nodes that a person paired with it, as far as its disk can know of them.
    var letIn: Set<Int> = []
    let incarnations: IncarnationSource
    /// Nil in a world without bytes of attachments.
    var blobs: SimulatedBlobs?

    var isUp: Bool { core != nil }

    init(number: Int, device: SimulatedDevice, seed: UInt64, disk: SimulatedDisk) {
        self.number = number
        self.device = device
        self.disk = disk
        incarnations = IncarnationSource(seed: seed &+ UInt64(number) &* 0x9e37)
    }
}

/// A disk as it was, and what it held.
struct DiskImage {
    let disk: SimulatedDisk
    let durable: VersionVector
    let letIn: Set<Int>
}

/// Incarnations of one node over all its lives: random, never twice, the same for the same seed.
final class IncarnationSource: Sendable {
    private let random: Mutex<SplitMix64>

    init(seed: UInt64) { random = Mutex(SplitMix64(seed: seed)) }

    func next() -> UInt64 { random.withLock { $0.next() } }
}
