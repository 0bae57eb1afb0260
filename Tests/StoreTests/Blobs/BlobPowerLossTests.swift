import CrashDisk
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// The power goes at every step of every file, and at every operation of the database between two such steps.
@Suite("Blobs: loss of power")
struct BlobPowerLossTests {
    private struct Run {
        let disk = PoweredDisk.withStore()
        let folder: CrashFolder
        let history = BlobHistory()
        let faults: BlobFaults
        /// Steps of files and operations of the database when the n-th step was acknowledged.
        var acknowledgedAt: [(actions: Int, operations: Int64)] = []

        init(_ faults: BlobFaults) throws {
            self.faults = faults
            let disk = disk
            folder = CrashFolder { disk.operationCount }
            let clock = SetClock()
            let store = try disk.open()
            defer { store.close() }
            let blobs = try Self.blobs(store, folder, clock, faults, run: 1)
            for step in history.steps {
                try history.perform(step, on: blobs, clock, folder)
                acknowledgedAt.append((folder.actions.count, disk.operationCount))
            }
        }

        private static func blobs(
            _ store: SQLiteStore, _ folder: CrashFolder, _ clock: SetClock, _ faults: BlobFaults, run: UInt64
        ) throws -> BlobStore {
            var configuration = BlobConfiguration(run: run, now: { clock.now })
            configuration.smallBytes = 1_000
            configuration.faults = faults
            return try BlobStore(store, files: folder, needs: BlobHistory.needs(), configuration)
        }

        /// Every moment at which the power may go: after so many steps of files and operations of the database.
        var moments: [(actions: Int, operations: Int64)] {
            var moments: [(Int, Int64)] = []
            let actions = folder.actions
            for count in 0...actions.count {
                let from = count == 0 ? 0 : actions[count - 1].databaseOperations
                let to = count == actions.count ? disk.operationCount : actions[count].databaseOperations
                for operations in from...max(from, to) { moments.append((count, operations)) }
            }
            return moments
        }

        /// What is wrong on the machine as it is found; nil: nothing.
        func finding(
            at moment: (actions: Int, operations: Int64), _ replay: FolderReplay, _ loss: crash_loss, seed: UInt64,
            losingPowerAgain: Bool
        ) -> String? {
            let acknowledged = acknowledgedAt.prefix {
                $0.actions <= moment.actions && $0.operations <= moment.operations
            }
            let isInside = acknowledged.last.map { $0 != moment } ?? true
            let expected = history.expectation(after: acknowledged.count, isInside: isInside)
            let found = disk.afterPowerLoss(operationCount: moment.operations, loss, seed: seed)
            let folder = CrashFolder(replay.afterPowerLoss(loss.ofFiles, seed: seed)) { found.operationCount }
            do {
                let store = try found.open()
                let clock = SetClock()
                let blobs = try Self.blobs(store, folder, clock, faults, run: 2)
                defer { store.close() }
                if let finding = try history.finding(in: blobs, folder, expected) { return finding }
                return losingPowerAgain ? try findingAfterAnotherLoss(blobs, store, clock, folder, found) : nil
            } catch {
                return "\(error)"
            }
        }

        /// What came back is gone on with, and that stays too.
        private func findingAfterAnotherLoss(
            _ blobs: BlobStore, _ store: SQLiteStore, _ clock: SetClock, _ folder: CrashFolder, _ disk: PoweredDisk
        ) throws -> String? {
            for step in history.steps { try history.perform(step, on: blobs, clock, folder) }
            store.close()
            var replay = folder.replay
            for action in folder.actions { replay.take(action.action) }
            let found = disk.afterPowerLoss(operationCount: .max, CRASH_LOSES_ALL, seed: 1)
            let again = CrashFolder(replay.afterPowerLoss(.losesAll, seed: 1))
            let reopened = try found.open()
            defer { reopened.close() }
            let expected = history.expectation(after: history.steps.count, isInside: false)
            return try history.finding(
                in: Self.blobs(reopened, again, SetClock(), faults, run: 3), again, expected
            ).map { "after another loss of power: " + $0 }
        }

        /// Goes through all moments, until `stop` says enough.
        func forEachMoment(
            _ losses: [(crash_loss, [UInt64])], _ take: (String?, _ moment: (Int, Int64), crash_loss, UInt64) -> Bool
        ) {
            var replay = folder.replay
            let actions = folder.actions
            var taken = 0
            var number = 0
            for moment in moments {
                while taken < moment.actions {
                    replay.take(actions[taken].action)
                    taken += 1
                }
                for (loss, seeds) in losses {
                    for seed in seeds {
                        number += 1
                        let seed = seed &+ UInt64(number)
                        let finding = finding(at: moment, replay, loss, seed: seed, losingPowerAgain: number % 16 == 0)
                        if !take(finding, moment, loss, seed) { return }
                    }
                }
            }
        }
    }

    private static let losses: [(crash_loss, [UInt64])] = [
        (CRASH_LOSES_ALL, [1]), (CRASH_LOSES_NOTHING, [1]), (CRASH_KEEPS_PREFIX, [1, 2]),
        (CRASH_KEEPS_SECTORS, [1, 2]),
    ]

    @Test func `what is readable is right and what was acknowledged is there, whenever the power goes`() throws {
        let run = try Run([])
        var states = 0
        run.forEachMoment(Self.losses) { finding, moment, loss, seed in
            states += 1
            #expect(finding == nil, "at \(moment), loss \(loss.rawValue), seed \(seed)")
            return finding == nil
        }
        #expect(states > 1_000, "the history is long enough to mean something")
        print("blobs, loss of power: \(states) states, nothing lost, nothing wrong")
    }

    @Test(arguments: [
        (BlobFaults.rowBeforeFile, "row before file"), (.skipFileSync, "file not synced"),
        (.skipFolderSync, "folder not synced"), (.fileBeforeRow, "file before row"),
        (.forgetPartials, "partial blobs forgotten"), (.sweepReferenced, "sweep without asking"),
    ]) func `the same check finds the planted bugs`(faults: BlobFaults, name: String) throws {
        let run = try Run(faults)
        var (states, bad) = (0, 0)
        var first: String?
        run.forEachMoment([(CRASH_LOSES_ALL, [1]), (CRASH_KEEPS_PREFIX, [1])]) { finding, _, _, _ in
            states += 1
            if let finding {
                bad += 1
                first = first ?? finding
            }
            return bad < 20
        }
        #expect(bad > 0, "states in which something is wrong")
        print("blobs, \(name): \(bad) of \(states) states; the first: \(first ?? "")")
    }
}

extension crash_loss {
    /// What the same loss of power does to files.
    fileprivate var ofFiles: FolderReplay.Loss {
        switch self {
        case CRASH_LOSES_ALL: .losesAll
        case CRASH_LOSES_NOTHING: .losesNothing
        case CRASH_KEEPS_PREFIX: .keepsPrefix
        default: .keepsSectors
        }
    }
}
