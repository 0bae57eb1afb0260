import SyncStore
import Testing

/// The machines of one test, each with a store in a file: a bed takes its folder along when it goes, and a sender of state opens
/// the file again.
final class Machines {
    private var beds: [StoreBed] = []

    func open(_ device: UInt8, _ faults: StoreFaults = [], kind: StoreKind = .sqliteInTmpfs) throws -> SQLiteStore {
        let bed = StoreBed(kind, device: TestDevice(device))
        beds.append(bed)
        return try bed.open(faults: faults)
    }

    /// After a crash of the one that was opened as the `index`th.
    func reopen(_ store: SQLiteStore, _ index: Int) throws -> SQLiteStore {
        beds[index].crash(store)
        return try beds[index].open()
    }
}
