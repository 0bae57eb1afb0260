import Foundation
import Synchronization
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// Where and how a store keeps its files in a test: one contract holds for all of these.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// On a disk of the simulator.
    case memory
    case sqliteInTmpfs
    case sqliteOnDisk
    /// Every object is kept as a snapshot and the edits since.
    case sqliteOfLargeObjects

    var testDescription: String { rawValue }
}

/// One device's machine: its disk, its leases, and the stores opened on it one after the other.
final class StoreBed: @unchecked Sendable {
    let kind: StoreKind
    var device: TestDevice
    private var disk = SimulatedDisk()
    private let memoryLeases: MemoryLeases
    private var folder: ScratchFolder
    private var leaseFolder: ScratchFolder
    private let incarnations = Mutex<UInt64>(0)
    var hasLeases = true
    /// Each incarnation sorts before those that the machine had earlier: they are random in life.
    var countsDown = false
    /// How far the machine's wall clock is ahead of the time since its start, in milliseconds.
    let clockAhead = Mutex<Int64>(0)

    init(_ kind: StoreKind, device: TestDevice = TestDevice(1)) {
        self.kind = kind
        self.device = device
        memoryLeases = MemoryLeases()
        folder = ScratchFolder(inMemory: kind != .sqliteOnDisk)
        leaseFolder = ScratchFolder(inMemory: true)
    }

    /// A machine that has a copy of another's disk, and perhaps shares its leases: a second process on the same host.
    private init(copying bed: StoreBed, sharingLeases: Bool) {
        kind = bed.kind
        device = bed.device
        disk = bed.disk.copy()
        memoryLeases = sharingLeases ? bed.memoryLeases : MemoryLeases()
        folder = ScratchFolder(inMemory: bed.kind != .sqliteOnDisk)
        leaseFolder = sharingLeases ? bed.leaseFolder : ScratchFolder(inMemory: true)
        incarnations.withLock { $0 = 1000 }
        folder.replaceContents(with: bed.folder)
    }

    func copy(sharingLeases: Bool) -> StoreBed { StoreBed(copying: self, sharingLeases: sharingLeases) }

    var directory: String { folder.path + "/data" }

    func open(faults: StoreFaults = [], schema: Schema = .current) throws -> SQLiteStore {
        let next: @Sendable () -> UInt64 = { [self] in
            incarnations.withLock {
                $0 += 1
                return countsDown ? 1_000_000 - $0 : $0
            }
        }
        switch kind {
        case .memory:
            return try disk.open(
                device.id, leases: hasLeases ? memoryLeases : nil, faults: faults, schema: schema, incarnations: next,
                sign: device.sign)
        case .sqliteInTmpfs, .sqliteOnDisk, .sqliteOfLargeObjects:
            var configuration = SQLiteConfiguration(
                directory: directory, leases: hasLeases ? LeaseFolder(path: leaseFolder.path) : nil)
            configuration.schema = schema
            configuration.clockAhead = { [self] in clockAhead.withLock { $0 } }
            if kind == .sqliteOfLargeObjects { configuration.largeStateBytes = 1 }
            return try SQLiteStore(
                configuration, device: device.id, faults: faults, incarnations: next, sign: device.sign)
        }
    }

    /// The process ends without closing anything: the files stay as they are at this instant, and its locks are gone.
    /// A store in a folder goes on living beside the copy that is opened next.
    func crash(_ store: SQLiteStore) {
        if kind == .memory { return disk.crash(store, losingPower: false) }
        folder = ScratchFolder(copying: folder)
        leaseFolder = ScratchFolder(copying: leaseFolder)
    }

    /// The machine starts anew.
    func reboot() {
        memoryLeases.reboot()
        leaseFolder.empty()
    }

    /// Puts another machine's disk, as it is now, in place of this one's.
    func restore(_ backup: StoreBed) {
        disk = backup.disk.copy()
        folder.replaceContents(with: backup.folder)
    }
}

/// A directory that goes with the value.
final class ScratchFolder: Sendable {
    let path: String
    private let inMemory: Bool

    init(inMemory: Bool) {
        self.inMemory = inMemory
        path = Self.place(inMemory) + "/lanyard-store-" + UUID().uuidString
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    init(copying other: ScratchFolder) {
        inMemory = other.inMemory
        path = Self.place(inMemory) + "/lanyard-store-" + UUID().uuidString
        try? FileManager.default.copyItem(atPath: other.path, toPath: path)
    }

    /// In memory: a tmpfs that every Linux has.
    private static func place(_ inMemory: Bool) -> String { inMemory ? "/dev/shm" : NSTemporaryDirectory() }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func empty() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            try? FileManager.default.removeItem(atPath: path + "/" + name)
        }
    }

    func replaceContents(with other: ScratchFolder) {
        empty()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: other.path)) ?? [] {
            try? FileManager.default.copyItem(atPath: other.path + "/" + name, toPath: path + "/" + name)
        }
    }
}
