import CrashDisk
import SyncModel
import SyncStore
import Testing

/// The power goes after every single operation of a history, in several ways; each time the store is opened again.
@Suite("Durability: loss of power")
struct PowerLossTests {
    private struct Run {
        let disk = PoweredDisk()
        let history: CrashHistory
        /// Operations done when the n-th step was acknowledged.
        var acknowledgedAt: [Int64] = []

        init(faults: StoreFaults, rounds: Int) throws {
            history = try CrashHistory(rounds: rounds)
            let store = try disk.open(faults: faults)
            for step in history.steps {
                try history.perform(step, on: store)
                acknowledgedAt.append(disk.operationCount)
            }
            store.close()
        }

        /// Opens the disk as it is found after `operationCount` operations.
        /// - Returns: what is wrong; nil when nothing is.
        func finding(
            after operationCount: Int64, _ loss: crash_loss, seed: UInt64, losingPowerAgain: Bool
        ) -> String? {
            let found = disk.afterPowerLoss(operationCount: operationCount, loss, seed: seed)
            let steps = acknowledgedAt.prefix { $0 <= operationCount }.count
            do {
                let store = try found.open()
                defer { store.close() }
                let acknowledged = history.eventCount(before: steps)
                let writes = history.writeCount(before: steps)
                if let finding = try history.finding(in: store, acknowledged: acknowledged, writes: writes) {
                    return finding
                }
                return losingPowerAgain ? try findingAfterAnotherLoss(store, found) : nil
            } catch {
                return "\(error)"
            }
        }

        /// A store that came back can be written to, and that stays too.
        private func findingAfterAnotherLoss(_ store: SQLiteStore, _ found: PoweredDisk) throws -> String? {
            let count = try store.allEvents("s").count
            _ = try store.append([[CrashHistory.event(count)]], wallMilliseconds: 1)
            let writes = try writeCount(in: store)
            try store.write(CrashHistory.objectWrites(writes), at: 1)
            store.close()
            let reopened = try found.afterPowerLoss(operationCount: .max, CRASH_LOSES_ALL, seed: 1).open()
            defer { reopened.close() }
            return try history.finding(in: reopened, acknowledged: count + 1, writes: writes + 1)
        }

        private func writeCount(in store: SQLiteStore) throws -> Int {
            guard case .integer(let count)? = try store.json("o/total")?["count"] else { return 0 }
            return Int(count)
        }
    }

    private static let losses: [(crash_loss, [UInt64])] = [
        (CRASH_LOSES_ALL, [1]), (CRASH_LOSES_NOTHING, [1]), (CRASH_KEEPS_PREFIX, [1]), (CRASH_KEEPS_SECTORS, [1, 2]),
    ]

    @Test func `no acknowledged write is lost, whenever the power goes and whatever unsynced writes survive`() throws {
        let run = try Run(faults: [], rounds: 24)
        #expect(run.disk.operationCount > 300, "the history is long enough to mean something")
        var states = 0
        for operationCount in 0...run.disk.operationCount {
            for (loss, seeds) in Self.losses {
                for seed in seeds {
                    let finding = run.finding(
                        after: operationCount, loss, seed: seed &+ UInt64(operationCount),
                        losingPowerAgain: states % 8 == 0)
                    states += 1
                    #expect(finding == nil, "after \(operationCount) operations, loss \(loss.rawValue), seed \(seed)")
                    if finding != nil { return }
                }
            }
        }
        print("loss of power: \(states) states, none lost an acknowledged write")
    }

    @Test func `the same check finds the planted bug of answering before the sync`() throws {
        let run = try Run(faults: .commitWithoutSync, rounds: 24)
        var lost = 0
        for operationCount in 0...run.disk.operationCount {
            let finding = run.finding(after: operationCount, CRASH_LOSES_ALL, seed: 1, losingPowerAgain: false)
            if finding?.hasSuffix("lost") ?? false { lost += 1 }
        }
        #expect(lost > 100, "states that lost an acknowledged write")
        print("loss of power without syncs: \(lost) of \(run.disk.operationCount + 1) states lost acknowledged writes")
    }
}
