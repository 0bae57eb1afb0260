import CrashDisk
package import SyncModel
package import SyncStore
import Synchronization

/// The disk of a simulated machine: SQLite's files in memory, with faults.
///
/// The store on it is the one that ships. A loss of power takes all that was not synced, and writes fail when they are told
/// to. Only the file that says whether an agent runs lies elsewhere, in tmpfs.
package final class SimulatedDisk: Sendable {
    private struct State {
        var files: DiskFiles
        var directory: ScratchDirectory?
    }

    private let state: Mutex<State>

    private init(_ files: DiskFiles) { state = Mutex(State(files: files)) }

    /// A disk with a store that holds nothing yet.
    package convenience init() { self.init(DiskFiles.empty.copy(isSynced: true)) }

    package func open(
        _ device: SimulatedDevice, leases: MemoryLeases? = nil, faults: StoreFaults = [],
        incarnations: @escaping @Sendable () -> UInt64
    ) throws(StoreError) -> SQLiteStore {
        try open(device.id, leases: leases, faults: faults, incarnations: incarnations, sign: device.sign)
    }

    /// - Throws: `unreadable` where there is no tmpfs, and what opening a store throws.
    package func open(
        _ device: DeviceID, leases: MemoryLeases?, faults: StoreFaults, schema: Schema = .current,
        incarnations: @escaping @Sendable () -> UInt64, sign: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) throws(StoreError) -> SQLiteStore {
        let (files, directory) = state.withLock { state in
            if state.directory == nil { state.directory = ScratchDirectory() }
            return (state.files, state.directory)
        }
        guard let directory else { throw .unreadable(path: "/dev/shm", code: 0) }
        var configuration = files.configuration(in: directory, leases: leases)
        configuration.schema = schema
        // The files are there as long as a store on them.
        return try SQLiteStore(configuration, device: device, faults: faults, incarnations: incarnations) { message in
            withExtendedLifetime(files) { sign(message) }
        }
    }

    /// Returns a copy with everything as it is now, and no lease: a backup, a clone, a disk image.
    package func copy() -> SimulatedDisk { SimulatedDisk(state.withLock(\.files).copy(isSynced: true)) }

    /// Ends the process that has the store open, without a word, here and now; later calls throw `.closed`.
    /// - Parameter losingPower: what was not synced goes, too.
    package func crash(_ store: SQLiteStore, losingPower: Bool) {
        state.withLock { state in
            state.files = losingPower ? state.files.afterPowerLoss() : state.files.copy(isSynced: false)
        }
        // What it does to files at its end is done to those of before.
        store.abandon()
    }

    /// Has the next `count` writes fail with `error` (`.diskFull` or `.inputOutput`) and leave nothing behind.
    package func failNextWrites(_ error: StoreError, count: Int) {
        state.withLock { $0.files.failNextWrites(error, count: count) }
    }
}

/// The files of a simulated disk, registered with SQLite under a name of their own.
private final class DiskFiles: @unchecked Sendable {
    private static let numbers = Mutex<UInt64>(0)

    private let disk: OpaquePointer
    private let name: String

    private init(_ make: (String) -> OpaquePointer) {
        let number = Self.numbers.withLock { numbers in
            numbers += 1
            return numbers
        }
        name = "simulated-\(number)"
        disk = make(name)
    }

    deinit { crash_disk_destroy(disk) }

    /// The files of a new store, made once: a schema takes longer than the copy.
    static let empty: DiskFiles = {
        let files = DiskFiles { name in
            let disk = crash_disk_create(name)
            crash_disk_forget_history(disk)
            return disk
        }
        guard let directory = ScratchDirectory() else { return files }
        // Where it cannot be made, opening it says so.
        let device = SimulatedDevice.all[0]
        try? SQLiteStore(
            files.configuration(in: directory, leases: nil), device: device.id, incarnations: { 0 }, sign: device.sign
        ).close()
        return files
    }()

    func configuration(in directory: ScratchDirectory, leases: MemoryLeases?) -> SQLiteConfiguration {
        var configuration = SQLiteConfiguration(directory: directory.path, leases: leases)
        configuration.virtualFileSystem = name
        configuration.readerCount = 1
        // The real machine's free space must not decide anything.
        configuration.reserveBytes = 0
        // Small, because a run writes little.
        configuration.largeStateBytes = 256
        configuration.checkpointPages = 100
        return configuration
    }

    func copy(isSynced: Bool) -> DiskFiles {
        let copy = DiskFiles { name in crash_disk_copy(disk, isSynced, name) }
        if !isSynced { crash_disk_fail_like(copy.disk, disk) }
        return copy
    }

    func afterPowerLoss() -> DiskFiles {
        let found = DiskFiles { name in crash_disk_after_power_loss(disk, .max, CRASH_LOSES_ALL, 0, name) }
        crash_disk_fail_like(found.disk, disk)
        return found
    }

    func failNextWrites(_ error: StoreError, count: Int) {
        let fault = error == .diskFull ? CRASH_FAULT_FULL : CRASH_FAULT_INPUT_OUTPUT
        crash_disk_fail(disk, fault, crash_disk_operation_count(disk), Int64(count))
    }
}
