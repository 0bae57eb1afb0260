import Foundation
import GRDBSQLite
import SyncModel
import SyncStore
import Testing

/// What concerns the files of the SQLite store only: schema, lock, modes, damage.
@Suite("SQLite store: files")
struct SQLiteFileTests {
    private static let nextStep = "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;"
    private let newer = Schema(steps: Schema.current.steps + [nextStep])

    @Test func `a store is brought up to a newer schema, the old file kept for a week`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let old = try bed.open()
        _ = try old.append([[.event("s")]], wallMilliseconds: 1)
        let before = try old.state()
        old.close()
        let kept = bed.directory + "/lanyard.sqlite.schema-\(Schema.current.version)"
        let store = try bed.open(schema: newer)
        #expect(try store.state() == before)
        #expect(FileManager.default.fileExists(atPath: kept))
        _ = try store.append([[.event("s")]], wallMilliseconds: 1)
        #expect(FileManager.default.fileExists(atPath: kept), "a person can still go back")
        store.close()
        let lastWeek = Date(timeIntervalSinceNow: -7 * 86_400 - 60)
        try FileManager.default.setAttributes([.modificationDate: lastWeek], ofItemAtPath: kept)
        let later = try bed.open(schema: newer)
        #expect(FileManager.default.fileExists(atPath: kept), "nothing goes before something was written")
        _ = try later.append([[.event("s")]], wallMilliseconds: 1)
        #expect(!FileManager.default.fileExists(atPath: kept))
        later.close()
        #expect(throws: StoreError.schemaNewer(found: newer.version, known: Schema.current.version)) {
            try bed.open()
        }
    }

    @Test func `a step that fails leaves the database as it was`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let old = try bed.open()
        _ = try old.append([[.event("s")]], wallMilliseconds: 1)
        let before = try old.state()
        old.close()
        let broken = Schema(steps: Schema.current.steps + [Self.nextStep + "INSERT INTO nowhere VALUES (1);"])
        #expect(throws: StoreError.self) { try bed.open(schema: broken) }
        #expect(try bed.open().state() == before)
    }

    @Test func `data is for its owner only`() throws {
        let bed = StoreBed(.sqliteOnDisk)
        let store = try bed.open()
        _ = try store.append([[.event("s")]], wallMilliseconds: 1)
        for (name, mode) in [
            ("", 0o700), ("/lanyard.sqlite", 0o600), ("/lanyard.sqlite-wal", 0o600), ("/agent.lock", 0o600),
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: bed.directory + name)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
    }

    @Test func `the lock is not passed on to children`() throws {
        let bed = StoreBed(.sqliteOnDisk)
        let store = try bed.open()
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/cat")
        let input = Pipe()
        child.standardInput = input
        child.standardOutput = Pipe()
        try child.run()
        defer {
            try? input.fileHandleForWriting.close()
            child.waitUntilExit()
        }
        store.close()
        #expect(throws: Never.self) { try bed.open() }
    }

    @Test func `a path that is no directory is refused with its errno`() throws {
        let bed = StoreBed(.sqliteOnDisk)
        try Data().write(to: URL(fileURLWithPath: bed.directory))
        do {
            _ = try bed.open()
            Issue.record("a file was taken for a directory")
        } catch StoreError.unreadable(let path, let code) {
            #expect(path.hasPrefix(bed.directory) && code == ENOTDIR)
        }
    }

    @Test func `a file that is no database is refused as corrupt, and not changed`() throws {
        let bed = StoreBed(.sqliteOnDisk)
        try FileManager.default.createDirectory(atPath: bed.directory, withIntermediateDirectories: true)
        let rubbish = Data(repeating: 0x41, count: 20_000)
        let file = bed.directory + "/lanyard.sqlite"
        try rubbish.write(to: URL(fileURLWithPath: file))
        do {
            _ = try bed.open()
            Issue.record("rubbish was taken for a database")
        } catch StoreError.corrupt {
        }
        #expect(FileManager.default.contents(atPath: file) == rubbish)
    }

    @Test func `a page of the newest segment that was overwritten is noticed at the start`() throws {
        let bed = StoreBed(.sqliteOnDisk)
        let store = try bed.open()
        let marker = String(repeating: "m", count: 6_000)
        _ = try store.append([[.event("s", "\"\(marker)\"")]], wallMilliseconds: 1)
        store.close()
        let file = bed.directory + "/lanyard.sqlite"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let place = try #require(bytes.range(of: Data(String(repeating: "m", count: 600).utf8)))
        bytes[place.lowerBound + 100] ^= 1
        try bytes.write(to: URL(fileURLWithPath: file))
        do {
            _ = try bed.open()
            Issue.record("a changed byte went unnoticed")
        } catch StoreError.corrupt {
        }
    }

    @Test func `a disk below its reserve takes no write and serves reads`() throws {
        let folder = ScratchFolder(inMemory: true)
        let device = TestDevice(1)
        var configuration = SQLiteConfiguration(directory: folder.path, leases: nil)
        func open() throws -> SQLiteStore {
            try SQLiteStore(
                configuration, device: device.id, incarnations: { UInt64.random(in: .min ... .max) }, sign: device.sign)
        }
        let roomy = try open()
        _ = try roomy.append([[.event("s")]], wallMilliseconds: 1)
        roomy.close()
        configuration.reserveBytes = .max
        let store = try open()
        #expect(throws: StoreError.diskFull) { try store.append([[.event("s")]], wallMilliseconds: 1) }
        #expect(throws: StoreError.diskFull) { try store.probe() }
        #expect(store.health().condition == .refusing(.diskFull))
        #expect(try store.allEvents("s").count == 1)
    }

    /// They cost a lock of the whole process at each allocation.
    @Test func `SQLite keeps no figures of its memory`() throws {
        let folder = ScratchFolder(inMemory: true)
        let device = TestDevice(1)
        let store = try SQLiteStore(
            SQLiteConfiguration(directory: folder.path, leases: nil), device: device.id, incarnations: { 1 },
            sign: device.sign)
        defer { store.close() }
        #expect(sqlite3_memory_used() == 0)
    }

    @Test func `a lease folder is one that forgets at a reboot`() {
        let forgetful = ScratchFolder(inMemory: true)
        #expect(LeaseFolder(path: forgetful.path) != nil)
        #expect(LeaseFolder(path: forgetful.path + "/new") != nil)
        #expect(LeaseFolder(path: "/proc") == nil)
        #expect(LeaseFolder(path: forgetful.path + "/no/such") == nil)
    }
}
