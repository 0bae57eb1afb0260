import Foundation
import Testing
import lanyard

/// `lanyard doctor --profile`, with a program in the place of perf that says what it was asked.
@Suite(.timeLimit(.minutes(2))) struct ProfileTests {
    /// Makes a `perf` in `directory`, and returns the environment in which it is found.
    private func environment(_ script: String, in directory: String) throws -> [String: String] {
        let made = FileManager.default.createFile(
            atPath: "\(directory)/perf", contents: Data("#!/bin/sh\n\(script)".utf8),
            attributes: [.posixPermissions: 0o755])
        try #require(made)
        return ["PATH": "\(directory):/usr/bin:/bin", "TMPDIR": directory]
    }

    @Test func `the functions are listed by their part, and nothing is left behind`() async throws {
        let temporary = try TemporaryDirectory()
        let environment = try environment(
            """
            echo "$@" >>\(temporary.path)/asked
            [ "$1" = report ] || exit 0
            printf ' 61.50%% \\tlanyardd  \\t[.] commit(\\033)\\t-\\n 2.10%%\\tlibc.so.6\\t[.] memcpy  \\t- -\\n'
            """, in: temporary.path)
        try await LiveServer.with { server async throws in
            let arguments = ["doctor", "--profile", "2s", "--data-dir", server.live.directory]
            let run = try await CommandRun.lanyard(arguments, socket: server.socketPath, environment: environment)
            #expect(run.exitCode == 0, "\(run.errors)")
            let process = ProcessInfo.processInfo.processIdentifier
            #expect(run.lines.first == "processor time of the agent (process \(process)) in 2 s, by function")
            #expect(run.lines.dropFirst().first?.hasPrefix("  61.5 %  lanyardd   [.] commit(") == true, "\(run.output)")
            #expect(!run.output.contains("\u{1B}"))
            let asked = try String(contentsOfFile: "\(temporary.path)/asked", encoding: .utf8)
            #expect(asked.contains(" -p \(process) ") && asked.contains("-- sleep 2"), "\(asked)")

            let json = try await CommandRun.lanyard(
                arguments + ["--json"], socket: server.socketPath, environment: environment)
            let answer = try #require(try json.json() as? [String: Any], "\(json.errors)")
            #expect(answer["process"] as? Int == Int(process) && (answer["functions"] as? [Any])?.count == 2)
            let left = try FileManager.default.contentsOfDirectory(atPath: temporary.path).sorted()
            #expect(left == ["asked", "perf"])
        }
    }

    @Test func `no perf, a perf that is not permitted and no agent each say what to do`() async throws {
        let temporary = try TemporaryDirectory()
        try await LiveServer.with { server async throws in
            let arguments = ["doctor", "--profile", "1s", "--data-dir", server.live.directory]
            let missing = try await CommandRun.lanyard(
                arguments, socket: server.socketPath, environment: ["PATH": temporary.path])
            #expect(missing.exitCode == 3 && missing.errors.contains("apt install linux-perf"), "\(missing.errors)")
            let environment = try environment(
                "echo Error: >&2; echo 'Access is limited.' >&2; exit 244", in: temporary.path)
            let refused = try await CommandRun.lanyard(
                arguments, socket: server.socketPath, environment: environment)
            #expect(refused.exitCode == 4, "\(refused.errors)")
            #expect(refused.errors.contains("perf could not look at the agent: Access is limited."))
            let left = try FileManager.default.contentsOfDirectory(atPath: temporary.path)
            #expect(left == ["perf"])
        }
        let alone = try await CommandRun.lanyard(["doctor", "--profile", "1s", "--data-dir", temporary.path])
        #expect(alone.exitCode == 5 && alone.errors.contains("No agent runs on"), "\(alone.errors)")
    }

    @Test func `other lines of a report are passed over`() {
        #expect(AgentProfile.functions(in: "").isEmpty)
        #expect(AgentProfile.functions(in: "# a remark\n\nx%\tb\tc\n5.0\tb\tc\n 5.0%\tb\n").isEmpty)
        #expect(AgentProfile.functions(in: " 0.50% \tb \t[k] c \n").map(\.symbol) == ["[k] c"])
    }

    @Test(arguments: [["--profile", "10ms"], ["--profile", "11m"], ["--profile", "1s", "--deep"]])
    func `what cannot be meant is refused`(options: [String]) async throws {
        let run = try await CommandRun.lanyard(["doctor"] + options)
        #expect(run.exitCode == 2, "\(run.errors)")
    }
}
