import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Logging
import SyncAgent
import SyncCore
import SyncTransport
import Synchronization
import Testing

/// The configuration, read again by a running agent. In these tests it is a file; the data directory and `listen` are given as flags.
@Suite(.timeLimit(.minutes(20))) struct ReloadTests {
    private func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }

    @Test func `what can change at once counts at once, and is named with both values`() async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try write("log-level = 'notice'\nupload-limit = '1M'\nkeep-history = '30d'", to: file)
        try await LiveAgent.with(file: file) { live async throws in
            try write(
                """
                log-level = "info"
                log-format = "json"
                download-limit = "512K"
                keep-history = "10d"
                announce = "10.0.0.9"
                """, to: file)
            let answer = try await live.agent.reloadConfiguration()
            #expect(
                answer
                    == ReloadResponse(
                        taken: [
                            SettingChange(setting: "announce", before: nil, after: "10.0.0.9"),
                            SettingChange(setting: "log-level", before: "notice", after: "info"),
                            SettingChange(setting: "log-format", before: "text", after: "json"),
                            SettingChange(setting: "upload-limit", before: "1M", after: nil),
                            SettingChange(setting: "download-limit", before: nil, after: "512K"),
                            SettingChange(setting: "keep-history", before: "30d", after: "10d"),
                        ], needsRestart: [], file: file, filePlaces: [file]))
            let configuration = live.agent.configuration
            #expect(configuration.toml.contains("download-limit = \"512K\"\nkeep-history = \"10d\"\n"))
            #expect(!configuration.toml.contains("upload-limit"))
            let level = try await live.agent.status(space: nil).logLevel
            #expect(level == LogLevelResponse(level: "info", configured: "info"))
            #expect(live.agent.loggers.sync.logLevel == .info && live.agent.logger.logLevel == .info)
            #expect(live.agent.reachableAddresses.map(\.host) == ["10.0.0.9"])
            // The agent may have logged something else behind it.
            let line = try #require(
                live.agent.log.recentLines(limit: 100).last { $0.contains("The configuration was read again.") })
            #expect(line.hasPrefix("{") && line.contains(#""message":"The configuration was read again.""#), "\(line)")
            let again = try await live.agent.reloadConfiguration()
            #expect(again == ReloadResponse(taken: [], needsRestart: [], file: file, filePlaces: [file]))
            try await live.put("note/1", #"{"a":1}"#)
        }
    }

    @Test func `a level set for some time outlives a new configured one`() async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try write("log-level = 'notice'", to: file)
        try await LiveAgent.with(file: file) { live async throws in
            _ = try await live.agent.setLogLevel(LogLevelRequest(level: "trace", component: "sync"))
            try write("log-level = 'error'", to: file)
            _ = try await live.agent.reloadConfiguration()
            #expect(live.agent.loggers.sync.logLevel == .trace && live.agent.loggers.store.logLevel == .error)
            let ended = try await live.agent.setLogLevel(LogLevelRequest(level: "error"))
            #expect(ended == LogLevelResponse(level: "error", configured: "error"))
            #expect(live.agent.loggers.sync.logLevel == .error)
        }
    }

    @Test func `what needs a restart is named each time, and not taken over`() async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try write("", to: file)
        try await LiveAgent.with(file: file) { live async throws in
            let before = live.agent.configuration
            // A flag counts more than the file: `listen` did not change.
            try write(
                """
                listen = "127.0.0.1:1"
                state = false
                keep-history = "forever"
                socket = "/nowhere"
                """, to: file)
            for _ in 1...2 {
                let answer = try await live.agent.reloadConfiguration()
                #expect(answer.taken.isEmpty)
                #expect(answer.needsRestart.map(\.setting) == ["socket", "keep-history", "state"])
                let history = answer.needsRestart.first { $0.setting == "keep-history" }
                #expect(history == SettingChange(setting: "keep-history", before: "30d", after: "forever"))
                #expect(live.agent.configuration == before)
            }
        }
    }

    @Test func `a configuration that cannot be read changes nothing, and the line is named`() async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try write("log-level = 'notice'", to: file)
        try await LiveAgent.with(file: file) { live async throws in
            let before = live.agent.configuration
            for (text, reason) in [
                ("log-level = 'debug'\nlog-format = json", "line 2: put the value of log-format in quotes"),
                ("log-level = 'debug'\nlog-levle = 'x'", "line 2: unknown key \"log-levle\""),
                ("\n\nupload-limit = 'fast'", "line 3: upload-limit is \"fast\"; allowed: "),
                ("# one\nlog-level = 'debug'\nmdns = 'x'", "line 3: mdns is \"x\"; allowed: "),
                ("\ndashboard = true", "line 2: dashboard is \"true\"; allowed: "),
                ("backup-keep = 3", "line 1: backup-keep is \"3\"; allowed: only together with backup-to"),
            ] {
                try write(text, to: file)
                let error = await #expect(throws: ControlError.self) {
                    try await live.agent.reloadConfiguration()
                }
                #expect(error?.code == .invalidArgument, "\(text)")
                #expect(error?.message.contains("\(file) \(reason)") == true, "\(text): \(error?.message ?? "")")
                #expect(error?.hint.contains("lanyard reload") == true)
                #expect(live.agent.configuration == before)
            }
            try FileManager.default.removeItem(atPath: file)
            let gone = await #expect(throws: ControlError.self) { try await live.agent.reloadConfiguration() }
            #expect(gone?.code == .fileUnreadable && gone?.message.contains(file) == true)
            #expect(live.agent.configuration == before && live.agent.logger.logLevel == .notice)
            try write("log-level = 'debug'", to: file)
            #expect(try await live.agent.reloadConfiguration().taken.map(\.setting) == ["log-level"])
        }
    }

    @Test func `a plan of backups comes, changes and goes, and that of a person counts again`() async throws {
        let temporary = try TemporaryDirectory()
        let folder = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try write("", to: file)
        try await LiveServer.with(file: file) { server async throws in
            let agent = server.live.agent
            let own = BackupPlanEntry(directory: folder.path, everySeconds: 3_600, keep: 2)
            _ = try await agent.setBackups(own)
            try write("backup-to = '\(folder.path)'\nbackup-every = '12h'", to: file)
            let answer = try await agent.reloadConfiguration()
            #expect(answer.taken.map(\.setting) == ["backup-to", "backup-every", "backup-keep"])
            let view = agent.backups.view
            #expect(view.isConfigured && view.plan?.everySeconds == 43_200 && view.plan?.keep == 7)
            let refused = await #expect(throws: ControlError.self) { try await agent.setBackups(own) }
            #expect(refused?.code == .forbidden)
            try write("", to: file)
            _ = try await agent.reloadConfiguration()
            #expect(!agent.backups.view.isConfigured)
            #expect(agent.backups.view.plan == BackupPlan(directory: folder.path, everySeconds: 3_600, keep: 2))
        }
    }

    @Test func `sessions stay while discovery begins anew`() async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try write("announce = '127.0.0.1'", to: file)
        try await LiveAgent.with(file: file) { live async throws in
            try await live.withPeer { peer async throws in
                func connection() async throws -> ConnectionID? {
                    try await live.agent.snapshot().peers.first { $0.device == peer.agent.device }?.connection
                }
                // Both dialled; behind this round trip one of the two connections is left.
                try await live.put("note/0", "{}")
                try await live.converge(with: peer)
                let before = try await connection()
                try write("announce = '127.0.0.2'", to: file)
                #expect(try await live.agent.reloadConfiguration().taken.map(\.setting) == ["announce"])
                try await live.put("note/1", #"{"a":1}"#)
                try await live.converge(with: peer)
                #expect(try await connection() == before && before != nil)
            }
        }
    }

    @Test func `a new name counts at once, also with connected devices and those that pair later`() async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try write("name = 'desk'", to: file)
        try await LiveAgent.with(file: file) { live async throws in
            func isKnown(as name: String, to peer: LiveAgent) async throws {
                try await peer.until { agent async throws in
                    try await agent.peers().contains {
                        $0.id == live.device && $0.name == name && $0.state == .connected
                    }
                }
            }
            try await live.withPeer { peer async throws in
                try await isKnown(as: "desk", to: peer)
                try write("name = 'kitchen'", to: file)
                let seen = live.agent.peerSignal.version
                let answer = try await live.agent.reloadConfiguration()
                #expect(answer.taken == [SettingChange(setting: "name", before: "desk", after: "kitchen")])
                #expect(try await live.agent.status(space: nil).device.name == "kitchen")
                #expect(live.agent.peerSignal.version > seen, "pages are told")
                try await isKnown(as: "kitchen", to: peer)
                try await live.put("note/1", #"{"a":1}"#)
                try await live.converge(with: peer)
                let ended = peer.agent.log.recentLines(limit: 200).joined(separator: "\n")
                #expect(!ended.contains("A session was refused."))
            }
            try await LiveAgent.with(named: "loft") { later async throws in
                try await live.pair(with: later)
                try await later.until { agent async throws in
                    try await agent.devices(space: "home").contains { $0.name == "kitchen" }
                }
            }
        }
    }

    @Test func `who asks during a reading without waiting gets one more after it`() async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try write("upload-limit = '1M'", to: file)
        let gate = ReadingGate()
        try await LiveAgent.with(file: file, hasRead: { gate.pass() }) { live async throws in
            gate.close()
            var readings = gate.readings.makeAsyncIterator()
            let first = Task { try await live.agent.reload() }
            #expect(await readings.next() == 1)
            try write("upload-limit = '2M'", to: file)
            // Both return at once, and are one reading.
            await live.agent.reloadInTurn()
            await live.agent.reloadInTurn()
            let refused = await #expect(throws: ControlError.self) { try await live.agent.reloadConfiguration() }
            #expect(refused?.code == .alreadyRunning)
            gate.letOnePass()
            #expect(try await first.value.taken.isEmpty)
            #expect(await readings.next() == 2)
            gate.letOnePass()
            try await live.until { agent async in agent.configuration.uploadLimit?.description == "2M" }
            gate.open()
            while true {
                do {
                    _ = try await live.agent.reload()
                    break
                } catch AgentError.alreadyReloading {
                    await Task.yield()
                }
            }
            #expect(gate.count == 3)
        }
    }

    @Test func `without a file the command says where one would be`() async throws {
        try await LiveServer.with { server async throws in
            let run = try await CommandRun.lanyard(["reload"], socket: server.socketPath)
            #expect(
                run.output == "Nothing changed: there is no configuration file. One would be read from "
                    + "\(LiveAgent.noFile).\n")
            #expect(run.exitCode == 0)
        }
    }

    @Test func `the command says what counts, what needs a restart, or that nothing changed`() async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try write("upload-limit = '1M'", to: file)
        try await LiveServer.with(file: file) { server async throws in
            let none = try await CommandRun.lanyard(["reload"], socket: server.socketPath)
            #expect(none.exitCode == 0 && none.output == "Nothing changed.\n", "\(none.output)\(none.errors)")
            try write("upload-limit = '2M'\ndownload-limit = '3M'\nsocket = \"/a\\\\b\"", to: file)
            let some = try await CommandRun.lanyard(["reload"], socket: server.socketPath)
            #expect(
                some.output == """
                    upload-limit is 2M now; it was 1M.
                    download-limit is 3M now; it was not set.
                    socket needs a restart: it is to become /a\\b; it is \(server.live.directory)/control.sock.
                    Restart the agent for that.

                    """, "\(some.output)\(some.errors)")
            try write("", to: file)
            let json = try await CommandRun.lanyard(["reload", "--json"], socket: server.socketPath)
            let answer = try #require(try json.json() as? [String: Any], "\(json.output)")
            #expect(answer.keys.sorted() == ["failed", "file", "filePlaces", "needsRestart", "taken"])
            let first = try #require((answer["taken"] as? [[String: Any]])?.first)
            #expect(first["setting"] as? String == "upload-limit" && first["before"] as? String == "2M")
            #expect(first["after"] is NSNull)
            try write("upload-limit", to: file)
            let bad = try await CommandRun.lanyard(["reload"], socket: server.socketPath)
            #expect(bad.exitCode != 0 && bad.errors.contains("lanyardd.toml line 1: "), "\(bad.errors)")
        }
    }
}

/// Holds readings of the configuration, once it is closed, and counts them.
private final class ReadingGate: Sendable {
    /// The number of each reading that began to wait, from 1.
    let readings: AsyncStream<Int>
    private let waits: AsyncStream<Int>.Continuation
    private let turns = DispatchSemaphore(value: 0)
    private let state = Mutex((isClosed: false, isCounting: false, count: 0))

    init() { (readings, waits) = AsyncStream.makeStream() }

    var count: Int { state.withLock(\.count) }

    func close() { state.withLock { ($0.isClosed, $0.isCounting) = (true, true) } }

    /// Holds no further reading; those that wait go on.
    func open() {
        state.withLock { $0.isClosed = false }
        turns.signal()
    }

    func letOnePass() { turns.signal() }

    func pass() {
        let (number, isClosed) = state.withLock { state in
            if state.isCounting { state.count += 1 }
            return (state.count, state.isClosed)
        }
        if number > 0 { waits.yield(number) }
        if isClosed { turns.wait() }
    }
}
