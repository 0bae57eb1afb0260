import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import Testing

/// `lanyard run`: a command for each event.
@Suite(.timeLimit(.minutes(20))) struct RunCommandTests {
    private struct Shell {
        let server: LiveServer
        let directory: String

        var letters: String { directory + "/letters" }
        var log: String { directory + "/log" }

        /// Runs a script for each event. It finds `$LOG`.
        func run(_ options: [String], script: String? = nil) async throws -> CommandRun {
            let command = script.map { ["--", "/bin/sh", "-c", $0] } ?? []
            return try await CommandRun.lanyard(
                ["run", "s", "--dead-letters", letters] + options + command, socket: server.socketPath,
                environment: ["LOG": log, "PATH": "/usr/bin:/bin"])
        }

        func emit(_ payloads: String...) async throws {
            for payload in payloads { _ = try await server.client.emit(try JSONText(payload), to: "s") }
        }

        var logged: [String] {
            ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        }
    }

    private func withShell(_ body: (Shell) async throws -> Void) async throws {
        try await LiveServer.with { server async throws in
            let files = try TemporaryDirectory()
            try await body(Shell(server: server, directory: files.path))
        }
    }

    /// Returns true once a process is dead, though the one that should ask after it may not have yet.
    private func isDead(_ child: pid_t) -> Bool {
        (try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8))?.contains("State:\tZ") ?? true
    }

    private func behind(_ shell: Shell) async throws -> Int? {
        try await shell.server.client.consumers().first { $0.name == "run" }?.behind
    }

    @Test func `each event is given to the command once and in order, with its JSON and its variables`() async throws {
        try await withShell { lanyard in
            _ = try await lanyard.server.client.emit(try JSONText("1"), type: "switched", to: "s")
            try await lanyard.emit("2", #"{"a":"\u001b[31m"}"#)
            let script = #"read -r line; echo "$LANYARD_STREAM $LANYARD_TYPE $LANYARD_ATTEMPT $line" >> "$LOG""#
            let run = try await lanyard.run(["--drain"], script: script)
            #expect(run.exitCode == 0, "\(run.errors)")
            try #require(lanyard.logged.count == 3)
            #expect(lanyard.logged[0].hasPrefix(#"s switched 1 {"dot":""#))
            #expect(lanyard.logged[0].contains(#""payload":1,"#) && lanyard.logged[1].contains(#""payload":2,"#))
            #expect(lanyard.logged[1].hasPrefix(#"s  1 {"dot":""#))
            #expect(try await behind(lanyard) == 0)
            let again = try await lanyard.run(["--drain"], script: script)
            #expect(again.exitCode == 0 && lanyard.logged.count == 3)
        }
    }

    @Test func `a command that does not read a long event holds nothing up`() async throws {
        try await withShell { lanyard in
            try await lanyard.emit("\"" + String(repeating: "x", count: 900_000) + "\"")
            #expect(try await lanyard.run(["--drain"], script: "exit 0").exitCode == 0)
            #expect(try await behind(lanyard) == 0)
        }
    }

    @Test func `an event whose command fails is tried again before any later one`() async throws {
        try await withShell { lanyard in
            try await lanyard.emit("1", "2")
            // Fails once, with the first event.
            let script = #"""
                echo "$LANYARD_EVENT $LANYARD_ATTEMPT" >> "$LOG"
                [ -e "$LOG.failed" ] || { : > "$LOG.failed"; exit 1; }
                """#
            let run = try await lanyard.run(["--drain"], script: script)
            #expect(run.exitCode == 0, "\(run.errors)")
            let tries = lanyard.logged.map { $0.split(separator: " ").map(String.init) }
            try #require(tries.count == 3)
            #expect(tries[0][0] == tries[1][0] && tries[0][0] != tries[2][0])
            #expect(tries.map { $0[1] } == ["1", "2", "1"])
            #expect(run.errors.contains("failed (exit 1), try 1 of 5; again in 1 s."))
            #expect(try await lanyard.run(["--letters", "--json"]).output == "[]\n")
        }
    }

    @Test func `what always fails becomes a letter that is listed and tried again, and what comes later goes on`()
        async throws
    {
        try await withShell { lanyard in
            try await lanyard.emit("1", "2")
            let script = #"read -r line; echo "$line" >> "$LOG"; case "$line" in *'"payload":1,'*) exit 7;; esac"#
            let run = try await lanyard.run(["--drain", "--attempts", "1"], script: script)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("is a dead letter"))
            #expect(try await behind(lanyard) == 0)
            let listed = try await lanyard.run(["--letters", "--json"])
            let letters = try #require(try listed.json() as? [[String: Any]])
            try #require(letters.count == 1)
            #expect(letters[0]["failure"] as? String == "exit 7" && letters[0]["attempts"] as? Int == 1)
            #expect((letters[0]["event"] as? [String: Any])?["payload"] as? Int == 1)
            #expect(try await lanyard.run(["--letters"]).output.contains("exit 7"))

            let failed = try await lanyard.run(["--retry"], script: "exit 8")
            #expect(failed.exitCode == 1 && failed.errors.contains("1 of 1 left"))
            let later = try await lanyard.run(["--letters", "--json"])
            #expect(later.output.contains(#""failure":"exit 8""#) && later.output.contains(#""attempts":2"#))
            let taken = try await lanyard.run(["--retry"], script: #"cat >> "$LOG.retried""#)
            #expect(taken.exitCode == 0, "\(taken.errors)")
            #expect(try String(contentsOfFile: lanyard.log + ".retried", encoding: .utf8).contains(#""payload":1,"#))
            #expect(try await lanyard.run(["--letters", "--json"]).output == "[]\n")
        }
    }

    @Test func `a command that hangs is killed with all that it started`() async throws {
        try await withShell { lanyard in
            try await lanyard.emit("1")
            // The child would hold the output open, and this test with it.
            let run = try await lanyard.run(
                ["--drain", "--attempts", "1", "--timeout", "10s"], script: #"sleep 1000 & echo $! > "$LOG"; wait"#)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("no end after 10 s"))
            let child = try #require(lanyard.logged.first.flatMap { pid_t($0) })
            // It was killed by now, and dies when it has a processor.
            let limit = ContinuousClock.now + .seconds(60)
            try await lanyard.server.live.until { _ in isDead(child) || ContinuousClock.now > limit }
            #expect(isDead(child))
        }
    }

    @Test func `a command that does not exist is no fault of the events`() async throws {
        try await withShell { lanyard in
            try await lanyard.emit("1")
            let run = try await lanyard.run(["--drain", "--", "no-such-command"])
            #expect(run.exitCode == 3 && run.errors.contains("cannot be started"), "\(run.errors)")
            #expect(try await behind(lanyard) == 1)
            #expect(try await lanyard.run(["--letters", "--json"]).output == "[]\n")
        }
    }

    @Test func `a letter that a crash left before the acknowledgement is replaced, not doubled`() async throws {
        try await withShell { lanyard in
            try await lanyard.emit("1")
            for _ in 0..<2 {
                #expect(try await lanyard.run(["--drain", "--attempts", "1"], script: "exit 1").exitCode == 0)
                // As if it had died before it acknowledged.
                _ = try await lanyard.server.client.setConsumer("run", stream: "s", position: .arrival(0))
            }
            let letters = try #require(try await lanyard.run(["--letters", "--json"]).json() as? [Any])
            #expect(letters.count == 1)
        }
    }

    @Test func `a second run of one consumer is refused while the first works`() async throws {
        try await withShell { lanyard in
            try await lanyard.emit("1")
            // The command of the first run starts the second.
            let script = #"""
                "$LANYARD" run s --dead-letters "$LETTERS" --drain -- true 2>> "$LOG"; echo "exit $?" >> "$LOG"
                """#
            let run = try await CommandRun.lanyard(
                ["run", "s", "--dead-letters", lanyard.letters, "--drain", "--", "/bin/sh", "-c", script],
                socket: lanyard.server.socketPath,
                environment: [
                    "LOG": lanyard.log, "PATH": "/usr/bin:/bin", "LANYARD": CommandRun.lanyardPath,
                    "LETTERS": lanyard.letters,
                ])
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(lanyard.logged.last == "exit 4", "\(lanyard.logged)")
        }
    }

    @Test(arguments: [
        ["run", "s"], ["run", "s", "--letters", "--", "true"], ["run", "s", "--retry"],
        ["run", "s", "--attempts", "0", "--", "true"], ["run", "s", "--timeout", "0s", "--", "true"],
        ["run", "s", "--drain", "--retry", "--", "true"], ["run", "a/b", "--", "true"],
    ])
    func `what cannot be meant is refused`(arguments: [String]) async throws {
        #expect(try await CommandRun.lanyard(arguments).exitCode == 2)
    }
}
