import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Logging
import SyncAgent
import Testing

/// The level of the log of a running agent. The agents of these tests are configured to log from `notice` on.
@Suite(.timeLimit(.minutes(20))) struct LogLevelTests {
    private func lines(of live: LiveAgent) -> [String] { live.agent.log.recentLines(limit: 10_000) }

    /// The places of the lines that say that the level changed, and to which.
    private func changes(in lines: [String]) -> [(place: Int, level: String)] {
        lines.enumerated().compactMap { place, line in
            guard line.contains("The level of the log changed."), let range = line.range(of: "log.level=") else {
                return nil
            }
            return (place, String(line[range.upperBound...].prefix { $0 != " " }))
        }
    }

    @Test func `a level counts for its time, and the log shows where its lines begin and end`() async throws {
        try await LiveAgent.with { live async throws in
            let set = try await live.agent.setLogLevel(LogLevelRequest(level: "debug", forMilliseconds: 20_000))
            #expect(set.level == "debug" && set.configured == "notice" && set.until != nil)
            try await live.put("note/secret", #"{"a":"hidden"}"#)
            try await live.until { agent async throws in try await agent.status(space: nil).logLevel?.until == nil }
            try await live.put("note/secret", #"{"a":"later"}"#)

            let status = try await live.agent.status(space: nil)
            #expect(status.logLevel == LogLevelResponse(level: "notice", configured: "notice"))
            let lines = lines(of: live)
            let changes = changes(in: lines)
            #expect(changes.map(\.level) == ["debug", "notice"])
            let debug = lines.indices.filter { lines[$0].contains(" debug ") }
            #expect(debug.contains { lines[$0].contains("Changes are durable.") })
            let (first, last) = (try #require(changes.first?.place), try #require(changes.last?.place))
            #expect(debug.allSatisfy { first < $0 && $0 < last }, "\(lines)")
            #expect(!lines.contains { $0.contains("secret") || $0.contains("hidden") })
        }
    }

    @Test func `the configured level ends a setting, and a restart does`() async throws {
        let temporary = try TemporaryDirectory()
        let directory = temporary.path + "/data"
        try await LiveAgent.with(in: directory) { live async throws in
            _ = try await live.agent.setLogLevel(LogLevelRequest(level: "trace"))
            let ended = try await live.agent.setLogLevel(LogLevelRequest(level: "notice"))
            #expect(ended.until == nil && ended.level == "notice")
            #expect(changes(in: lines(of: live)).map(\.level) == ["trace", "notice"])
            let fewer = try await live.agent.setLogLevel(LogLevelRequest(level: "error"))
            #expect(fewer.level == "error")
            #expect(changes(in: lines(of: live)).map(\.level) == ["trace", "notice", "error"])
        }
        try await LiveAgent.with(in: directory) { live async throws in
            #expect(try await live.agent.status(space: nil).logLevel?.level == "notice")
        }
    }

    @Test func `a newer setting replaces an earlier one and its end`() async throws {
        try await LiveAgent.with { live async throws in
            _ = try await live.agent.setLogLevel(LogLevelRequest(level: "debug", forMilliseconds: 86_400_000))
            let set = try await live.agent.setLogLevel(LogLevelRequest(level: "info", forMilliseconds: 1_000))
            #expect(set.level == "info")
            try await live.until { agent async throws in try await agent.status(space: nil).logLevel?.until == nil }
            #expect(changes(in: lines(of: live)).map(\.level) == ["debug", "info", "notice"])
        }
    }

    @Test func `a logger with a level of its own keeps it`() throws {
        let temporary = try TemporaryDirectory()
        let log = AgentLog(directory: temporary.path, format: .text, echoes: false)
        let logger = log.logger(level: .info)
        var quiet = logger
        quiet.logLevel = .warning
        log.setTemporaryLevel(.trace)
        #expect(logger.logLevel == .trace && quiet.logLevel == .warning)
        log.setTemporaryLevel(nil)
        #expect(logger.logLevel == .info && quiet.logLevel == .warning)
    }

    @Test func `a component has the level set for it, else the one set for all, else the configured one`() throws {
        let temporary = try TemporaryDirectory()
        let log = AgentLog(directory: temporary.path, format: .text, echoes: false)
        let loggers = AgentLoggers(log, level: .info)
        let whole = log.logger(level: .info)
        let all = [
            loggers.discovery, loggers.transport, loggers.pairing, loggers.sync, loggers.store, loggers.attachments,
            loggers.control,
        ]
        #expect(all.count == SyncAgent.LogComponent.allCases.count)
        for (component, logger) in zip(SyncAgent.LogComponent.allCases, all) {
            log.setTemporaryLevel(.trace, of: component)
            #expect(logger.logLevel == .trace)
            #expect(all.filter { $0.logLevel == .info }.count == all.count - 1 && whole.logLevel == .info)
            log.setTemporaryLevel(nil, of: component)
        }
        log.setTemporaryLevel(.error, of: .sync)
        log.setTemporaryLevel(.debug)
        #expect(loggers.sync.logLevel == .error && loggers.store.logLevel == .debug && whole.logLevel == .debug)
        log.setTemporaryLevel(nil, of: .sync)
        #expect(loggers.sync.logLevel == .debug)
        log.setTemporaryLevel(nil)
        #expect(all.allSatisfy { $0.logLevel == .info } && whole.logLevel == .info)
    }

    @Test func `agent and command know the same components`() {
        #expect(
            SyncAgent.LogComponent.allCases.map(\.rawValue) == ControlAPI.LogComponent.allCases.map(\.rawValue))
    }

    @Test func `a line names its component first, in both formats`() throws {
        for format in AgentConfiguration.LogFormat.allCases {
            let temporary = try TemporaryDirectory()
            let log = AgentLog(directory: temporary.path, format: format, echoes: false)
            AgentLoggers(log, level: .info).sync.info("A peer connected.", metadata: ["a": "x component=store"])
            log.logger(level: .info).info("The agent runs.")
            let lines = log.recentLines(limit: 2)
            try #require(lines.count == 2)
            switch format {
            case .text:
                #expect(lines[0].hasSuffix(" info A peer connected. component=sync a=x component=store"))
            case .json:
                let json = #""message":"A peer connected.","component":"sync","a":"x component=store"}"#
                #expect(lines[0].hasSuffix(json), "\(lines[0])")
            }
            #expect(!lines[1].contains("component"))
        }
    }

    @Test func `a level for one component leaves the others alone, and ends by itself`() async throws {
        try await LiveAgent.with { live async throws in
            let set = try await live.agent.setLogLevel(
                LogLevelRequest(level: "debug", forMilliseconds: 20_000, component: "store"))
            #expect(set.level == "notice" && set.until == nil)
            #expect(set.components?.map(\.component) == ["store"] && set.components?.first?.level == "debug")
            try await live.put("note/1", #"{"a":1}"#)
            try await live.until { agent async throws in
                try await agent.status(space: nil).logLevel?.components?.isEmpty ?? false
            }
            try await live.put("note/1", #"{"a":2}"#)
            let lines = lines(of: live)
            #expect(changes(in: lines).map(\.level) == ["debug", "notice"])
            let debug = lines.filter { $0.contains(" debug ") }
            #expect(debug.contains { $0.contains("Changes are durable.") })
            #expect(debug.allSatisfy { $0.contains(" component=store") }, "\(debug)")
            let ends = lines.filter { $0.contains("The level of the log changed.") }
            #expect(ends.allSatisfy { $0.contains(" component=store ") }, "\(ends)")
        }
    }

    @Test func `a level for all ends those of components, and a component may log less than all`() async throws {
        try await LiveAgent.with { live async throws in
            _ = try await live.agent.setLogLevel(LogLevelRequest(level: "trace", component: "sync"))
            let all = try await live.agent.setLogLevel(LogLevelRequest(level: "debug"))
            #expect(all.level == "debug" && all.components == [])
            let less = try await live.agent.setLogLevel(LogLevelRequest(level: "notice", component: "transport"))
            #expect(less.level == "debug" && less.components?.map(\.level) == ["notice"])
            // That of all others may end sooner.
            let asAll = try await live.agent.setLogLevel(LogLevelRequest(level: "debug", component: "transport"))
            #expect(asAll.components?.map(\.level) == ["debug"])
            let none = try await live.agent.setLogLevel(LogLevelRequest(level: "notice"))
            #expect(none == LogLevelResponse(level: "notice", configured: "notice"))
        }
    }

    @Test(arguments: Road.allCases) func `the route sets a level, and refuses what is none`(road: Road) async throws {
        try await road.with { request async throws in
            let set = try await request("PUT", "/v1/log-level", body: #"{"level":"trace","forMilliseconds":1000}"#)
            #expect(set.status == 200)
            #expect(try set.value(LogLevelResponse.self).level == "trace")
            for body in [
                #"{"level":"critical"}"#, #"{"level":"Debug"}"#, #"{"level":"debug","forMilliseconds":999}"#,
                #"{"level":"debug","forMilliseconds":86400001}"#, #"{"level":"debug","forMilliseconds":-1}"#,
                #"{"level":"debug","component":"agent"}"#, #"{"level":"debug","component":""}"#,
            ] {
                #expect(try await request("PUT", "/v1/log-level", body: body).code == "invalid_argument", "\(body)")
            }
            let unknown = try await request("PUT", "/v1/log-level", body: #"{"level":"debug","component":"Sync"}"#)
            #expect(unknown.text.contains("discovery, transport, pairing, sync, store, attachments, control"))
            for body in ["{}", #"{"level":"debug","until":1}"#, #"{"level":7}"#] {
                #expect(try await request("PUT", "/v1/log-level", body: body).status == 400, "\(body)")
            }
        }
    }

    @Test func `the command says what counts until when, and so does status`() async throws {
        try await LiveServer.with { server async throws in
            let before = try await CommandRun.lanyard(["status"], socket: server.socketPath)
            #expect(!before.lines.contains { $0.hasPrefix("log ") }, "\(before.output)")
            let set = try await CommandRun.lanyard(
                ["logs", "--set-level", "debug", "--for", "1h"], socket: server.socketPath)
            #expect(set.exitCode == 0, "\(set.errors)")
            #expect(set.output.hasPrefix("The agent logs from debug on until 2"), "\(set.output)")
            #expect(set.output.contains("from notice on"))
            let status = try await CommandRun.lanyard(["status"], socket: server.socketPath)
            #expect(status.lines.contains { $0.hasPrefix("log ") && $0.contains("debug until 2") }, "\(status.output)")
            let json = try await CommandRun.lanyard(
                ["logs", "--set-level", "notice", "--json"], socket: server.socketPath)
            let answer = try #require(try json.json() as? [String: Any], "\(json.output)")
            #expect(answer["level"] as? String == "notice" && answer["until"] is NSNull)
            let one = try await CommandRun.lanyard(
                ["logs", "--set-level", "trace", "--component", "control", "--for", "1h"], socket: server.socketPath)
            #expect(one.output.hasPrefix("The agent logs control from trace on until 2"), "\(one.output)\(one.errors)")
            #expect(one.output.hasSuffix(", all else from notice on.\n"), "\(one.output)")
            let both = try await CommandRun.lanyard(["status"], socket: server.socketPath)
            #expect(both.lines.contains { $0.hasPrefix("log ") && $0.contains("control trace until 2") })
        }
    }

    @Test(arguments: [
        ["--for", "1h"], ["--set-level", "debug", "--for", "2d"], ["--set-level", "debug", "--for", "10ms"],
        ["--set-level", "critical"], ["--set-level", "loud"], ["--set-level", "debug", "--level", "info"],
        ["--component", "agent"],
    ])
    func `what cannot be meant is refused`(options: [String]) async throws {
        let run = try await CommandRun.lanyard(["logs"] + options)
        #expect(run.exitCode == 2, "\(run.errors)")
    }
}
