import CrashDisk
import Foundation
import GRDBSQLite
import Synchronization
import SyncModel
import SyncStore
import Testing

/// Stores that an older program wrote, opened by this one: what is read meanwhile, and what is there if it is stopped.
@Suite("SQLite store: upgrades")
struct UpgradeTests {
    /// A step that changes every object and every segment, as a real one may.
    private static let step = """
        ALTER TABLE object ADD COLUMN later INTEGER NOT NULL DEFAULT 0;
        UPDATE object SET later = id;
        CREATE TABLE longer (segment INTEGER PRIMARY KEY, size INTEGER NOT NULL) STRICT;
        INSERT INTO longer (segment, size) SELECT id, length(bytes) FROM segment;
        """
    private let newer = Schema(steps: Schema.current.steps + [step])

    // MARK: Stopped upgrades

    @Test func `an upgrade that loses its power leaves the store of before, or is done`() throws {
        let disk = PoweredDisk.withStore()
        let store = try disk.open()
        for number in 0..<20 {
            _ = try store.append([[CrashHistory.event(number)]], wallMilliseconds: 1)
            try store.write(CrashHistory.objectWrites(number), at: 1)
        }
        let (digest, vector) = (try store.state().digest, try store.vector)
        store.close()
        let begin = disk.operationCount
        try disk.open(schema: newer).close()
        var (before, after) = (0, 0)
        for operationCount in begin...disk.operationCount {
            for loss in [CRASH_LOSES_ALL, CRASH_LOSES_NOTHING, CRASH_KEEPS_PREFIX, CRASH_KEEPS_SECTORS] {
                let found = disk.afterPowerLoss(
                    operationCount: operationCount, loss, seed: UInt64(clamping: operationCount))
                let reopened: SQLiteStore
                do {
                    reopened = try found.open()
                    before += 1
                } catch StoreError.schemaNewer {
                    reopened = try found.open(schema: newer)
                    after += 1
                }
                #expect(try reopened.state().digest == digest, "after \(operationCount) operations")
                #expect(try reopened.vector == vector, "after \(operationCount) operations")
                #expect(try reopened.recomputedDigest(of: .home) == digest, "after \(operationCount) operations")
                reopened.close()
            }
        }
        #expect(before > 0 && after > 0, "the power went before and after the upgrade was durable")
    }

    // MARK: Reads meanwhile

    private final class Reports: Sendable {
        private let reports = Mutex<[StoreUpgrade]>([])

        func add(_ report: StoreUpgrade) { reports.withLock { $0.append(report) } }

        var all: [StoreUpgrade] { reports.withLock(\.self) }
    }

