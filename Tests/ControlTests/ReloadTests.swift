import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Logging
import SyncAgent
import SyncCore
import SyncTransport
import Testing

/// The configuration, read again by a running agent. In these tests it is a file; the data directory and `listen` are given as flags.
@Suite(.timeLimit(.minutes(2))) struct ReloadTests {
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
                        ], needsRestart: []))
            let configuration = live.agent.configuration
            #expect(configuration.toml.contains("download-limit = \"512K\"\nkeep-history = \"10d\"\n"))
            #expect(!configuration.toml.contains("upload-limit"))
            let level = try await live.agent.status(space: nil).logLevel
            #expect(level == LogLevelResponse(level: "info", configured: "info"))
            #expect(live.agent.loggers.sync.logLevel == .info && live.agent.logger.logLevel == .info)
            #expect(live.agent.reachableAddresses.map(\.host) == ["10.0.0.9"])
            let line = try #require(live.agent.log.recentLines(limit: 1).first)
            #expect(line.hasPrefix("{") && line.contains(#""message":"The configuration was read again.""#), "\(line)")
            let again = try await live.agent.reloadConfiguration()
            #expect(again == ReloadResponse(taken: [], needsRestart: []))
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
        try write("name = 'desk'", to: file)
        try await LiveAgent.with(file: file) { live async throws in
            let before = live.agent.configuration
            // A flag counts more than the file: `listen` did not change.
            try write(
                """
                name = "kitchen"
                listen = "127.0.0.1:1"
                state = false
                metrics = 1
                dashboard = "0.0.0.0:2"
                keep-history = "forever"
                socket = "/nowhere"
                """, to: file)
            for _ in 1...2 {
                let answer = try await live.agent.reloadConfiguration()
                #expect(answer.taken.isEmpty)
                #expect(
                    answer.needsRestart.map(\.setting)
                        == ["socket", "name", "keep-history", "state", "metrics", "dashboard"])
                let name = answer.needsRestart.first { $0.setting == "name" }
                #expect(name == SettingChange(setting: "name", before: "desk", after: "kitchen"))
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
                ("log-level = 'debug'\nlog-levle = 'x'", "unknown key \"log-levle\""),
                ("log-level = 'debug'\nupload-limit = 'fast'", "upload-limit is \"fast\"; allowed: "),
            ] {
                try write(text, to: file)
                let error = await #expect(throws: ControlError.self) {
                    try await live.agent.reloadConfiguration()
                }
                #expect(error?.code == .invalidArgument && error?.message.contains(reason) == true, "\(text)")
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

    @Test func `the command says what counts, what needs a restart, or that nothing changed`() async throws {
        let temporary = try TemporaryDirectory()
        let file = temporary.path + "/lanyardd.toml"
        try write("upload-limit = '1M'", to: file)
        try await LiveServer.with(file: file) { server async throws in
            let none = try await CommandRun.lanyard(["reload"], socket: server.socketPath)
            #expect(none.exitCode == 0 && none.output == "Nothing changed.\n", "\(none.output)\(none.errors)")
            try write("upload-limit = '2M'\ndownload-limit = '3M'\nname = \"a\\\\b\"", to: file)
            let some = try await CommandRun.lanyard(["reload"], socket: server.socketPath)
            #expect(
                some.output == """
                    upload-limit is 2M now; it was 1M.
                    download-limit is 3M now; it was not set.
                    name needs a restart: it is to become a\\b; it is desk.
                    Restart the agent for that.

                    """, "\(some.output)\(some.errors)")
            try write("", to: file)
            let json = try await CommandRun.lanyard(["reload", "--json"], socket: server.socketPath)
            let answer = try #require(try json.json() as? [String: Any], "\(json.output)")
            #expect(answer.keys.sorted() == ["needsRestart", "taken"])
            let first = try #require((answer["taken"] as? [[String: Any]])?.first)
            #expect(first["setting"] as? String == "upload-limit" && first["before"] as? String == "2M")
            #expect(first["after"] is NSNull)
            try write("upload-limit", to: file)
            let bad = try await CommandRun.lanyard(["reload"], socket: server.socketPath)
            #expect(bad.exitCode != 0 && bad.errors.contains("lanyardd.toml line 1: "), "\(bad.errors)")
        }
    }
}
