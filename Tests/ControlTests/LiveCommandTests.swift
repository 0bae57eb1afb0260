import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import Testing

/// Commands that stay and show what changes.
@Suite(.timeLimit(.minutes(20))) struct LiveCommandTests {
    /// Runs a command until it printed so many lines. Something changes all the time meanwhile.
    private func lines(_ count: Int, _ server: LiveServer, _ words: String) async throws -> [String] {
        let run = Task {
            try await CommandRun.program(
                "/bin/sh",
                [
                    "-c", "\"$0\" \(words) --socket \"$1\" | head -n \(count)", CommandRun.lanyardPath,
                    server.socketPath,
                ],
                environment: ["HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "TZ": "UTC0"])
        }
        let changing = Task {
            while !Task.isCancelled { _ = try await server.client.emit(try JSONText("1"), to: "s") }
        }
        defer { changing.cancel() }
        return try await run.value.lines
    }

    @Test func `status goes on with a line for each change`() async throws {
        try await LiveServer.with { server async throws in
            let lines = try await lines(9, server, "status --watch --interval 100ms --json")
            let events = try lines.map { line in
                try JSONDecoding.value(StatusResponse.self, from: Array(line.utf8), unknownKeys: .ignore).spaces[0]
                    .events
            }
            // Something else may change between two events, and has a line, too.
            #expect(events.count == 9 && events == events.sorted() && Set(events).count >= 3, "\(events)")
        }
    }

    @Test func `top prints a page of what is there, with names as text`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "at\u{202E}tic") { peer async throws in
                try await peer.put("note/n", #"{"title":"x"}"#)
                try await server.live.put("note/o", "{}")
                try await server.live.put("note/p", "{}")
                try await server.live.delete("note/o")
                try await server.live.converge(with: peer)
                let run = try await CommandRun.lanyard(["top", "--once"], socket: server.socketPath)
                #expect(run.exitCode == 0, "\(run.errors)")
                #expect(run.lines.first?.hasPrefix("desk  ") == true)
                #expect(run.lines.contains { $0.hasPrefix("at\u{FFFD}tic  connected") }, "\(run.output)")
                #expect(run.lines.contains("deleted  note/o") && run.lines.contains("note/p  desk"))
                #expect(run.lines.contains("note/n  at\u{FFFD}tic"))
                #expect(!run.output.contains("\u{1b}"), "nothing is drawn without a terminal")
                let json = try await CommandRun.lanyard(
                    ["top", "--once", "--json"], socket: server.socketPath)
                let answer = try #require(try json.json() as? [String: Any])
                #expect(answer["inStep"] as? Bool == true && (answer["recent"] as? [Any])?.count == 3)
                let row = try #require((answer["peers"] as? [[String: Any]])?.first)
                #expect(row["id"] as? String == peer.device && row["inPerSecond"] != nil)
            }
        }
    }

    @Test func `top goes on with a line for each look`() async throws {
        try await LiveServer.with { server async throws in
            let lines = try await lines(3, server, "top --interval 100ms --json")
            #expect(lines.count == 3 && lines.allSatisfy { $0.contains(#""changesPerSecond":"#) })
        }
    }

    @Test func `at a terminal top ends with q, and leaves the terminal as it was`() async throws {
        try await LiveServer.with { server async throws in
            // The output is a terminal here, too.
            let run = try await CommandRun.program(
                "/usr/bin/script",
                [
                    "-qec", "stty -g; \(CommandRun.lanyardPath) top --interval 100ms; echo ended $?; stty -g",
                    "/dev/null",
                ],
                input: "q",
                environment: [
                    "HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "TERM": "xterm",
                    "LANYARD_SOCKET": server.socketPath,
                ])
            let text = run.output
            #expect(text.contains("\u{1b}[?1049h") && text.contains("\u{1b}[?1049l"), "\(text)")
            #expect(text.contains("ended 0"))
            let settings = text.split(whereSeparator: \.isNewline).filter { $0.contains(":") && !$0.contains("\u{1b}") }
            // The terminal shows the key that was typed before `top` had it.
            let first = settings.first.map { $0.first == "q" ? $0.dropFirst() : $0 }
            #expect(first != nil && first == settings.last)
        }
    }

    @Test(arguments: [["--interval", "1s"], ["--watch", "--interval", "1ms"], ["--watch", "--interval", "2d"]])
    func `intervals that cannot be meant are refused`(options: [String]) async throws {
        #expect(try await CommandRun.lanyard(["status"] + options).exitCode == 2)
        #expect(try await CommandRun.lanyard(["top", "--interval", "1ms"]).exitCode == 2)
    }
}