    /// Runs SQL on the database of a store that is closed.
    private func change(_ directory: String, _ script: String) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(directory + "/lanyard.sqlite", &handle, SQLITE_OPEN_READWRITE, nil)
        defer { sqlite3_close(handle) }
        try #require(code == SQLITE_OK)
        try #require(sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK, "\(script)")
    }

    private func open(
        _ directory: String, readingBefore: Bool = true, reports: Reports = Reports()
    ) throws -> SQLiteStore {
        var configuration = SQLiteConfiguration(directory: directory, leases: nil)
        configuration.readsBeforeUpgraded = readingBefore
        configuration.upgrading = { reports.add($0) }
        configuration.program = "0.9.1"
        let device = TestDevice(1)
        return try SQLiteStore(
            configuration, device: device.id, incarnations: { UInt64.random(in: .min ... .max) }, sign: device.sign)
    }

    /// A closed store whose derived tables are to be filled anew, and whose index misses everything meanwhile.
    private func oldStore(
        in folder: ScratchFolder, derivedBy version: Int
    ) throws -> (directory: String, digest: Sum256) {
        let directory = folder.path + "/data"
        let store = try open(directory)
        #expect(!store.isUpgradePending)
        try store.write(
            [.schema("o", #"{"indexed":["n"]}"#), .putting("o/1", #"{"n":5}"#), .putting("o/2", #"{"n":6}"#)], at: 1)
        _ = try store.append([[.event("s")]], wallMilliseconds: 1)
        let digest = try store.state().digest
        store.close()
        try change(directory, "UPDATE space SET derived = \(version); DELETE FROM field_value;")
        return (directory, digest)
    }

    @Test func `readers are given the older tables until the upgrade is finished`() throws {
        let folder = ScratchFolder(inMemory: true)
        let (directory, digest) = try oldStore(in: folder, derivedBy: 6)
        let reports = Reports()
        let store = try open(directory, reports: reports)
        #expect(store.isUpgradePending)
        #expect(try store.json("o/1")?["n"] == .integer(5))
        #expect(try store.allEvents("s").count == 1)
        #expect(try store.find("o", where: "n", is: .integer(6)).isEmpty, "the index is the older program's")
        try store.finishUpgrade()
        #expect(!store.isUpgradePending)
        #expect(try store.find("o", where: "n", is: .integer(6)) == ["o/2"])
        #expect(try store.state().digest == digest)
        let shares = reports.all.map(\.share)
        #expect(!shares.isEmpty && shares == shares.sorted() && shares.allSatisfy { (0...1).contains($0) })
        try store.write([.putting("o/3", #"{"n":7}"#)], at: 2)
        try store.finishUpgrade()
        #expect(try store.find("o", where: "n", is: .integer(7)) == ["o/3"], "a second call does nothing")
        store.close()
        let again = Reports()
        let reopened = try open(directory, reports: again)
        #expect(!reopened.isUpgradePending && again.all.isEmpty, "an upgrade is told of, and nothing else")
        #expect(try reopened.json("o/3")?["n"] == .integer(7))
        reopened.close()
    }

    @Test func `an upgrade that was not finished begins again, and loses nothing`() throws {
        let folder = ScratchFolder(inMemory: true)
        let (directory, digest) = try oldStore(in: folder, derivedBy: 6)
        let abandoned = try open(directory)
        #expect(abandoned.isUpgradePending)
        abandoned.abandon()
        let store = try open(directory)
        #expect(store.isUpgradePending)
        try store.finishUpgrade()
        #expect(try store.state().digest == digest)
        #expect(try store.find("o", where: "n", is: .integer(5)) == ["o/1"])
        store.close()
    }

    @Test(arguments: [5, 99])
    func `tables whose meaning is another one are filled before anything is read`(version: Int) throws {
        let folder = ScratchFolder(inMemory: true)
        let (directory, digest) = try oldStore(in: folder, derivedBy: version)
        let store = try open(directory)
        #expect(!store.isUpgradePending)
        #expect(try store.find("o", where: "n", is: .integer(6)) == ["o/2"])
        #expect(try store.state().digest == digest)
        store.close()
    }

    @Test func `a caller that asks for no reads gets a store that is up to date`() throws {
        let folder = ScratchFolder(inMemory: true)
        let (directory, _) = try oldStore(in: folder, derivedBy: 6)
        let store = try open(directory, readingBefore: false)
        #expect(!store.isUpgradePending)
        #expect(try store.find("o", where: "n", is: .integer(6)) == ["o/2"])
        store.close()
    }

    // MARK: What a directory says of itself

    @Test func `a directory names the program of its store and the newest database that is kept`() throws {
        let folder = ScratchFolder(inMemory: true)
        let directory = folder.path + "/data"
        try open(directory).close()
        let file = URL(fileURLWithPath: directory + "/lanyard.sqlite.program")
        let versions = StoreVersions(in: directory, known: 21)
        #expect(versions.program == "0.9.1" && versions.kept == nil && versions.keptSchema == nil)
        for number in [19, 20, 22] {
            try Data().write(to: URL(fileURLWithPath: directory + "/lanyard.sqlite.schema-\(number)"))
        }
        let kept = StoreVersions(in: directory, known: 21)
        #expect(kept.keptSchema == 20 && kept.kept == directory + "/lanyard.sqlite.schema-20")
        for text in ["", "\n", "0.9.1", "0.9\u{1b}[2J\n", "0 9\n", String(repeating: "9", count: 100) + "\n"] {
            try Data(text.utf8).write(to: file)
            #expect(StoreVersions(in: directory, known: 21).program == nil, "\(text.debugDescription)")
        }
    }
}
