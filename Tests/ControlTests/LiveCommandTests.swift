import ControlAPI
import Foundation
import LanyardClient
import Testing

/// Commands that stay and show what changes.
@Suite(.timeLimit(.minutes(2))) struct LiveCommandTests {
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
            let lines = try await lines(3, server, "status --watch --interval 100ms --json")
            let events = try lines.map { line in
                try JSONDecoding.value(StatusResponse.self, from: Array(line.utf8), unknownKeys: .ignore).spaces[0]
                    .events
            }
            #expect(events.count == 3 && events == events.sorted() && Set(events).count == 3, "\(events)")
        }
    }

    @Test(arguments: [["--interval", "1s"], ["--watch", "--interval", "1ms"], ["--watch", "--interval", "2d"]])
    func `intervals that cannot be meant are refused`(options: [String]) async throws {
        #expect(try await CommandRun.lanyard(["status"] + options).exitCode == 2)
    }
}
