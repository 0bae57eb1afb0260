import CrashDisk
import SyncModel
import SyncStore
import Testing

/// The disk fails at the n-th operation, for all n: refusals are typed, reads go on, nothing acknowledged is lost.
@Suite("Durability: failing disk")
struct DiskFaultTests {
    @Test func `a full disk at any write is refused as such, and the next write goes on`() throws {
        try forEveryOperation(CRASH_FAULT_FULL, lasting: 1) { $0 == .diskFull }
    }

    @Test func `a disk that stays full for a while is refused as such, and the first write after it goes on`() throws {
        try forEveryOperation(CRASH_FAULT_FULL, lasting: 60, every: 7) { $0 == .diskFull }
    }

    /// Also a failed sync, after which the kernel holds what never reached the disk.
    @Test func `an I/O error at any operation is refused as such, and what is acknowledged later is durable`() throws {
        try forEveryOperation(CRASH_FAULT_INPUT_OUTPUT, lasting: 1, Self.isInputOutput)
    }

    @Test func `a disk that fails for a while is refused as such, and what is acknowledged later is durable`() throws {
        try forEveryOperation(CRASH_FAULT_INPUT_OUTPUT, lasting: 25, every: 7, Self.isInputOutput)
    }

    @Test func `a failing read is refused as such and loses nothing`() throws {
        try forEveryOperation(CRASH_FAULT_READ, lasting: 1, Self.isInputOutput)
    }

    private static func isInputOutput(_ error: StoreError) -> Bool {
        if case .inputOutput = error { return true }
        return false
    }

    private func forEveryOperation(
        _ fault: crash_fault, lasting count: Int64, every step: Int64 = 1, _ isExpected: (StoreError) -> Bool
    ) throws {
        let history = try CrashHistory(rounds: 12)
        let (opening, _) = try callTotals(history, on: PoweredDisk(), counting: fault)
        let (_, total) = try callTotals(history, on: .withStore(), counting: fault)
        var refusals = 0
        // The calls that make a store, and all those on a store that is made.
        let places =
            stride(from: 0, to: opening, by: Int(step)).map { ($0, true) }
            + stride(from: 0, to: total, by: Int(step)).map { ($0, false) }
        for (first, isNew) in places {
            let disk = isNew ? PoweredDisk() : .withStore()
            let finding = try finding(history, disk, fault, first, count, isExpected, &refusals)
            #expect(finding == nil, "fault \(fault.rawValue) at \(first) of a \(isNew ? "new" : "made") store")
            if finding != nil { return }
        }
        #expect(refusals > 0, "some fault reached the caller")
        print(
            "failing disk: fault \(fault.rawValue) at every \(step). of \(opening) and \(total) calls, for \(count): "
                + "\(refusals) typed refusals"
        )
    }

    /// The calls that may fail until the store is open, and until the history is over.
    private func callTotals(
        _ history: CrashHistory, on disk: PoweredDisk, counting fault: crash_fault
    ) throws -> (opening: Int64, all: Int64) {
        func calls() -> Int64 { fault == CRASH_FAULT_READ ? crash_disk_read_count(disk.disk) : disk.operationCount }
        let store = try disk.open()
        defer { store.close() }
        let opening = calls()
        for step in history.steps { try history.perform(step, on: store) }
        return (opening, calls())
    }

    /// Performs the history with one fault; a refused step is done again until it is taken.
    private func finding(
        _ history: CrashHistory, _ disk: PoweredDisk, _ fault: crash_fault, _ first: Int64, _ count: Int64,
        _ isExpected: (StoreError) -> Bool, _ refusals: inout Int
    ) throws -> String? {
        crash_disk_fail(disk.disk, fault, first, count)
        var attemptsLeft = 200
        func refused(_ error: StoreError) -> String? {
            refusals += 1
            attemptsLeft -= 1
            if !isExpected(error) { return "refused as \(error)" }
            return attemptsLeft > 0 ? nil : "the fault never ends"
        }
        var opened: SQLiteStore?
        while opened == nil {
            do { opened = try disk.open() } catch let error as StoreError {
                if let finding = refused(error) { return "at the opening: " + finding }
            }
        }
        guard let store = opened else { return "not opened" }
        for (index, step) in history.steps.enumerated() {
            var isTaken = false
            while !isTaken {
                do {
                    try history.perform(step, on: store)
                    isTaken = true
                } catch let error as StoreError {
                    if let finding = refused(error) { return "step \(index): " + finding }
                    let acknowledged = history.eventCount(before: index)
                    if fault != CRASH_FAULT_READ, try store.allEvents("s").count != acknowledged {
                        return "step \(index): what is read after a refusal is not what was acknowledged"
                    }
                    let writes = history.writeCount(before: index)
                    let counted = try fault == CRASH_FAULT_READ ? nil : store.json("o/total")?["count"]
                    if let counted, counted != .integer(Int64(writes)) {
                        return "step \(index): objects read after a refusal are not what was acknowledged"
                    }
                }
            }
        }
        return try soundAfterPowerLoss(history, store, disk)
    }

    private func soundAfterPowerLoss(_ history: CrashHistory, _ store: SQLiteStore, _ disk: PoweredDisk) throws
        -> String?
    {
        let acknowledged = history.eventCount(before: history.steps.count)
        crash_disk_fail(disk.disk, CRASH_FAULT_NONE, 0, 0)
        let operationCount = disk.operationCount
        store.close()
        var seen: Set<UInt64> = []
        for (loss, seed) in [(CRASH_LOSES_ALL, 1), (CRASH_KEEPS_SECTORS, 2)] {
            let disk = disk.afterPowerLoss(operationCount: operationCount, loss, seed: UInt64(seed))
            guard seen.insert(disk.contentHash).inserted else { continue }
            let found = try disk.open()
            defer { found.close() }
            let writes = history.writeCount(before: history.steps.count)
            if let finding = try history.finding(in: found, acknowledged: acknowledged, writes: writes) {
                return finding
            }
        }
        return nil
    }
}
