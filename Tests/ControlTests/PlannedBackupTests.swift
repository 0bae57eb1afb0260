import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import Synchronization
import Testing

/// Backups that the agent makes by itself.
@Suite(.timeLimit(.minutes(20))) struct PlannedBackupTests {
    private struct Shell {
        let server: LiveServer
        let folder: String

        func callAsFunction(_ arguments: String...) async throws -> CommandRun {
            try await CommandRun.lanyard(arguments, socket: server.socketPath)
        }

        /// All names in the folder for backups, also hidden ones.
        var names: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
        }

        func write(_ text: String, to name: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
    }

    private func withShell(in place: String? = nil, _ body: (Shell) async throws -> Void) async throws {
        let files = try TemporaryDirectory()
        let folder = files.path + "/disk"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await LiveServer.with(in: place) { server async throws in
            try await server.live.put("note/n", #"{"title":"kept"}"#)
            try await body(Shell(server: server, folder: folder))
        }
    }

    private func code(_ run: CommandRun) -> String? {
        (try? JSONDecoding.value(ErrorResponse.self, from: Array(run.errors.utf8), unknownKeys: .ignore))?
            .controlError.code.rawValue
    }

    private func warnings(_ shell: Shell) async throws -> [String] {
        try await shell.server.client.status().warnings.map(\.code).filter { $0.hasPrefix("backup_") }
    }

    @Test func `the first is made at once, can be restored, and status tells of it`() async throws {
        try await withShell { lanyard in
            #expect(try await lanyard.server.client.status().backups == nil)
            let run = try await lanyard("backup", "--to", lanyard.folder, "--every", "1d", "--keep", "3")
            #expect(run.exitCode == 0, "\(run.errors)")
            let said = run.output.replacing(/good one \d+ (?:s|min) ago/, with: "good one now")
            #expect(said.hasPrefix("Every 1 d into \(lanyard.folder), 3 backups kept.\nlast good one now ("))
            #expect(run.errors.contains("keys"))
            let name = try #require(lanyard.names.first)
            #expect(lanyard.names.count == 1)
            #expect(name.hasPrefix("lanyard-\(lanyard.server.live.shortID)-") && name.hasSuffix("Z.backup"))
            let path = "\(lanyard.folder)/\(name)"
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            let restored = try await CommandRun.lanyard(["restore", path, "--data-dir", lanyard.folder + "/back"])
            #expect(restored.exitCode == 0, "\(restored.errors)")

            let backups = try #require(try await lanyard.server.client.status().backups)
            #expect(backups.plan == BackupPlanEntry(directory: lanyard.folder, everySeconds: 86_400, keep: 3))
            #expect(backups.lastGood?.file == path && backups.lastFailure == nil && !backups.configured)
            let next = try #require(backups.next).millisecondsSinceEpoch
            #expect(next == (try #require(backups.lastGood).time.millisecondsSinceEpoch) + 86_400_000)
            #expect(try await lanyard("status").output.contains("backups    last good one "))
            #expect(try await warnings(lanyard).isEmpty)
        }
    }

    @Test func `old ones go only once a newer one is good, and files of others stay`() async throws {
        try await withShell { lanyard in
            let other = "lanyard-OTHERXX-2020-01-01T00-00-00Z.backup"
            let mine = "lanyard-\(lanyard.server.live.shortID)-2020-01-01T00-00-0"
            // A crash left one unfinished; two older ones are there.
            let left = ".lanyard-\(lanyard.server.live.shortID)-1-2"
            // A person's own name, and one of a clock that was ahead.
            let named = "lanyard-\(lanyard.server.live.shortID)-before-upgrade.backup"
            let ahead = "lanyard-\(lanyard.server.live.shortID)-2999-01-01T00-00-00Z.backup"
            for name in [other, mine + "1Z.backup", mine + "2Z.backup", left, "holiday.jpg", named, ahead] {
                try lanyard.write("x", to: name)
            }
            #expect(try await lanyard("backup", "--to", lanyard.folder, "--every", "1d", "--keep", "2").exitCode == 0)
            #expect(Set(lanyard.names).isSuperset(of: [other, mine + "2Z.backup", "holiday.jpg", named]))
            #expect(Set(lanyard.names).isDisjoint(with: [mine + "1Z.backup", left, ahead]))
            let first = lanyard.names.count
            #expect(try await lanyard("backup", "--now").exitCode == 0)
            #expect(lanyard.names.count == first, "one came, one went")
            #expect(!lanyard.names.contains(mine + "2Z.backup"))
            let before = lanyard.names

            // The folder takes nothing more: what is good stays, and nothing unfinished is left.
            let away = lanyard.folder + ".away"
            try FileManager.default.moveItem(atPath: lanyard.folder, toPath: away)
            let failed = try await lanyard("backup", "--now", "--json")
            #expect(failed.exitCode == 3 && code(failed) == "not_found", "\(failed.errors)")
            #expect(try await warnings(lanyard) == ["backup_failed"])
            let plan = try await lanyard("backup", "--plan")
            #expect(plan.output.contains("last good one ") && plan.output.contains("last try failed"))
            try FileManager.default.moveItem(atPath: away, toPath: lanyard.folder)
            #expect(lanyard.names == before)
            #expect(try await lanyard("backup", "--now").exitCode == 0)
            #expect(try await warnings(lanyard).isEmpty)
        }
    }

    /// Damages backups of a folder while they are written, as a bad disk does: a byte in their middle, behind the agent's back.
    private final class BadDisk: Sendable {
        /// The agent has written this much, and goes on behind it.
        private static let writtenBytes: off_t = 1 << 18

        private let folder: String
        private let damaged = Mutex<Set<String>>([])
        private let isOver = Mutex(false)

        init(_ folder: String) { self.folder = folder }

        /// The unfinished files in which a byte was changed.
        var names: Set<String> { damaged.withLock(\.self) }

        func begin() {
            Thread.detachNewThread { [self] in
                while !isOver.withLock(\.self) {
                    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                    where name.hasPrefix(".lanyard-") && !names.contains(name) { damage(name) }
                    sched_yield()
                }
            }
        }

        func end() { isOver.withLock { $0 = true } }

        private func damage(_ name: String) {
            let file = open("\(folder)/\(name)", O_RDWR)
            guard file >= 0 else { return }
            defer { close(file) }
            var byte: UInt8 = 0
            guard pread(file, &byte, 1, Self.writtenBytes) == 1 else { return }
            let place = Self.writtenBytes / 2
            guard pread(file, &byte, 1, place) == 1 else { return }
            byte ^= 0x10
            if pwrite(file, &byte, 1, place) == 1 { _ = damaged.withLock { $0.insert(name) } }
        }
    }

    @Test func `what does not read back as it was written is no backup, and the older one stays`() async throws {
        try await withShell { lanyard in
            // Long enough to be changed while it is written.
            try await lanyard.server.live.attach(
                [UInt8](repeating: 7, count: 8 << 20), named: "large.bin", to: "note/n")
            #expect(try await lanyard("backup", "--to", lanyard.folder, "--every", "1d", "--keep", "1").exitCode == 0)
            let disk = BadDisk(lanyard.folder)
            disk.begin()
            defer { disk.end() }
            // A backup that was written and read back before the disk got to it is good, and replaces the one before.
            var tries = 0
            while true {
                let before = lanyard.names
                let good = try #require(before.count == 1 ? before.first : nil, "\(before)")
                let known = try Data(contentsOf: URL(fileURLWithPath: "\(lanyard.folder)/\(good)"))
                let count = disk.names.count
                let run = try await lanyard("backup", "--now", "--json")
                tries += 1
                guard run.exitCode != 0 else {
                    try #require(tries < 20, "no backup was damaged in time")
                    continue
                }
                try #require(code(run) == "damaged" && run.errors.contains("read back"), "\(run.errors)")
                // The disk notes what it damaged after it did.
                try await lanyard.server.live.until { _ in disk.names.count > count }
                #expect(disk.names.count == count + 1)
                #expect(lanyard.names == before, "the damaged one has no name, and is gone")
                #expect(try Data(contentsOf: URL(fileURLWithPath: "\(lanyard.folder)/\(good)")) == known)
                break
            }
            #expect(try await warnings(lanyard) == ["backup_failed"])
            disk.end()
            #expect(try await lanyard("backup", "--now").exitCode == 0)
            #expect(try await warnings(lanyard).isEmpty)
        }
    }

    @Test func `of several within a second the newest is the one that stays`() async throws {
        try await withShell { lanyard in
            #expect(try await lanyard("backup", "--to", lanyard.folder, "--every", "1d", "--keep", "1").exitCode == 0)
            for _ in 0..<4 {
                let made = try #require(try await lanyard.server.client.backUpNow().lastGood)
                #expect(lanyard.names.map { "\(lanyard.folder)/\($0)" } == [made.file])
            }
        }
    }

    @Test func `a folder in which nothing can be written is refused before there is a plan`() async throws {
        try await withShell { lanyard in
            let run = try await lanyard("backup", "--to", "/proc/self", "--every", "1d", "--json")
            #expect(run.exitCode == 1 && code(run) == "file_unwritable", "\(run.errors)")
            let none = try await lanyard("backup", "--plan", "--json")
            #expect((try none.json() as? [String: Any])?["plan"] is NSNull)
            #expect(try await lanyard("backup", "--now").exitCode == 3)
        }
    }

    @Test func `the plan is there after a restart, and ends when it is told to`() async throws {
        let place = try TemporaryDirectory()
        let disk = try TemporaryDirectory()
        try await LiveServer.with(in: place.path) { server async throws in
            let answer = try await server.client.setBackups(
                BackupPlanEntry(directory: disk.path, everySeconds: 3_600, keep: 1))
            #expect(answer.lastFailure == nil)
        }
        try await LiveServer.with(in: place.path) { server async throws in
            let backups = try await server.client.backups()
            #expect(backups.plan?.everySeconds == 3_600)
            #expect(backups.lastGood != nil, "it is not made again before its time")
            let stopped = try await CommandRun.lanyard(["backup", "--stop"], socket: server.socketPath)
            #expect(stopped.exitCode == 0)
            #expect(try await server.client.status().backups == nil)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).count == 1)
        try await LiveServer.with(in: place.path) { server async throws in
            #expect(try await server.client.backups().plan == nil)
        }
    }

    @Test func `a plan that cannot be read is a warning, not silence`() async throws {
        let place = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: place.path + "/data", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data("{".utf8).write(to: URL(fileURLWithPath: place.path + "/data/backups.json"))
        try await LiveServer.with(in: place.path) { server async throws in
            let warning = try #require(
                try await server.client.status().warnings.first { $0.code == "backup_failed" })
            #expect(warning.message.contains("cannot be read") && warning.hint.contains("lanyard backup --to"))
        }
    }

    @Test(arguments: [
        ["backup"], ["backup", "--to", "/tmp"], ["backup", "--every", "1d"], ["backup", "--now", "--stop"],
        ["backup", "file", "--now"], ["backup", "--to", "/tmp", "--every", "1d", "--keep", "0"],
        ["backup", "--to", "/tmp", "--every", "0s"], ["backup", "--to", "/tmp", "--every", "1d", "--force"],
    ])
    func `options that do not fit are refused`(arguments: [String]) async throws {
        let run = try await CommandRun.lanyard(arguments)
        #expect(run.exitCode == 2, "\(run.errors)")
    }

    @Test func `a folder inside the data directory is refused`() async throws {
        try await withShell { lanyard in
            let run = try await lanyard("backup", "--to", lanyard.server.live.directory + "/x", "--every", "1d")
            #expect(run.exitCode == 2 && run.errors.contains("lost together"))
        }
    }

    // MARK: When

    private let plan = BackupPlan(directory: "/d", everySeconds: 86_400, keep: 7)
    private let day: Int64 = 86_400_000

    @Test func `one is due when the newest good one is as old as the interval`() {
        var record = BackupRecord(since: 0)
        #expect(record.due(plan, now: 5) == 5, "at once without any")
        record.lastGood = .init(file: "f", bytes: 1, milliseconds: 100)
        #expect(record.due(plan, now: 200) == 100 + day)
        // The clock was a year ahead when it was made.
        record.lastGood = .init(file: "f", bytes: 1, milliseconds: 365 * day)
        #expect(record.due(plan, now: 200) == 200)
    }

    @Test func `a try that failed is made again later and later, at most an hour after it`() {
        var record = BackupRecord(since: 0)
        record.lastFailure = .init(code: "disk_full", message: "", hint: "", milliseconds: 0)
        let pauses = (1...9).map { count in
            record.failures = count
            return record.due(plan, now: 10) / 60_000
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        let often = BackupPlan(directory: "/d", everySeconds: 30, keep: 1)
        #expect(record.due(often, now: 10) == 30_000)
    }

    @Test func `after a clock that was ahead a failed try is made again at once, and no future counts as fresh`() {
        var record = BackupRecord(since: 365 * day)
        record.lastFailure = .init(code: "disk_full", message: "", hint: "", milliseconds: 365 * day)
        record.failures = 1
        #expect(record.due(plan, now: day) == day && record.isOverdue(plan, now: day))
        record.lastFailure = nil
        record.failures = 0
        #expect(!record.isOverdue(plan, now: day), "the next try has not been yet")
    }

    @Test func `it is overdue after two intervals without a good one`() {
        var record = BackupRecord(since: 0)
        #expect(!record.isOverdue(plan, now: 2 * day) && record.isOverdue(plan, now: 2 * day + 1))
        record.lastGood = .init(file: "f", bytes: 1, milliseconds: day)
        #expect(!record.isOverdue(plan, now: 3 * day) && record.isOverdue(plan, now: 3 * day + 1))
    }

    // MARK: Configuration

    @Test func `the configuration has the same, and what it lacks is usual`() throws {
        func plan(_ text: String) throws -> BackupPlan? {
            let layer = try ConfigurationLayer(text: text, path: "c.toml")
            let configuration = try AgentConfiguration(layers: [layer], environment: [:], hostName: "h")
            let again = try AgentConfiguration(
                layers: [ConfigurationLayer(text: configuration.toml, path: "c.toml")], environment: [:],
                hostName: "h")
            #expect(again.backups == configuration.backups)
            return configuration.backups
        }
        #expect(try plan("") == nil)
        #expect(try plan(#"backup-to = "/d""#) == BackupPlan(directory: "/d", everySeconds: 86_400, keep: 7))
        #expect(
            try plan("backup-to = '/d'\nbackup-every = '12h'\nbackup-keep = 3")
                == BackupPlan(directory: "/d", everySeconds: 43_200, keep: 3))
        for wrong in [
            "backup-to = 'd'", "backup-every = '1d'", "backup-keep = 3", "backup-to = '/d'\nbackup-every = 'soon'",
            "backup-to = '/d'\nbackup-every = 'forever'", "backup-to = '/d'\nbackup-keep = 0",
            "data-dir = '/d'\nbackup-to = '/d'", "data-dir = '/d'\nbackup-to = '/d/e'",
        ] {
            #expect(throws: ConfigurationError.self, "\(wrong)") { try plan(wrong) }
        }
    }
}
