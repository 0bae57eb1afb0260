import CrashDisk
import SyncModel
import SyncStore
import Testing

/// The power goes after every single operation of a history, in several ways; each time the store is opened again.
@Suite("Durability: loss of power")
struct PowerLossTests {
    /// What a loss of power left. Many are alike, since little is under way most of the time; each is looked at once.
    private struct FoundState {
        struct Key: Hashable {
            let contentHash: UInt64
            let acknowledgedSteps: Int
        }

        let disk: PoweredDisk
        let acknowledgedSteps: Int

        var key: Key { Key(contentHash: disk.contentHash, acknowledgedSteps: acknowledgedSteps) }
    }

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

        /// The disk as it is found after `operationCount` operations, and the steps that were acknowledged until then.
        func state(after operationCount: Int64, _ loss: crash_loss, seed: UInt64) -> FoundState {
            FoundState(
                disk: disk.afterPowerLoss(operationCount: operationCount, loss, seed: seed),
                acknowledgedSteps: acknowledgedAt.prefix { $0 <= operationCount }.count)
        }

        /// - Returns: what is wrong with what is found; nil when nothing is.
        func finding(in state: FoundState, losingPowerAgain: Bool) -> String? {
            do {
                let store = try state.disk.open()
                defer { store.close() }
                let acknowledged = history.eventCount(before: state.acknowledgedSteps)
                let writes = history.writeCount(before: state.acknowledgedSteps)
                if let finding = try history.finding(in: store, acknowledged: acknowledged, writes: writes) {
                    return finding
                }
                return losingPowerAgain ? try findingAfterAnotherLoss(store, state.disk) : nil
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
        var seen: Set<FoundState.Key> = []
        for operationCount in 0...run.disk.operationCount {
            for (loss, seeds) in Self.losses {
                for seed in seeds {
                    states += 1
                    let state = run.state(after: operationCount, loss, seed: seed &+ UInt64(operationCount))
                    guard seen.insert(state.key).inserted else { continue }
                    let finding = run.finding(in: state, losingPowerAgain: seen.count % 8 == 0)
                    #expect(finding == nil, "after \(operationCount) operations, loss \(loss.rawValue), seed \(seed)")
                    if finding != nil { return }
                }
            }
        }
        #expect(seen.count > 1_000, "the losses differ")
        print("loss of power: \(states) states, \(seen.count) of them different, none lost an acknowledged write")
    }

    @Test func `the same check finds the planted bug of answering before the sync`() throws {
        let run = try Run(faults: .commitWithoutSync, rounds: 24)
        var lost = 0
        var findings: [FoundState.Key: String?] = [:]
        for operationCount in 0...run.disk.operationCount {
            let state = run.state(after: operationCount, CRASH_LOSES_ALL, seed: 1)
            let finding = findings[state.key] ?? run.finding(in: state, losingPowerAgain: false)
            findings[state.key] = .some(finding)
            if finding?.hasSuffix("lost") ?? false { lost += 1 }
        }
        #expect(lost > 100, "states that lost an acknowledged write")
        print("loss of power without syncs: \(lost) of \(run.disk.operationCount + 1) states lost acknowledged writes")
    }
}
