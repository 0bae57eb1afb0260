import SyncModel
package import SyncStore

/// The disk of a simulated machine: in memory, or a database in tmpfs, which is what agents keep their records in.
///
/// Only the second holds state that came from peers; it has no faults of its own, and never lies.
package enum SimulatedDisk {
    case memory(MemoryDisk)
    case database(ScratchDirectory)

    package func open(
        _ device: SimulatedDevice, leases: MemoryLeases?, faults: StoreFaults,
        incarnations: @escaping @Sendable () -> UInt64
    ) throws(StoreError) -> any SimulatedStore {
        switch self {
        case .memory(let disk):
            return try MemoryStore(
                disk: disk, device: device.id, leases: leases, faults: faults, incarnations: incarnations,
                sign: device.sign)
        case .database(let directory):
            var configuration = SQLiteConfiguration(directory: directory.path, leases: leases)
            configuration.readerCount = 1
            // The real machine's free space must not decide anything.
            configuration.reserveBytes = 0
            configuration.largeStateBytes = 256
            return try SQLiteStore(
                configuration, device: device.id, faults: faults, incarnations: incarnations, sign: device.sign)
        }
    }

    /// Returns a copy with everything as it is now, and no lease: a backup, a clone, a disk image.
    package func copy() throws(StoreError) -> SimulatedDisk {
        switch self {
        case .memory(let disk): return .memory(disk.copy())
        case .database(let directory):
            guard let copy = directory.copy() else { throw .unreadable(path: directory.path, code: 0) }
            return .database(copy)
        }
    }

    func failNextWrites(_ error: StoreError, count: Int) {
        if case .memory(let disk) = self { disk.failNextWrites(error, count: count) }
    }
}
