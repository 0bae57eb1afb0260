import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Logging
import SyncAgent
import Testing

/// The level of the log of a running agent. The agents of these tests are configured to log from `notice` on.
@Suite(.timeLimit(.minutes(2))) struct LogLevelTests {
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
            let set = try await live.agent.setLogLevel(LogLevelRequest(level: "debug", forMilliseconds: 1_000))
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
        log.temporaryLevel = .trace
        #expect(logger.logLevel == .trace && quiet.logLevel == .warning)
        log.temporaryLevel = nil
        #expect(logger.logLevel == .info && quiet.logLevel == .warning)
    }

    @Test(arguments: Road.allCases) func `the route sets a level, and refuses what is none`(road: Road) async throws {
        try await road.with { request async throws in
            let set = try await request("PUT", "/v1/log-level", body: #"{"level":"trace","forMilliseconds":1000}"#)
            #expect(set.status == 200)
            #expect(try set.value(LogLevelResponse.self).level == "trace")
            for body in [
                #"{"level":"critical"}"#, #"{"level":"Debug"}"#, #"{"level":"debug","forMilliseconds":999}"#,
                #"{"level":"debug","forMilliseconds":86400001}"#, #"{"level":"debug","forMilliseconds":-1}"#,
            ] {
                #expect(try await request("PUT", "/v1/log-level", body: body).code == "invalid_argument", "\(body)")
            }
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
        }
    }

    @Test(arguments: [
        ["--for", "1h"], ["--set-level", "debug", "--for", "2d"], ["--set-level", "debug", "--for", "10ms"],
        ["--set-level", "critical"], ["--set-level", "loud"], ["--set-level", "debug", "--level", "info"],
    ])
    func `what cannot be meant is refused`(options: [String]) async throws {
        let run = try await CommandRun.lanyard(["logs"] + options)
        #expect(run.exitCode == 2, "\(run.errors)")
    }
}
